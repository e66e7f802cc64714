import { setTimeout as pause } from 'node:timers/promises';
import { activity, deliveriesOf } from '../../test/support/clients/deliver.ts';
import { byEventStream, byWebSocket, startLoadClient } from '../../test/support/clients/load-client.ts';
import { readLog } from '../../test/support/gateway/on-redis.ts';
import { bearer, tokenOf } from '../../test/support/gateway/tokens.ts';
import { sum } from '../harness/figures.ts';
import { ask } from './ask.ts';
import { sharedClockMs } from './loop.ts';
import { repeat } from './repeat.ts';
import type { Waits } from './waits.ts';

/** For readers to have what was stored last. */
const CATCH_UP_MS = 120_000;
const BETWEEN_MS = 100;
const AGAIN_MS = 250;
const MOST_BETWEEN_CUTS = 100;
const CUTS = 1000;

/** What a dashboard received, and when by `sharedClockMs`. */
type Received = { readonly cursors: readonly string[]; readonly times: readonly number[] };

/** What became of a tenant's deliveries. */
export type Checked = {
  readonly acknowledged: number;
  /** Acknowledged deliveries that are not in the log, and those that are there twice. */
  readonly lost: number;
  readonly twice: number;
  /** What readers got that the log has differently. */
  readonly wrong: readonly string[];
};

type Tenant = {
  readonly name: string;
  readonly token: string;
  /** The cursor at which all of its deliveries begin. */
  readonly start: string;
  /** When each was, by its number. */
  readonly acknowledged: ReadonlyMap<number, number>;
  readonly readers: readonly Received[];
};

/** Compares acknowledged deliveries and received events with the log. Adds how long each event took to its readers. */
export const checkTenant = async (
  url: string,
  { name, token, start, acknowledged, readers }: Tenant,
  waits: Waits,
  catchUpMs = CATCH_UP_MS,
): Promise<Checked> => {
  const stored = await readLog(url, start, bearer(token));
  const haveAll = () => readers.every(({ cursors }) => cursors.length >= stored.length);
  for (const last = Date.now() + catchUpMs; !haveAll() && Date.now() < last; ) await pause(50);
  const numbers = new Set(stored.map(({ number }) => number));
  const wrong = readers.flatMap(({ cursors }, index) => {
    const at = stored.findIndex(({ cursor }, place) => cursors[place] !== cursor);
    if (at < 0 && cursors.length === stored.length) return [];
    return [
      `reader ${index} of ${name} received ${cursors.length} of ${stored.length} events, and differs from the log at ${at < 0 ? stored.length : at}`,
    ];
  });
  for (const { times } of readers)
    for (const [place, { number }] of stored.entries()) {
      const [acknowledgedAt, receivedAt] = [acknowledged.get(number), times[place]];
      // An event may be with its reader before the acknowledgement is with its sender.
      if (acknowledgedAt !== undefined && receivedAt !== undefined)
        waits.add('events', Math.max(0, receivedAt - acknowledgedAt), receivedAt);
    }
  return {
    acknowledged: acknowledged.size,
    lost: [...acknowledged.keys()].filter((number) => !numbers.has(number)).length,
    twice: stored.length - numbers.size,
    wrong,
  };
};

/** A dashboard that loses its connection again and again, and resumes. */
const startReader = (url: string, token: string, after: string, transport: typeof byWebSocket) => {
  const cursors: string[] = [];
  const times: number[] = [];
  const cuts: number[] = [];
  for (let at = 0; cuts.length < CUTS; cuts.push(at)) at += 1 + Math.floor(Math.random() * MOST_BETWEEN_CUTS);
  const client = startLoadClient({
    url: () => url,
    transport,
    after,
    cuts,
    credentials: bearer(token),
    onCursor(index, cursor) {
      cursors[index] = cursor;
      times[index] = sharedClockMs();
    },
  });
  return { cursors, times, client };
};

type Options = {
  readonly waits: Waits;
  readonly signal: AbortSignal;
  /** How many deliveries are posted first, one right after the other. Default: 0. */
  readonly rush?: number;
};

/**
 * A tenant with four dashboards, two of each transport, and deliveries 1, 2, 3, …, each posted until it is acknowledged, as
 * the service does, until the signal aborts.
 */
export const startTenant = async (url: string, name: string, { waits, signal, rush = 0 }: Options) => {
  const token = await tokenOf({ sub: name, tenant: name });
  const { deliveryUrl, head } = await deliveriesOf(url, bearer(token));
  const readers = [byWebSocket, byWebSocket, byEventStream, byEventStream].map((transport) =>
    startReader(url, token, head, transport),
  );
  const acknowledged = new Map<number, number>();
  const post = async (number: number): Promise<boolean> => {
    const posted = waits.measure('posts', ask(deliveryUrl, { body: activity(number) }));
    const outcome = await posted.then(({ outcome }) => outcome, String);
    if (outcome === '200') acknowledged.set(number, sharedClockMs());
    else waits.refuse('posts', outcome);
    return outcome === '200';
  };
  const poster = repeat(
    async (number) => {
      while (!(await post(number)) && !signal.aborted) await pause(AGAIN_MS);
      if (number > rush) await pause(BETWEEN_MS);
      return 'stored';
    },
    { pauseMs: 0, signal },
  );
  return {
    acknowledged,
    ended: poster.ended,
    /** How many connections its dashboards have had. */
    connections: () => sum(readers.map(({ client }) => client.connections)),
    check: () => checkTenant(url, { name, token, start: head, acknowledged, readers }, waits),
    [Symbol.dispose]: () => {
      for (const { client } of readers) client.stop();
    },
  };
};
