import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  address,
  appendNumbers,
  delivery,
  openLog,
  TENANT,
  temporaryDirectory,
} from '../support/builders.ts';
import { changeFile, openFile, storeMany } from '../support/stored.ts';

test('an address is not found once its delivery was trimmed', async () => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir, retentionCount: 1 });
  await log.append([delivery(1, { addresses: [address(1), address(2)] }), delivery(2)]);
  await log.trim();
  const page = await log.read(TENANT, { limit: 10, filter: { addresses: [[address(1)]] } });
  expect(page.deliveries).toEqual([]);
  // Its index entry is deleted, too, once the deliveries in the same segment are trimmed.
  await appendNumbers(log, [3]);
  await log.trim();
  await log.close();
  const database = openFile(dataDir);
  for (const table of ['posting', 'segment', 'identity'])
    expect(database.prepare(`SELECT count(*) AS left FROM ${table}`).get()?.left).toBe(0);
  database.close();
});

test('with malformed rows of one tenant, the log opens, and retention drops what is due of all', async () => {
  const dataDir = await temporaryDirectory();
  const first = await openLog({ dataDir });
  for (const tenant of ['malformed', 'whole'])
    await first.append([1, 2, 3].map((number) => delivery(number, { tenant })));
  await first.close();
  changeFile(
    dataDir,
    `UPDATE delivery SET identity = x'', addresses = char(0)
    WHERE tenant = (SELECT id FROM tenant WHERE name = 'malformed')`,
  );

  const log = await openLog({ dataDir, retentionCount: 2 });
  await log.append([4, 5].map((number) => delivery(number, { tenant: 'malformed' })));
  await log.trim();
  for (const [tenant, left] of [
    ['whole', [2, 3]],
    ['malformed', [4, 5]],
  ] as const)
    expect((await log.read(tenant, { limit: 9 })).deliveries.map(({ sequence }) => sequence)).toEqual(left);
});

test('the file shrinks when most of it is dropped, while deliveries are stored and read; one of an earlier format does not', async () => {
  const sizesOf = async (prepare: string, atMost: number) => {
    const dataDir = await temporaryDirectory();
    storeMany(dataDir, { tenants: 1, each: 150_000, receivedAt: 1_000_000 }).close();
    changeFile(dataDir, prepare);
    const size = () => statSync(join(dataDir, 'deliveries.db')).size;
    const full = size();
    const damaged: unknown[] = [];
    const log = await openLog({
      dataDir,
      retentionCount: 100,
      observer: { damaged: (error) => damaged.push(error) },
    });
    let isTrimmed = false;
    const trimmed = log.trim().then(() => {
      isTrimmed = true;
    });
    for (let number = 1_000_000; !isTrimmed; number += 1) {
      const [stored] = await log.append([delivery(number, { tenant: 't1' })]);
      expect((await log.get('t1', stored?.cursor ?? ''))?.sequence).toBe(stored?.sequence);
    }
    await trimmed;
    expect(damaged).toEqual([]);
    const { deliveries } = await log.read('t1', { limit: 1000, take: 'newest' });
    expect(deliveries.length).toBeGreaterThanOrEqual(100);
    // While the log is open: a reader may delay what cuts the file.
    await vi.waitFor(() => expect(size()).toBeLessThanOrEqual(full * atMost), 60_000);
    const shrunk = size();
    await log.close();
    await (await openLog({ dataDir })).close();
    return { full, shrunk };
  };
  const { full } = await sizesOf('SELECT 1', 1 / 3);
  expect(full).toBeGreaterThan(8_000_000);
  const earlier = await sizesOf('PRAGMA auto_vacuum = NONE; VACUUM', 1.1);
  expect(earlier.shrunk).toBeGreaterThan(earlier.full * 0.9);
});
