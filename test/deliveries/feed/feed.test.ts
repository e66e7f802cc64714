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
  openLog,
  range,
  TENANT,
  take,
} from '../support/builders.ts';

const DONE = { done: true, value: undefined };
/** So that only a wake-up can end a wait. */
const NEVER = 2 ** 30;

const followQuietly = (log: DeliveryLog, options: Following = {}) =>
  follow(log, { pollMs: NEVER, ...options });

test('replays what is stored, then goes on with what arrives, in one sequence', async () => {
  const log = await openLog();
  const start = await log.head(TENANT);
  await appendNumbers(log, range(1, 50));
  const reader = followQuietly(log, { after: start });
  const numbers = take(reader, 120);
  for (const number of range(51, 120)) await appendNumbers(log, [number]);
  expect(await numbers).toEqual(range(1, 120));
});

test('without a cursor it starts at the head as of the call, not of the first next()', async () => {
  const log = await openLog();
  await appendNumbers(log, [1]);
  const reader = followQuietly(log);
  await appendNumbers(log, [2, 3]);
  expect(await take(reader, 2)).toEqual([2, 3]);
});

test('resumes from any cursor that it gave', async () => {
  const log = await openLog();
  const cursors = await appendNumbers(log, range(1, 40));
  for (const [index, cursor] of cursors.entries()) {
    const reader = followQuietly(log, { after: cursor });
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
  const reader = followQuietly(log);
  const waiting = [reader.next(), reader.next()];
  expect(await reader.return?.()).toEqual(DONE);
  expect(await Promise.all(waiting)).toEqual([DONE, DONE]);
  expect(unsubscribed).toHaveBeenCalledOnce();
  expect(await reader.next()).toEqual(DONE);
});

test('return() while the log is being read gives up what is read', async () => {
  const log = await openLog();
  const reader = followQuietly(log, { after: await log.head(TENANT) });
  await appendNumbers(log, [1]);
  const reading = reader.next();
  await reader.return?.();
  expect(await reading).toEqual(DONE);
});

test('several next() at once get one delivery each, in order', async () => {
  const log = await openLog();
  const reader = followQuietly(log);
  const answers = Promise.all(range(1, 5).map(() => reader.next()));
  await appendNumbers(log, range(1, 5));
  expect((await answers).map(({ value }) => value && numberOf(value))).toEqual(range(1, 5));
});

test('what arrives while an empty read is under way is not waited for', async () => {
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
  expect(await take(followQuietly(log), 1)).toEqual([1]);
});

test('a filter passes over what does not match, and its position moves on all the same', async () => {
  const log = await openLog({ retentionCount: 2 });
  const read = log.read.bind(log);
  let scannedTo = '';
  log.read = async (tenant, of) => {
    const page = await read(tenant, of);
    scannedTo = page.scannedTo;
    return page;
  };
  const reader = followQuietly(log, { filter: { chainIds: [7] } });
  const first = reader.next();
  const cursors = await appendNumbers(log, range(1, 30));
  await vi.waitFor(() => expect(scannedTo).toBe(cursors.at(-1)));
  // All of it has been looked at: trimming it takes nothing from this reader.
  await log.trim();
  await log.append([delivery(31, { chainId: 7 })]);
  expect((await first).value).toMatchObject({ sequence: 31 });
});

test('a reader that falls behind the trimming is told, not skipped', async () => {
  const log = await openLog({ retentionCount: 5 });
  const start = await log.head(TENANT);
  await appendNumbers(log, range(1, 20));
  const reader = followQuietly(log, { after: start });
  expect(await take(reader, 1)).toEqual([1]);
  await appendNumbers(log, range(21, 100));
  await log.trim();
  // The batch that it holds is still whole.
  expect(await take(reader, 15)).toEqual(range(2, 16));
  await expect(reader.next()).rejects.toThrow(CursorExpiredError);
  expect(await reader.next()).toEqual(DONE);
});

test('a cursor that is none, or a log that closes, rejects next()', async () => {
  const log = await openLog();
  await expect(followQuietly(log, { after: 'nonsense' }).next()).rejects.toThrow(InvalidCursorError);
  const waiting = followQuietly(log).next();
  const refused = expect(waiting).rejects.toThrow(LogClosedError);
  await log.close();
  await refused;
});

test('holds no more than a batch, however far it is behind', async () => {
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
  const reader = followQuietly(log, { after: start });
  expect(await take(reader, 40)).toEqual(range(1, 40));
  expect(Math.max(...sizes)).toBe(2);
});

test('each that arrives costs one look at the log', async () => {
  const log = await openLog();
  let scanBudget = 0;
  const read = log.read.bind(log);
  log.read = (tenant, of) => {
    scanBudget += 1;
    return read(tenant, of);
  };
  const reader = followQuietly(log, { after: await log.head(TENANT) });
  // Asks for the next as soon as it has one, as a socket does.
  const answers = range(1, 10).map(() => reader.next());
  await vi.waitFor(() => expect(scanBudget).toBe(1));
  for (const [index, answer] of answers.entries()) {
    const number = index + 1;
    await appendNumbers(log, [number]);
    // A look that is still under way may see the next one, too.
    const { value } = await answer;
    expect(value && numberOf(value)).toBe(number);
    expect(scanBudget).toBe(number + 1);
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
  const readers = range(1, 100).map(() => followQuietly(log));
  expect(askedAt).toEqual(readers.map(() => startedAt));
  await vi.advanceTimersByTimeAsync(5000);
  const firstRetries = askedAt.slice(100, 150).map((time) => time - startedAt);
  expect(Math.min(...firstRetries)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...firstRetries)).toBeLessThanOrEqual(1500);
  expect(new Set(firstRetries).size).toBeGreaterThan(25);
  for (const reader of readers) await reader.return?.();
});
