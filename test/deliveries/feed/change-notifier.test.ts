import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FeedCache } from '../../../src/deliveries/feed/cache.ts';
import { ChangeNotifier } from '../../../src/deliveries/feed/change-notifier.ts';
import { createDeliverySource } from '../../../src/deliveries/feed/feed.ts';
import { MergedReads } from '../../../src/deliveries/feed/merged-reads.ts';
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

/** Readers find new deliveries without a notification. */

/** A log that never calls its listeners. */
const openSilentLog = async (): Promise<DeliveryLog> => {
  const log = await openLog();
  log.onAppend = () => () => {};
  return log;
};

const POLL_MS = 5;
const NEVER_MS = 1_000_000;

/** Counts the polls, the reads of the log, and the reads that were answered. */
const countReads = (log: DeliveryLog) => {
  const { read, changed } = { read: log.read.bind(log), changed: log.changed.bind(log) };
  const counts = { polls: 0, reads: 0, answered: 0 };
  log.changed = (mark) => {
    counts.polls += 1;
    return changed(mark);
  };
  log.read = async (...asked) => {
    counts.reads += 1;
    const page = await read(...asked);
    counts.answered += 1;
    return page;
  };
  return counts;
};

const eventually = (holds: () => void) => vi.waitFor(holds, 120_000);

/** Resolves after several polls, so that at least one started after the call and was answered. */
const severalPolls = async (counts: { readonly polls: number }): Promise<void> => {
  const { polls } = counts;
  await eventually(() => expect(counts.polls).toBeGreaterThan(polls + 5));
};

test('a lost notification delays a delivery by one poll, and loses none', async () => {
  const log = await openSilentLog();
  const reader = follow(log, { pollMs: POLL_MS });
  const numbers = take(reader, 2);
  await appendNumbers(log, [1]);
  await appendNumbers(log, [2]);
  expect(await numbers).toEqual([1, 2]);
});

test('a hundred filters make one poll, and read only when the log has grown', async () => {
  const log = await openSilentLog();
  await appendNumbers(log, range(1, 3));
  const counts = countReads(log);
  const changeNotifier = new ChangeNotifier(log, POLL_MS);
  const after = await log.head(TENANT);
  const readers = range(1, 100).map((chainId) =>
    follow(log, { after, changeNotifier, filter: { chainIds: [chainId] } }),
  );
  const received: number[] = [];
  for (const reader of readers)
    void reader.next().then(({ value }) => value && received.push(numberOf(value)));
  // A read that is answered later would find what is appended next.
  await eventually(() => expect(counts.answered).toBe(100));
  await severalPolls(counts);
  expect(counts.reads).toBe(100);

  await log.append([delivery(4, { chainId: 7 })]);
  await eventually(() => expect(received).toEqual([4]));
  await eventually(() => expect(counts.reads).toBeGreaterThanOrEqual(200));
  await severalPolls(counts);
  // The reader that got the delivery has not called next() again.
  expect(counts.reads).toBe(200);
  for (const reader of readers) await reader.return?.();
});

test('a delivery appended between a read and the next wait of its reader is found, although the head does not move again', async () => {
  const log = await openSilentLog();
  const counts = countReads(log);
  const reader = follow(log, { after: await log.head(TENANT), pollMs: POLL_MS });
  await appendNumbers(log, [1]);
  expect(await take(reader, 1)).toEqual([1]);
  await appendNumbers(log, [2]);
  // Every poll has seen the second delivery while no reader was blocked.
  await severalPolls(counts);
  expect(await take(reader, 1)).toEqual([2]);
});

test('a head that a poll finds during an older read is not lost', async () => {
  const log = await openSilentLog();
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
  const received: number[] = [];
  void reader.next().then(({ value }) => value && received.push(numberOf(value)));
  await eventually(() => expect(pages).toBe(1));
  await appendNumbers(log, [1]);
  await severalPolls(counts);
  release();
  await eventually(() => expect(received).toEqual([1]));
});

test('a read that finds a new tail wakes the readers that are blocked at the old one', async () => {
  const log = await openSilentLog();
  const [first] = await appendNumbers(log, [1]);
  const counts = countReads(log);
  const source = createDeliverySource({
    log,
    reads: new MergedReads(log),
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
  // The first poll, when the first listener was added, and no other.
  expect(counts.polls).toBe(1);
  await ahead.return?.();
});

test('while the log is unavailable, each cursor has one retry, however often the log grows', async () => {
  const log = await openSilentLog();
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
  // A retry for each growth would be fifty. The log's own trimming, and what other tests have left, may have some.
  expect(vi.getTimerCount()).toBeLessThan(10);
  await reader.return?.();
  expect(await next).toMatchObject({ done: true });
});

test('a read and a poll that failed are retried', async () => {
  const log = await openSilentLog();
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

test('a closed or replaced log ends its blocked readers with an error', async () => {
  const log = await openSilentLog();
  const other = await openLog();
  const counts = countReads(log);
  const moved = follow(log, { pollMs: POLL_MS }).next();
  await severalPolls(counts);
  const { read, changed } = log;
  log.read = other.read.bind(other);
  log.changed = other.changed.bind(other);
  await expect(moved).rejects.toThrow(CursorExpiredError);
  Object.assign(log, { read, changed });
  const waiting = follow(log, { pollMs: POLL_MS }).next();
  const refused = expect(waiting).rejects.toThrow(LogClosedError);
  await severalPolls(counts);
  await log.close();
  await refused;
});

test('one poll serves all tenants, and calls only the listeners of logs that have grown', async () => {
  const log = await openSilentLog();
  const counts = countReads(log);
  const changeNotifier = new ChangeNotifier(log, POLL_MS);
  const notified: string[] = [];
  const subscribe = (tenant: string) =>
    changeNotifier.subscribe(tenant, {
      onChange: () => notified.push(tenant),
      onPoll: (head) => notified.push(`${tenant} ${head}`),
    });
  const removals = range(1, 2000).map((number) => subscribe(`tenant ${number}`));
  await severalPolls(counts);
  expect(counts.reads).toBe(0);
  expect(notified).toEqual([]);
  await log.append([7, 1900, 7].map((tenant, number) => delivery(number, { tenant: `tenant ${tenant}` })));
  await eventually(() => expect(notified.toSorted()).toEqual(['tenant 1900 1', 'tenant 7 2']));
  await severalPolls(counts);
  expect(notified).toHaveLength(2);

  // Removed listeners are not called. Once all are removed, the log is no longer polled.
  removals[6]?.();
  removals[6]?.();
  await log.append([7, 8].map((tenant) => delivery(tenant, { tenant: `tenant ${tenant}` })));
  await eventually(() => expect(notified.slice(2)).toEqual(['tenant 8 1']));
  for (const remove of removals) remove();
  const { polls } = counts;
  await new Promise((resolve) => setTimeout(resolve, 20 * POLL_MS));
  expect(counts.polls).toBeLessThan(polls + 2);
});

test('after the writer was restarted, all blocked readers read, because its marks are unknown', async () => {
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
  await severalPolls(counts);
  // The delivery is stored, but the thread ends before a poll can ask it.
  await appendNumbers(log, [2]);
  await threads.at(-1)?.terminate();
  expect(await numbers).toEqual([1, 2]);
});

test('all listeners share one subscription to the log, which ends with the last of them', async () => {
  const log = await openLog();
  const onAppend = log.onAppend.bind(log);
  let subscriptions = 0;
  log.onAppend = (listener) => {
    const remove = onAppend(listener);
    subscriptions += 1;
    return () => {
      subscriptions -= 1;
      remove();
    };
  };
  const changeNotifier = new ChangeNotifier(log, NEVER_MS);
  const changed: string[] = [];
  const removals = ['one', 'two', 'two', 'three'].map((tenant) =>
    changeNotifier.subscribe(tenant, { onChange: () => changed.push(tenant), onPoll: () => {} }),
  );
  expect(subscriptions).toBe(1);
  await log.append([delivery(1, { tenant: 'two' })]);
  await eventually(() => expect(changed).toEqual(['two', 'two']));
  for (const remove of removals) remove();
  expect(subscriptions).toBe(0);
  changeNotifier.subscribe('one', { onChange: () => changed.push('one'), onPoll: () => {} });
  expect(subscriptions).toBe(1);
  await log.close();
  expect(changed).toEqual(['two', 'two', 'one']);
});
