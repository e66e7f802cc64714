// The subscribers of the bench: bare sockets that count events, so that the servers' work is what is measured.
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { openRawSocket, subscribeMessage } from '../../test/support/clients/raw-socket.ts';
import { answerParent } from '../harness/processes.ts';

export type Question =
  /** They are spread evenly over the gateways. Events are published at the first one. */
  | { ask: 'subscribe'; urls: readonly string[]; document: string; count: number }
  | { ask: 'publish'; url: string; path: string; body: string };

/** What the subscribers of one server, or of several that are one, have had of the event under way. */
type Crowd = { size: number; waitingFor: number; all: () => void };

const AT_ONCE = 50;
/** Longer than a server waits for connection_init, so that no timer of that is left. */
const SETTLE_MS = 4000;
const BETWEEN_MS = 100;
const GIVE_UP_MS = 10_000;

/** By the server where events are published. */
const crowds = new Map<string, Crowd>();

const subscribe = async (url: string, document: string, crowd: Crowd): Promise<void> => {
  const client = await openRawSocket(url, () => {
    crowd.waitingFor -= 1;
    if (crowd.waitingFor === 0) crowd.all();
  });
  client.write(subscribeMessage(document));
  crowd.size += 1;
};

const gather = async (urls: readonly string[], document: string, count: number): Promise<void> => {
  const crowd: Crowd = { size: 0, waitingFor: 0, all: () => {} };
  crowds.set(urls[0] ?? '', crowd);
  while (crowd.size < count)
    for (const url of urls)
      await Promise.all(Array.from({ length: AT_ONCE }, () => subscribe(url, document, crowd)));
  await pause(SETTLE_MS);
};

/** Milliseconds until all have had the event; null when some do not get it: on a busy machine they subscribe later. */
const publish = async (url: string, path: string, body: string): Promise<number | null> => {
  const crowd = crowds.get(url);
  if (crowd === undefined) throw new Error(`Expected subscribers at ${url}, got none.`);
  const all = Promise.withResolvers<void>();
  Object.assign(crowd, { waitingFor: crowd.size, all: all.resolve });
  const began = performance.now();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  request(url + path, { method: 'POST', headers }, (response) => response.resume()).end(body);
  let isUnderWay = true;
  // A process that never sleeps need not be woken, which a server would pay for at each of its writes.
  const stayAwake = () => isUnderWay && setImmediate(stayAwake);
  stayAwake();
  const haveAll = await Promise.race([all.promise.then(() => true), pause(GIVE_UP_MS, false)]);
  isUnderWay = false;
  const took = performance.now() - began;
  await pause(BETWEEN_MS);
  return haveAll ? took : null;
};

answerParent((question: Question) =>
  question.ask === 'subscribe'
    ? gather(question.urls, question.document, question.count)
    : publish(question.url, question.path, question.body),
);
