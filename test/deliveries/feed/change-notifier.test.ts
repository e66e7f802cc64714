import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FeedCache } from '../../../src/deliveries/feed/cache.ts';
import { ChangeNotifier } from '../../../src/deliveries/feed/change-notifier.ts';
import { createDeliverySource } from '../../../src/deliveries/feed/source.ts';
import {
  CursorExpiredError,
  LogClosedError,
  LogUnavailableError,
} from '../../../src/deliveries/log/errors.ts';
import type { DeliveryLog } from '../../../src/deliveries/log/log.ts';
import {
  appendNumbers,
  delivery,
  follow,
  numberOf,
  openLog,
  range,
  TENANT,
  take,
} from '../support/builders.ts';
import { iterate } from '../support/iterate.ts';

/** What readers come to when nobody tells them that there is more. */

/** A log that loses every wake-up. */
const openForgetfulLog = async (): Promise<DeliveryLog> => {
  const log = await openLog();
  log.onAppend = () => () => {};
  return log;
};

const POLL_MS = 5;
const NEVER_MS = 1_000_000;

/** How often the log is asked: what has grown, and what it holds. */
const countReads = (log: DeliveryLog) => {
  const { read, changed } = { read: log.read.bind(log), changed: log.changed.bind(log) };
  const counts = { polls: 0, reads: 0 };
  log.changed = (mark) => {
    counts.polls += 1;
    return changed(mark);
  };
  log.read = (...asked) => {
    counts.reads += 1;
    return read(...asked);
  };
  return counts;
};

const eventually = (holds: () => void) => vi.waitFor(holds, 30_000);

/** So many polls that some of them began after the call, and were answered. */
const onPoll = async (counts: { readonly polls: number }): Promise<void> => {
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
  const changeNotifier = new ChangeNotifier(log, POLL_MS);
  const after = await log.head(TENANT);
  const readers = range(1, 100).map((chainId) =>
    follow(log, { after, changeNotifier, filter: { chainIds: [chainId] } }),
  );
  const heard: number[] = [];
  for (const reader of readers) void reader.next().then(({ value }) => value && heard.push(numberOf(value)));
  await eventually(() => expect(counts.reads).toBe(100));
  await onPoll(counts);
  expect(counts.reads).toBe(100);

  await log.append([delivery(4, { chainId: 7 })]);
  await eventually(() => expect(heard).toEqual([4]));
  await onPoll(counts);
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
  await onPoll(counts);
  expect(await take(reader, 1)).toEqual([2]);
});

test('what a poll finds while an older read is under way is not lost', async () => {
  const log = await openForgetfulLog();
  const counts = countReads(log);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const read = log.read.bind(log);
  let pages = 0;
  log.read = async (...asked) => {
    const page = await read(...asked);
    pages += 1;
    await released;
    return page;
  };
  const reader = follow(log, { after: await log.head(TENANT), pollMs: POLL_MS });
  const heard: number[] = [];
  void reader.next().then(({ value }) => value && heard.push(numberOf(value)));
  await eventually(() => expect(pages).toBe(1));
  await appendNumbers(log, [1]);
  await onPoll(counts);
  release();
  await eventually(() => expect(heard).toEqual([1]));
});

test('who sees that the log has grown wakes those who wait where it ended before', async () => {
  const log = await openForgetfulLog();
  const [first] = await appendNumbers(log, [1]);
  const counts = countReads(log);
  const source = createDeliverySource({
    log,
    changeNotifier: new ChangeNotifier(log, NEVER_MS),
    tenant: TENANT,
    cache: new FeedCache(1_000_000),
    after: null,
    filter: {},
  });
  const feed = source.feed({ render: (item) => item, sizeOf: () => 0 });
  const readFrom = (after: string | undefined) => iterate((wake) => feed.read(after ?? null, wake));
  const behind = readFrom(first).next();
  await eventually(() => expect(counts.reads).toBe(1));
  const [second] = await appendNumbers(log, [2]);
  const ahead = readFrom(second);
  void ahead.next();
  expect((await behind).value?.sequence).toBe(2);
  // Where the log ends when watching begins, and nothing more.
  expect(counts.polls).toBe(1);
  await ahead.return?.();
});

test('while the log can not be read, each place has one retry, however often the log grows', async () => {
  const log = await openForgetfulLog();
  const after = await log.head(TENANT);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { promise: manyPolls, resolve } = Promise.withResolvers<void>();
  let head = 0;
  log.changed = async () => {
    head += 1;
    if (head === 50) resolve();
    return { mark: 'mark', heads: new Map([[TENANT, head]]) };
  };
  log.read = () => Promise.reject(new LogUnavailableError('not now'));
  const reader = follow(log, { after, pollMs: POLL_MS });
  const next = reader.next();
  await manyPolls;
  // The log's own trimming may have another timer.
  expect(vi.getTimerCount()).toBeLessThanOrEqual(2);
  await reader.return?.();
  expect(await next).toMatchObject({ done: true });
});

test('a read that failed in passing is made again, and so is a poll', async () => {
  const log = await openForgetfulLog();
  const start = await log.head(TENANT);
  await appendNumbers(log, [1]);
  const { read, changed } = { read: log.read.bind(log), changed: log.changed.bind(log) };
  const failures = { reads: 0, polls: 0 };
  let isBroken = true;
  log.read = (...asked) => {
    if (!isBroken) return read(...asked);
    failures.reads += 1;
    return Promise.reject(new LogUnavailableError('broken'));
  };
  log.changed = (mark) => {
    if (!isBroken) return changed(mark);
    failures.polls += 1;
    return Promise.reject(new LogUnavailableError('broken'));
  };
  const numbers = take(follow(log, { after: start, pollMs: POLL_MS }), 2);
  await eventually(() => expect(failures.reads).toBeGreaterThan(1));
  await eventually(() => expect(failures.polls).toBeGreaterThan(4));
  isBroken = false;
  await appendNumbers(log, [2]);
  expect(await numbers).toEqual([1, 2]);
});

test('a log that was closed, or that another took the place of, ends who waits', async () => {
  const log = await openForgetfulLog();
  const other = await openLog();
  const counts = countReads(log);
  const moved = follow(log, { pollMs: POLL_MS }).next();
  await onPoll(counts);
  const { read, changed } = log;
  log.read = other.read.bind(other);
  log.changed = other.changed.bind(other);
  await expect(moved).rejects.toThrow(CursorExpiredError);
  Object.assign(log, { read, changed });
  const waiting = follow(log, { pollMs: POLL_MS }).next();
  const refused = expect(waiting).rejects.toThrow(LogClosedError);
  await onPoll(counts);
  await log.close();
  await refused;
});

test('however many tenants wait, one poll asks for all, and tells only those whose log has grown', async () => {
  const log = await openForgetfulLog();
  const counts = countReads(log);
  const changeNotifier = new ChangeNotifier(log, POLL_MS);
  const received: string[] = [];
  const watch = (tenant: string) =>
    changeNotifier.subscribe(tenant, {
      onChange: () => received.push(tenant),
      onPoll: (head) => received.push(`${tenant} ${head}`),
    });
  const ends = range(1, 2000).map((number) => watch(`tenant ${number}`));
  await onPoll(counts);
  expect(counts.reads).toBe(0);
  expect(received).toEqual([]);
  await log.append([7, 1900, 7].map((tenant, number) => delivery(number, { tenant: `tenant ${tenant}` })));
  await eventually(() => expect(received.toSorted()).toEqual(['tenant 1900 1', 'tenant 7 2']));
  await onPoll(counts);
  expect(received).toHaveLength(2);

  // Watchers that left are not called. Once all have left, the log is not asked any more.
  ends[6]?.();
  ends[6]?.();
  await log.append([7, 8].map((tenant) => delivery(tenant, { tenant: `tenant ${tenant}` })));
  await eventually(() => expect(received.slice(2)).toEqual(['tenant 8 1']));
  for (const end of ends) end();
  const { polls } = counts;
  await new Promise((resolve) => setTimeout(resolve, 20 * POLL_MS));
  expect(counts.polls).toBeLessThan(polls + 2);
});

test('a writer that was started again does not know what grew before: all who wait look', async () => {
  const threads: Worker[] = [];
  const log = await openLog({
    startThread: (entry, path) => {
      const worker = new Worker(entry, { workerData: path });
      if (entry.pathname.endsWith('writer-thread.ts')) threads.push(worker);
      return worker;
    },
  });
  log.onAppend = () => () => {};
  const numbers = take(follow(log, { after: await log.head(TENANT), pollMs: POLL_MS }), 2);
  await appendNumbers(log, [1]);
  const counts = countReads(log);
  await onPoll(counts);
  // Stored, and its thread gone before anybody could ask it.
  await appendNumbers(log, [2]);
  await threads.at(-1)?.terminate();
  expect(await numbers).toEqual([1, 2]);
});
