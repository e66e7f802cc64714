import { expect, test, vi } from 'vitest';
import { ChangeNotifier } from '../../../src/deliveries/feed/change-notifier.ts';
import { MergedReads } from '../../../src/deliveries/feed/merged-reads.ts';
import type { DeliveryFilter, DeliveryLog, NewDelivery } from '../../../src/deliveries/log/log.ts';
import { address, delivery, follow, numberOf, range, TENANT, take } from '../support/builders.ts';
import { describeEachStore } from '../support/stores.ts';

/** Feeds with different filters read what follows the head of the log together. */

const NEVER_MS = 2 ** 30;

/** Follows the log by each of the filters, from its end as of this call. */
const followEach = async (log: DeliveryLog, filters: readonly DeliveryFilter[]) => {
  const shared = { changeNotifier: new ChangeNotifier(log, NEVER_MS), reads: new MergedReads(log) };
  const after = await log.head(TENANT);
  return filters.map((filter) => follow(log, { ...shared, after, filter }));
};

/** Resolves once readers have been told of the next append. */
const heardOf = (log: DeliveryLog): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = log.onAppend(() => {
    stop();
    resolve();
  });
  return promise;
};

const countReads = (log: DeliveryLog) => {
  const read = log.read.bind(log);
  const counts = { reads: 0 };
  log.read = (...asked) => {
    counts.reads += 1;
    return read(...asked);
  };
  return counts;
};

/** A delivery that one in several filters matches, by its address, its chain, its type or all three. */
const varied = (number: number): NewDelivery =>
  delivery(number, {
    addresses: [address(number % 5), address(number % 7)],
    chainId: number % 3,
    type: number % 4 === 0 ? 'transactions' : 'activities',
  });

const FILTERS: readonly DeliveryFilter[] = [
  {},
  { chainIds: [1] },
  { types: ['transactions'] },
  { addresses: [[address(2)]] },
  { addresses: [[address(3), address(6)], [address(1)]] },
  { addresses: [[address(4)]], types: ['activities'], chainIds: [0, 2] },
  { chainIds: [] },
];

describeEachStore(({ openLog }) => {
  test('a new delivery costs one read of the log, whatever the filters of those who follow it', async () => {
    const log = await openLog();
    const counts = countReads(log);
    const readers = await followEach(
      log,
      range(1, 20).map((number) => ({ addresses: [[address(0), address(number)]] })),
    );
    let number = 0;
    /** The reads that one more delivery costs. */
    const readsOfNext = async (): Promise<number> => {
      const waiting = readers.map((reader) => reader.next());
      const before = counts.reads;
      const heard = heardOf(log);
      number += 1;
      await log.append([delivery(number, { addresses: [address(0)] })]);
      const received = await Promise.all(waiting);
      expect(received.map(({ value }) => value && numberOf(value))).toEqual(readers.map(() => number));
      await heard;
      return counts.reads - before;
    };
    // A delivery that a busy machine tells of late is read once more.
    for (let inRow = 0; inRow < 6; expect(number).toBeLessThan(60))
      inRow = (await readsOfNext()) === 1 ? inRow + 1 : 0;
  });

  test('each reader gets what its filter finds in the log, in order, however many arrive at once', async () => {
    const log = await openLog();
    const start = await log.head(TENANT);
    const readers = await followEach(log, FILTERS);
    const received = readers.map((): number[] => []);
    const following = readers.map(async (reader, index) => {
      for (let next = await reader.next(); !next.done; next = await reader.next())
        received[index]?.push(numberOf(next.value));
    });
    let last = 0;
    for (const size of [1, 1, 3, 40, 1, 17, 2, 90, 1]) {
      await log.append(range(last + 1, last + size).map(varied));
      last += size;
    }
    const found = await Promise.all(
      FILTERS.map(async (filter) =>
        (await log.read(TENANT, { after: start, filter, limit: 1000 })).deliveries.map(numberOf),
      ),
    );
    expect(found.filter(({ length }) => length > 0)).toHaveLength(FILTERS.length - 1);
    await vi.waitFor(() => expect(received).toEqual(found), 120_000);
    for (const reader of readers) await reader.return?.();
    await Promise.all(following);
    expect(received).toEqual(found);
  });

  test('a reader that is closed during a read gets nothing of it, and takes nothing from the others', async () => {
    const log = await openLog();
    const [closed, ...others] = await followEach(log, FILTERS.slice(0, 3));
    const first = [closed, ...others].map((reader) => reader?.next());
    const matching = (number: number) => delivery(number, { chainId: 1, type: 'transactions' });
    await log.append([matching(0)]);
    await Promise.all(first);
    const ofClosed = closed?.next();
    const ofOthers = others.map((reader) => take(reader, 1));
    const read = log.read.bind(log);
    log.read = async (...asked) => {
      const page = await read(...asked);
      await closed?.return?.();
      return page;
    };
    await log.append([matching(1)]);
    expect(await Promise.all(ofOthers)).toEqual(others.map(() => [1]));
    expect(await ofClosed).toEqual({ done: true, value: undefined });
  });
});
