import { expect, onTestFinished, test, vi } from 'vitest';
import {
  CursorExpiredError,
  InvalidCursorError,
  LogClosedError,
  LogUnavailableError,
} from '../../../src/deliveries/log/errors.ts';
import type { DeliveryLog } from '../../../src/deliveries/log/log.ts';
import {
  appendNumbers,
  delivery,
  type Following,
  follow,
  numberOf,
  range,
  TENANT,
  take,
} from '../support/builders.ts';
import { describeEachStore } from '../support/stores.ts';

const DONE = { done: true, value: undefined };
/** So long that only a notification can wake a reader. */
const NEVER = 2 ** 30;

const followWithoutPolls = (log: DeliveryLog, options: Following = {}) =>
  follow(log, { pollMs: NEVER, ...options });

describeEachStore(({ openLog }) => {
  test('replays the stored deliveries, then continues with new ones, in one sequence', async () => {
    const log = await openLog();
    const start = await log.head(TENANT);
    await appendNumbers(log, range(1, 50));
    const reader = followWithoutPolls(log, { after: start });
    const numbers = take(reader, 120);
    for (const number of range(51, 120)) await appendNumbers(log, [number]);
    expect(await numbers).toEqual(range(1, 120));
  });

  test('without a cursor a reader starts at the head as of the call, not of the first next()', async () => {
    const log = await openLog();
    await appendNumbers(log, [1]);
    const reader = followWithoutPolls(log);
    await appendNumbers(log, [2, 3]);
    expect(await take(reader, 2)).toEqual([2, 3]);
  });

  test('resumes from any cursor of a delivery', async () => {
    const log = await openLog();
    const cursors = await appendNumbers(log, range(1, 40));
    for (const [index, cursor] of cursors.entries()) {
      const reader = followWithoutPolls(log, { after: cursor });
      expect(await take(reader, 39 - index)).toEqual(range(index + 2, 40));
      await reader.return?.();
    }
  });

  test('return() settles a waiting next() at once, and unsubscribes', async () => {
    const log = await openLog();
    const unsubscribed = vi.fn();
    const onAppend = log.onAppend.bind(log);
    log.onAppend = (listener) => {
      const unsubscribe = onAppend(listener);
      return () => {
        unsubscribed();
        unsubscribe();
      };
    };
    const reader = followWithoutPolls(log);
    const waiting = [reader.next(), reader.next()];
    expect(await reader.return?.()).toEqual(DONE);
    expect(await Promise.all(waiting)).toEqual([DONE, DONE]);
    expect(unsubscribed).toHaveBeenCalledOnce();
    expect(await reader.next()).toEqual(DONE);
  });

  test('return() during a read discards the page', async () => {
    const log = await openLog();
    const reader = followWithoutPolls(log, { after: await log.head(TENANT) });
    await appendNumbers(log, [1]);
    const reading = reader.next();
    await reader.return?.();
    expect(await reading).toEqual(DONE);
  });

  test('several next() at once get one delivery each, in order', async () => {
    const log = await openLog();
    const reader = followWithoutPolls(log);
    const answers = Promise.all(range(1, 5).map(() => reader.next()));
    await appendNumbers(log, range(1, 5));
    expect((await answers).map(({ value }) => value && numberOf(value))).toEqual(range(1, 5));
  });

  test('a delivery that arrives during an empty read is read without another notification', async () => {
    const log = await openLog();
    const read = log.read.bind(log);
    let raced = false;
    log.read = async (tenant, of) => {
      const page = await read(tenant, of);
      if (!raced) {
        raced = true;
        await appendNumbers(log, [1]);
      }
      return page;
    };
    expect(await take(followWithoutPolls(log), 1)).toEqual([1]);
  });

  test('the position of a filtered reader moves past deliveries that do not match', async () => {
    const log = await openLog({ retentionCount: 2 });
    // The trim that a log begins with has ended before the deliveries arrive.
    await log.trim();
    const read = log.read.bind(log);
    let scannedTo = '';
    log.read = async (tenant, of) => {
      const page = await read(tenant, of);
      scannedTo = page.scannedTo;
      return page;
    };
    const reader = followWithoutPolls(log, { filter: { chainIds: [7] } });
    const first = reader.next();
    const cursors = await appendNumbers(log, range(1, 30));
    await vi.waitFor(() => expect(scannedTo).toBe(cursors.at(-1)), 120_000);
    // The reader has passed all of them: trimming them does not affect it.
    await log.trim();
    await log.append([delivery(31, { chainId: 7 })]);
    expect((await first).value).toMatchObject({ sequence: 31 });
  });

  test('a reader that falls behind the retention gets CursorExpiredError, not a gap', async () => {
    const log = await openLog({ retentionCount: 20 });
    const start = await log.head(TENANT);
    await appendNumbers(log, range(1, 20));
    const reader = followWithoutPolls(log, { after: start });
    expect(await take(reader, 1)).toEqual([1]);
    await appendNumbers(log, range(21, 100));
    await log.trim();
    // The rest of the page is still cached.
    expect(await take(reader, 15)).toEqual(range(2, 16));
    await expect(reader.next()).rejects.toThrow(CursorExpiredError);
    expect(await reader.next()).toEqual(DONE);
  });

  test('next() rejects for an invalid cursor, and when the log closes', async () => {
    const log = await openLog();
    await expect(followWithoutPolls(log, { after: 'nonsense' }).next()).rejects.toThrow(InvalidCursorError);
    const waiting = followWithoutPolls(log).next();
    const refused = expect(waiting).rejects.toThrow(LogClosedError);
    await log.close();
    await refused;
  });

  test('a page is limited in bytes, however far its reader is behind', async () => {
    const log = await openLog();
    const start = await log.head(TENANT);
    const body = Buffer.alloc(20_000, 32);
    await log.append(
      range(1, 40).map((number) =>
        delivery(number, { body: Buffer.concat([Buffer.from(`{"number":${number}}`), body]) }),
      ),
    );
    const sizes: number[] = [];
    const read = log.read.bind(log);
    log.read = async (tenant, of) => {
      const page = await read(tenant, of);
      sizes.push(page.deliveries.length);
      return page;
    };
    const reader = followWithoutPolls(log, { after: start });
    expect(await take(reader, 40)).toEqual(range(1, 40));
    expect(Math.max(...sizes)).toBe(2);
  });

  test('while a page of a long replay is sent, the next one is read, and no other before a reader comes to that', async () => {
    const log = await openLog({ retentionCount: 6000 });
    const start = await log.head(TENANT);
    await appendNumbers(log, range(1, 6000));
    const ends: number[] = [];
    const read = log.read.bind(log);
    log.read = async (tenant, of) => {
      const page = await read(tenant, of);
      ends.push(page.deliveries.at(-1)?.sequence ?? 0);
      return page;
    };
    const reader = followWithoutPolls(log, { after: start });
    expect(await take(reader, 17)).toEqual(range(1, 17));
    // The first page is short: how much follows is not known before it.
    await vi.waitFor(() => expect(ends).toEqual([16, 272, 528]), 120_000);
    expect(await take(reader, 255)).toEqual(range(18, 272));
    expect(ends).toEqual([16, 272, 528]);
    expect(await take(reader, 1)).toEqual([273]);
    await vi.waitFor(() => expect(ends).toEqual([16, 272, 528, 784]), 120_000);
    // What was read ahead is sent, and the gap after it is named.
    await appendNumbers(log, range(6001, 8000));
    await log.trim();
    expect(await take(reader, 784 - 273)).toEqual(range(274, 784));
    await expect(reader.next()).rejects.toThrow(CursorExpiredError);
    expect(ends.slice(4)).toEqual([]);
  });

  test('readers of one feed that come and go in a long replay each get all of it once, in order, up to what is new', async () => {
    const log = await openLog();
    const start = await log.head(TENANT);
    await appendNumbers(log, range(1, 6000));
    const readers = range(1, 3).map(() => followWithoutPolls(log, { after: start }));
    const first = await Promise.all(readers.map((reader, index) => take(reader, 100 + 300 * index)));
    await appendNumbers(log, range(6001, 6100));
    const rest = await Promise.all(readers.map((reader, index) => take(reader, 6000 - 300 * index)));
    for (const [index, numbers] of first.entries())
      expect([...numbers, ...(rest[index] ?? [])]).toEqual(range(1, 6100));
  });

  test('each new delivery costs one read of the log', async () => {
    const log = await openLog();
    let reads = 0;
    const read = log.read.bind(log);
    log.read = (tenant, of) => {
      reads += 1;
      return read(tenant, of);
    };
    const reader = followWithoutPolls(log, { after: await log.head(TENANT) });
    // Calls next() as soon as it has an item, as a socket does.
    const answers = range(1, 10).map(() => reader.next());
    await vi.waitFor(() => expect(reads).toBe(1), 120_000);
    for (const [index, answer] of answers.entries()) {
      const number = index + 1;
      await appendNumbers(log, [number]);
      // A read that is still running may find the next delivery, too.
      const { value } = await answer;
      expect(value && numberOf(value)).toBe(number);
      expect(reads).toBe(number + 1);
    }
  });

  test('after an outage, readers ask for the head again at different times', async () => {
    const log = await openLog();
    const askedAt: number[] = [];
    log.head = () => {
      askedAt.push(Date.now());
      return Promise.reject(new LogUnavailableError('not now'));
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const startedAt = Date.now();
    const readers = range(1, 100).map(() => followWithoutPolls(log));
    expect(askedAt).toEqual(readers.map(() => startedAt));
    await vi.advanceTimersByTimeAsync(5000);
    const firstRetries = askedAt.slice(100, 150).map((time) => time - startedAt);
    expect(Math.min(...firstRetries)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...firstRetries)).toBeLessThanOrEqual(1500);
    expect(new Set(firstRetries).size).toBeGreaterThan(25);
    for (const reader of readers) await reader.return?.();
  });
});
