// The subscribers of the bench: bare sockets that count events, so that the servers' work is what is measured.
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { openRawSocket, subscribeMessage } from '../../test/support/clients/raw-socket.ts';
import { answerParent } from '../harness/processes.ts';

/** What a subscriber asks for. */
export type Operation = { readonly query: string; readonly variables?: object };

export type Question =
  /** They are spread evenly over the gateways, and the operations over them. Events are published at the first gateway. */
  | { ask: 'subscribe'; urls: readonly string[]; operations: readonly Operation[]; count: number }
  /** The answer is null when some do not get it: on a busy machine they subscribe later. */
  | { ask: 'publish'; url: string; path: string; body: string }
  /** The answer is the text that a subscriber has got last. */
  | { ask: 'last'; url: string };

/** How long all have waited, and how much of that these subscribers were reading; in milliseconds. */
export type Published = { readonly ms: number; readonly readingMs: number };

/** What the subscribers of one server, or of several that are one, have had of the event under way. */
type Crowd = { size: number; waitingFor: number; all: () => void; last: string };

const AT_ONCE = 50;
/** Longer than a server waits for connection_init, so that no timer of that is left. */
const SETTLE_MS = 4000;
const BETWEEN_MS = 100;
const GIVE_UP_MS = 30_000;

/** By the server where events are published. */
const crowds = new Map<string, Crowd>();

const subscribe = async (url: string, { query, variables }: Operation, crowd: Crowd): Promise<void> => {
  const client = await openRawSocket(url, (payload) => {
    if (payload.includes('"errors"')) throw new Error(`Expected an event, got ${payload}`);
    crowd.waitingFor -= 1;
    if (crowd.waitingFor > 0) return;
    crowd.last = String(payload);
    crowd.all();
  });
  client.write(subscribeMessage(query, variables));
  crowd.size += 1;
};

const gather = async (
  urls: readonly string[],
  operations: readonly Operation[],
  count: number,
): Promise<void> => {
  const crowd: Crowd = { size: 0, waitingFor: 0, all: () => {}, last: '' };
  crowds.set(urls[0] ?? '', crowd);
  const next = cycle(operations);
  while (crowd.size < count)
    for (const url of urls)
      await Promise.all(Array.from({ length: AT_ONCE }, () => subscribe(url, next(), crowd)));
  await pause(SETTLE_MS);
};

/** Returns the items in turns. */
const cycle = <Item>(items: readonly Item[]): (() => Item) => {
  let taken = 0;
  return () => {
    const item = items[taken % items.length];
    if (item === undefined) throw new Error('Expected an operation to subscribe to, got none.');
    taken += 1;
    return item;
  };
};

const publish = async (url: string, path: string, body: string): Promise<Published | null> => {
  const crowd = crowds.get(url);
  if (crowd === undefined) throw new Error(`Expected subscribers at ${url}, got none.`);
  const all = Promise.withResolvers<void>();
  Object.assign(crowd, { waitingFor: crowd.size, all: all.resolve });
  const began = performance.now();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  request(url + path, { method: 'POST', headers }, (response) => response.resume()).end(body);
  let isUnderWay = true;
  let readingMs = 0;
  let turn = { began, waitingFor: crowd.size };
  // A process that never sleeps need not be woken, which a server would pay for at each of its writes.
  const stayAwake = () => {
    const now = performance.now();
    if (crowd.waitingFor < turn.waitingFor) readingMs += now - turn.began;
    turn = { began: now, waitingFor: crowd.waitingFor };
    if (isUnderWay) setImmediate(stayAwake);
  };
  stayAwake();
  const haveAll = await Promise.race([all.promise.then(() => true), pause(GIVE_UP_MS, false)]);
  isUnderWay = false;
  const ms = performance.now() - began;
  await pause(BETWEEN_MS);
  return haveAll ? { ms, readingMs } : null;
};

answerParent((question: Question) => {
  if (question.ask === 'subscribe') return gather(question.urls, question.operations, question.count);
  if (question.ask === 'publish') return publish(question.url, question.path, question.body);
  return crowds.get(question.url)?.last ?? '';
});
