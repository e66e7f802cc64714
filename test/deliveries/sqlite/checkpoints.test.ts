import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import type { DeliveryLog } from '../../../src/deliveries/log/log.ts';
import type { LogObserver } from '../../../src/deliveries/log/observer.ts';
import type { StartThread } from '../../../src/deliveries/sqlite/threads/log-threads.ts';
import {
  delivery,
  numberOf,
  openLog,
  range,
  readAll,
  TENANT,
  temporaryDirectory,
} from '../support/builders.ts';

/** The pages of the `-wal` file become those of the log's file while deliveries are stored, whatever the reader does. */

const BODY_BYTES = 60_000;
const [BATCH, BATCH_BYTES] = [16, 16 * BODY_BYTES];
const FILLER = 'x'.repeat(BODY_BYTES);

/** Stores this many bytes, in batches of which the next is sent before the last is stored. */
const fill = async (log: DeliveryLog, bytes: number, from = 0): Promise<number> => {
  let [number, before] = [from, Promise.resolve() as Promise<unknown>];
  for (let stored = 0; stored < bytes; stored += BATCH_BYTES) {
    const numbers = range(number + 1, number + BATCH);
    number += BATCH;
    const batch = numbers.map((one) =>
      delivery(one, { body: Buffer.from(JSON.stringify({ number: one, filler: FILLER })) }),
    );
    [, before] = [await before, log.append(batch)];
  }
  await before;
  return number;
};

const MB = 1024 * 1024;
/** What SQLite cuts the file to. Here it gets so large only while one checkpoint is made. */
const MAX_WAL_BYTES = 64 * MB;

const bytesOf = (dataDir: string, suffix = '') => statSync(join(dataDir, `deliveries.db${suffix}`)).size;

const openFilled = async (options: Parameters<typeof openLog>[0] = {}) => {
  const dataDir = await temporaryDirectory();
  const events: string[] = [];
  const observer: LogObserver = {
    failed: (task) => void events.push(`${task} failed`),
    checkpointed: () => void events.push('checkpointed'),
  };
  return { dataDir, events, log: await openLog({ dataDir, observer, ...options }) };
};

/** Starts threads as the log does, but a reader that does something else with requests for a checkpoint. */
const withReader =
  (instead: (worker: Worker, id: number) => void): StartThread =>
  (entry, path) => {
    const worker = new Worker(entry, { workerData: path });
    const post = worker.postMessage.bind(worker);
    if (entry.pathname.endsWith('reader-thread.ts'))
      worker.postMessage = (message: { readonly id: number; readonly name: string }, ...rest: []) =>
        message.name === 'checkpoint' ? instead(worker, message.id) : post(message, ...rest);
    return worker;
  };

test('the -wal file stays bounded under a constant load, also while all is read again and again', async () => {
  const { dataDir, events, log } = await openFilled();
  let isOver = false;
  const readers = range(1, 4).map(async () => {
    while (!isOver) {
      let after: string | undefined;
      do {
        const page = await log.read(TENANT, { after, limit: 20 });
        after = page.hasMore ? page.scannedTo : undefined;
      } while (after !== undefined && !isOver);
    }
  });
  const last = await fill(log, 120 * MB);
  isOver = true;
  await Promise.all(readers);
  expect(bytesOf(dataDir, '-wal')).toBeLessThan(MAX_WAL_BYTES);
  expect(bytesOf(dataDir)).toBeGreaterThan(40 * MB);
  expect(events).toContain('checkpointed');
  expect(events).not.toContain('checkpoint failed');
  expect((await readAll(log)).map(numberOf)).toEqual(range(1, last));
});

test('what another process still reads stays in the -wal file, which is cut once that has ended', async () => {
  const { dataDir, log } = await openFilled();
  const before = await fill(log, MB);
  const backup = new DatabaseSync(join(dataDir, 'deliveries.db'), { readOnly: true });
  backup.exec('BEGIN');
  const count = () => Number(backup.prepare('SELECT count(*) AS count FROM delivery').get()?.count);
  expect(count()).toBe(before);
  const last = await fill(log, 80 * MB, before);
  expect(bytesOf(dataDir, '-wal')).toBeGreaterThan(80 * MB);
  expect(count()).toBe(before);
  backup.exec('COMMIT');
  backup.close();

  let end = last;
  while (bytesOf(dataDir, '-wal') > MAX_WAL_BYTES) end = await fill(log, MB, end);
  expect((await readAll(log)).map(numberOf)).toEqual(range(1, end));
});

test('the writer copies the pages itself where the thread that should does not, or is away', async () => {
  const { dataDir, log, events } = await openFilled({
    startThread: withReader((worker) => void worker.terminate()),
  });
  const last = await fill(log, 120 * MB);
  expect(bytesOf(dataDir, '-wal')).toBeLessThan(MAX_WAL_BYTES);
  expect(bytesOf(dataDir)).toBeGreaterThan(40 * MB);
  expect(events[0]).toBe('checkpoint failed');
  const all = await vi.waitFor(() => readAll(log), 120_000);
  expect(all.map(numberOf)).toEqual(range(1, last));
});
