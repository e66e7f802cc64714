import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { LogUnavailableError } from '../../../src/deliveries/log/errors.ts';
import type { AppendResult } from '../../../src/deliveries/log/log.ts';
import type { StartThread } from '../../../src/deliveries/sqlite/threads/log-threads.ts';
import {
  appendNumbers,
  delivery,
  HOUR_MS,
  numberOf,
  openLog,
  range,
  readAll,
  TENANT,
  temporaryDirectory,
} from '../support/builders.ts';

/** Starts threads as the log does, and lists them, so that a test can end one. */
const recordThreads = () => {
  const threads: { readonly name: string; readonly worker: Worker }[] = [];
  const startThread: StartThread = (entry, path) => {
    const worker = new Worker(entry, { workerData: path });
    threads.push({ name: entry.pathname.split('/').at(-1) ?? '', worker });
    return worker;
  };
  const end = async (name: string) => {
    await threads.findLast((thread) => thread.name === name)?.worker.terminate();
  };
  return { threads, startThread, end };
};

const KB = 1024;

test('the first 32 appends of one turn are sent to the writer before the turn ends', async () => {
  const { threads, startThread } = recordThreads();
  const log = await openLog({ startThread });
  const writer = threads.find(({ name }) => name === 'writer-thread.ts')?.worker;
  const post = vi.spyOn(writer ?? expect.fail('no writer'), 'postMessage');
  const few = range(1, 31).map((number) => appendNumbers(log, [number]));
  expect(post).not.toHaveBeenCalled();
  const last = appendNumbers(log, [32]);
  expect(post).toHaveBeenCalledOnce();
  await Promise.all([...few, last]);
  expect((await readAll(log)).map(numberOf)).toEqual(range(1, 32));
});

test('a writer that ends is restarted; unanswered appends reject, and are stored once when they are repeated', async () => {
  const { threads, startThread, end } = recordThreads();
  const log = await openLog({ startThread });
  await appendNumbers(log, range(1, 3));
  const underWay = range(4, 200).map(async (number) => {
    const answer = await log.append([delivery(number)]).catch((error: unknown) => error);
    return { number, answer };
  });
  await end('writer-thread.ts');
  const answers = await Promise.all(underWay);
  const refused = answers.filter(({ answer }) => answer instanceof LogUnavailableError);
  const placed = answers.filter(({ answer }) => Array.isArray(answer) && answer[0].sequence > 0);
  expect(refused.length + placed.length).toBe(answers.length);
  expect(refused.length).toBeGreaterThan(0);
  await expect(appendNumbers(log, [1000])).rejects.toThrow(LogUnavailableError);
  // Reading goes on meanwhile.
  expect((await readAll(log)).length).toBeGreaterThanOrEqual(3);

  await vi.waitFor(() => log.append(range(1, 200).map((number) => delivery(number))), 120_000);
  expect(threads.filter(({ name }) => name === 'writer-thread.ts')).toHaveLength(2);
  const stored = await readAll(log);
  for (const { number, answer } of placed)
    expect(stored.find((one) => numberOf(one) === number)).toMatchObject({
      sequence: (answer as AppendResult[])[0]?.sequence,
    });
  const numbers = stored.map(numberOf);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(range(1, 200));
});

test('a reader that ends is restarted', async () => {
  const { startThread, end } = recordThreads();
  const log = await openLog({ startThread });
  await appendNumbers(log, [1]);
  const underWay = readAll(log).catch((error: unknown) => error);
  await end('reader-thread.ts');
  await underWay;
  await expect(readAll(log)).rejects.toThrow(LogUnavailableError);
  await appendNumbers(log, [2]);
  const all = await vi.waitFor(() => readAll(log), 120_000);
  expect(all.map(numberOf)).toEqual([1, 2]);
});

test('a repeated delivery raises the head that was lost with the writer thread', async () => {
  const { startThread, end } = recordThreads();
  const log = await openLog({ startThread });
  await appendNumbers(log, [1]);
  await end('writer-thread.ts');
  const [place] = await vi.waitFor(() => log.append([delivery(1)]), 120_000);
  expect(place).toMatchObject({ sequence: 1, duplicate: true });
  expect(await log.head(TENANT)).toBe(place?.cursor);
});

test('the bytes that wait for the writer are bounded: appends beyond it reject at once, later ones succeed', async () => {
  const log = await openLog({ maxWaitingBytes: 100 * KB });
  const big = (number: number) =>
    delivery(number, { body: Buffer.from(JSON.stringify({ number, of: 'x'.repeat(40 * KB) })) });
  const answers = await Promise.allSettled(range(1, 4).map((number) => log.append([big(number)])));
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  await log.append([big(3)]);
  expect((await readAll(log)).map(numberOf)).toEqual([1, 2, 3]);
  // One delivery alone is stored whatever its size.
  await log.append([
    delivery(5, { body: Buffer.from(JSON.stringify({ number: 5, of: 'x'.repeat(200 * KB) })) }),
  ]);
});

test('head is the end of the log at the call, whatever is stored before it resolves', async () => {
  const log = await openLog();
  const [first] = await appendNumbers(log, [1]);
  const head = log.head(TENANT);
  await appendNumbers(log, [2]);
  expect(await head).toBe(first);
  expect((await readAll(log, await head)).map(numberOf)).toEqual([2]);
});

test('a long trim lets appends and reads through', async () => {
  const dataDir = await temporaryDirectory();
  const filled = await openLog({ dataDir });
  for (let thousand = 0; thousand < 10; thousand += 1)
    await appendNumbers(filled, range(thousand * 1000 + 1, thousand * 1000 + 1000));
  await filled.close();

  const log = await openLog({ dataDir, retentionCount: 100 });
  let trimmed = false;
  const trimming = log.trim().then(() => {
    trimmed = true;
  });
  let appended = 0;
  while (!trimmed) {
    appended += 1;
    await appendNumbers(log, [10_000 + appended]);
    await log.read(TENANT, { limit: 10, take: 'newest' });
  }
  await trimming;
  expect(appended).toBeGreaterThan(2);
  await log.trim();
  const kept = (await readAll(log)).map(numberOf);
  expect(kept).toEqual(range(10_000 + appended - 99, 10_000 + appended));
});

test('closing does not wait for a long trim, and leaves one whole file', async () => {
  const dataDir = await temporaryDirectory();
  const filled = await openLog({ dataDir });
  for (let thousand = 0; thousand < 5; thousand += 1)
    await appendNumbers(filled, range(thousand * 1000 + 1, thousand * 1000 + 1000));
  await filled.close();
  const log = await openLog({ dataDir, retentionCount: 1 });
  await appendNumbers(log, [5001]);
  await log.close();
  expect((await readdir(dataDir)).sort()).toEqual(['deliveries.db', 'deliveries.lock']);
  expect((await readAll(await openLog({ dataDir }), undefined, 1000)).length).toBeGreaterThan(1);
});

test('pages that a trim frees are used again: a log of constant count does not grow', async () => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir, retentionCount: 500 });
  const fill = async (from: number) => {
    await appendNumbers(log, range(from, from + 999));
    await log.trim();
  };
  await fill(1);
  await fill(1001);
  const sizeOf = async () =>
    (await stat(join(dataDir, 'deliveries.db'))).size + (await stat(join(dataDir, 'deliveries.db-wal'))).size;
  const before = await sizeOf();
  for (let round = 2; round < 12; round += 1) await fill(round * 1000 + 1);
  expect(await sizeOf()).toBeLessThan(before * 2 + 8 * KB * KB);
});

test('a clock that goes back changes neither the order nor which deliveries are kept longest', async () => {
  let now = 10 * HOUR_MS;
  const log = await openLog({ now: () => now });
  const append = (number: number) => log.append([delivery(number, { receivedAt: now })]);
  await append(1);
  now -= 5 * HOUR_MS;
  await append(2);
  await log.trim();
  now += 30;
  await append(3);
  await log.trim();
  expect((await readAll(log)).map(numberOf)).toEqual([1, 2, 3]);
  now = 11 * HOUR_MS + 1;
  await log.trim();
  // No later delivery gets the sequence of an earlier one.
  expect((await readAll(log)).map(numberOf)).toEqual([]);
  await append(4);
  expect((await readAll(log)).map(({ sequence }) => sequence)).toEqual([4]);
});

test.each([1, 2, 5])(
  'a log with a broken page (the last but %i) is refused and left as it is',
  async (fromEnd) => {
    const dataDir = await temporaryDirectory();
    const log = await openLog({ dataDir });
    await appendNumbers(log, range(1, 2000));
    await log.close();
    const path = join(dataDir, 'deliveries.db');
    const bytes = await readFile(path);
    bytes.fill(0xa5, bytes.length - (fromEnd + 1) * 4096, bytes.length - fromEnd * 4096);
    await writeFile(path, bytes);

    await expect(openLog({ dataDir })).rejects.toThrow(/deliveries\.db: .*(damaged|malformed)/);
    expect((await readFile(path)).equals(bytes)).toBe(true);
  },
);
