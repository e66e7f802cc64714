import { expect, test } from 'vitest';
import {
  address,
  appendNumbers,
  delivery,
  openLog,
  TENANT,
  temporaryDirectory,
} from '../support/builders.ts';
import { changeFile, openFile } from '../support/stored.ts';

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
