import { expect, test, vi } from 'vitest';
import { CursorExpiredError, LogClosedError, LogUnavailableError } from '../src/deliveries/errors.ts';
import { FeedCache } from '../src/deliveries/feed-cache.ts';
import { iterate } from '../src/deliveries/iterate.ts';
import type { DeliveryLog } from '../src/deliveries/log.ts';
import { createDeliverySource } from '../src/deliveries/source.ts';
import { WakeUps } from '../src/deliveries/wake-ups.ts';
import {
  appendNumbers,
  delivery,
  follow,
  numberOf,
  openLog,
  range,
  TENANT,
  take,
} from './deliveries/make.ts';

/** What readers come to when nobody tells them that there is more. */

/** A log that loses every wake-up. */
const openForgetfulLog = async (): Promise<DeliveryLog> => {
  const log = await openLog();
  log.onAppend = () => () => {};
  return log;
};

const POLL_MS = 5;
const NEVER_MS = 1_000_000;

/** How often the log is asked: where it ends, and what it holds. */
const countReads = (log: DeliveryLog) => {
  const read = log.read.bind(log);
  const counts = { polls: 0, reads: 0 };
  log.read = (tenant, of) => {
    counts[of.limit === 0 ? 'polls' : 'reads'] += 1;
    return read(tenant, of);
  };
  return counts;
};

const eventually = (holds: () => void) => vi.waitFor(holds, 30_000);

/** So many polls that some of them began after the call, and were answered. */
const polled = async (counts: { readonly polls: number }): Promise<void> => {
  const { polls } = counts;
  await eventually(() => expect(counts.polls).toBeGreaterThan(polls + 5));
};

test('a lost wake-up costs a poll, not a delivery', async () => {
  const log = await openForgetfulLog();
  const reader = follow(log, { pollMs: POLL_MS });
  const numbers = take(reader, 2);
  await appendNumbers(log, [1]);
  await appendNumbers(log, [2]);
  expect(await numbers).toEqual([1, 2]);
});

test('a hundred filters make one poll, and read only when the log has grown', async () => {
  const log = await openForgetfulLog();
  await appendNumbers(log, range(1, 3));
  const counts = countReads(log);
  const wakeUps = new WakeUps(log, POLL_MS);
  const after = await log.head(TENANT);
  const readers = range(1, 100).map((chainId) =>
    follow(log, { after, wakeUps, filter: { chainIds: [chainId] } }),
  );
  const heard: number[] = [];
  for (const reader of readers) void reader.next().then(({ value }) => value && heard.push(numberOf(value)));
  await eventually(() => expect(counts.reads).toBe(100));
  await polled(counts);
  expect(counts.reads).toBe(100);

  await log.append([delivery(4, { chainId: 7 })]);
  await eventually(() => expect(heard).toEqual([4]));
  await polled(counts);
  // The one that has it has not asked for more.
  expect(counts.reads).toBe(200);
  for (const reader of readers) await reader.return?.();
});

test('what was appended after a read, and before its reader waits again, is found though no head moves any more', async () => {
  const log = await openForgetfulLog();
  const counts = countReads(log);
  const reader = follow(log, { after: await log.head(TENANT), pollMs: POLL_MS });
  await appendNumbers(log, [1]);
  expect(await take(reader, 1)).toEqual([1]);
  await appendNumbers(log, [2]);
  // By now every poll has seen the second, and nobody has waited for it.
  await polled(counts);
  expect(await take(reader, 1)).toEqual([2]);
});

test('who sees that the log has grown wakes those who wait where it ended before', async () => {
  const log = await openForgetfulLog();
  const [first] = await appendNumbers(log, [1]);
  const counts = countReads(log);
  const source = createDeliverySource({
    log,
    wakeUps: new WakeUps(log, NEVER_MS),
    tenant: TENANT,
    cache: new FeedCache(1_000_000),
    after: null,
    filter: {},
  });
  const feed = source.feed({ render: (item) => item, weigh: () => 0 });
  const readFrom = (after: string | undefined) => iterate((wake) => feed.read(after ?? null, wake));
  const behind = readFrom(first).next();
  await eventually(() => expect(counts.reads).toBe(1));
  const [second] = await appendNumbers(log, [2]);
  void readFrom(second).next();
  expect((await behind).value?.sequence).toBe(2);
  expect(counts.polls).toBe(0);
});

test('a read that failed in passing is made again, and so is a poll', async () => {
  const log = await openForgetfulLog();
  const start = await log.head(TENANT);
  await appendNumbers(log, [1]);
  const read = log.read.bind(log);
  let failures = 0;
  let isBroken = true;
  log.read = (tenant, of) => {
    if (!isBroken) return read(tenant, of);
    failures += 1;
    return Promise.reject(new LogUnavailableError('broken'));
  };
  const numbers = take(follow(log, { after: start, pollMs: POLL_MS }), 1);
  await eventually(() => expect(failures).toBeGreaterThan(4));
  isBroken = false;
  expect(await numbers).toEqual([1]);
});

test('a log that was closed, or that another took the place of, ends who waits', async () => {
  const log = await openForgetfulLog();
  const other = await openLog();
  const counts = countReads(log);
  const moved = follow(log, { pollMs: POLL_MS }).next();
  await polled(counts);
  const { read } = log;
  log.read = other.read.bind(other);
  await expect(moved).rejects.toThrow(CursorExpiredError);
  log.read = read;
  const waiting = follow(log, { pollMs: POLL_MS }).next();
  const refused = expect(waiting).rejects.toThrow(LogClosedError);
  await polled(counts);
  await log.close();
  await refused;
});

test('a tenant that nobody reads any more is not looked at', async () => {
  const log = await openForgetfulLog();
  const read = log.read.bind(log);
  const polls = new Map<string, number>();
  log.read = (tenant, of) => {
    polls.set(tenant, (polls.get(tenant) ?? 0) + 1);
    return read(tenant, of);
  };
  const wakeUps = new WakeUps(log, POLL_MS);
  const watcher = () => ({ grown: () => {}, polled: () => {} });
  const [one, two] = [wakeUps.watch(TENANT, watcher()), wakeUps.watch(TENANT, watcher())];
  const other = wakeUps.watch('other', watcher());
  const more = async (tenant: string) => {
    const before = polls.get(tenant) ?? 0;
    await eventually(() => expect(polls.get(tenant) ?? 0).toBeGreaterThan(before + 3));
  };
  one();
  one();
  await more(TENANT);
  two();
  const last = polls.get(TENANT);
  await more('other');
  expect(polls.get(TENANT)).toBe(last);
  const again = wakeUps.watch(TENANT, watcher());
  await more(TENANT);
  again();
  other();
});
