import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sequenceIn } from '../../../src/deliveries/log/cursor.ts';
import { LogDamagedError, LogOpenError } from '../../../src/deliveries/log/errors.ts';
import type { DeliveryLog } from '../../../src/deliveries/log/log.ts';
import { WriteStore } from '../../../src/deliveries/sqlite/appender.ts';
import { packDeliveries, unpackPlacements } from '../../../src/deliveries/sqlite/threads/packing.ts';
import { SqliteReader } from '../../../src/deliveries/sqlite/threads/reader-thread.ts';
import { Writer } from '../../../src/deliveries/sqlite/threads/writer-thread.ts';
import { delivery, HOUR_MS, openLog, range, temporaryDirectory } from '../support/builders.ts';
import { changeFile, loseDelivery } from '../support/stored.ts';

/** The folder and the path of a log that holds three deliveries and is not open. */
const closedLog = async () => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir });
  await log.append(range(1, 3).map((number) => delivery(number)));
  await log.close();
  return { dataDir, path: join(dataDir, 'deliveries.db') };
};

test.each([
  ['the writer', (path: string) => new WriteStore(path, { create: false, check: false })],
  ['the reader', (path: string) => new SqliteReader(path)],
])('%s closes its connection to a log that it fails to open', async (_who, open) => {
  const { dataDir, path } = await closedLog();
  changeFile(dataDir, 'DELETE FROM log');
  expect(() => open(path)).toThrow(LogOpenError);
  // The last connection to close removes it.
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test('a writer that finds its log damaged stores nothing until it has opened an undamaged one', async () => {
  const { dataDir, path } = await closedLog();
  const writer = new Writer(path);
  writer.open({ create: false });
  const append = () => writer.append(packDeliveries([delivery(4)]));
  const putBack = loseDelivery(dataDir, 2);
  expect(() => writer.open({ create: false })).toThrow(LogOpenError);
  await expect(append()).rejects.toThrow(LogDamagedError);
  await expect(append()).rejects.toThrow(LogDamagedError);

  putBack();
  writer.open({ create: false });
  expect(unpackPlacements(await append())).toMatchObject([{ sequence: 4, duplicate: false }]);
  writer.close();
});

test('a reopened log has the same heads: of tenants with stored, with trimmed and with no deliveries', async () => {
  let now = 1_000_000;
  const options = { dataDir: await temporaryDirectory(), now: () => now };
  const log = await openLog(options);
  await log.append(range(1, 3).map((number) => delivery(number, { tenant: 'trimmed' })));
  await log.append(
    range(1, 2).map((number) => delivery(number, { tenant: 'stored', receivedAt: now + HOUR_MS })),
  );
  now += HOUR_MS + 10;
  await log.trim();
  const headsOf = (one: DeliveryLog) =>
    Promise.all(['trimmed', 'stored', 'none'].map((tenant) => one.head(tenant)));
  const before = await headsOf(log);
  expect(before.map(sequenceIn)).toEqual([3, 2, 0]);
  expect((await log.read('trimmed', { limit: 1 })).deliveries).toEqual([]);
  await log.close();
  expect(await headsOf(await openLog(options))).toEqual(before);
});
