import type { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DeliveryFilter } from '../../../src/deliveries/log/log.ts';
import { TOO_OLD_SQL } from '../../../src/deliveries/sqlite/retention.ts';
import {
  POSTING_SQL,
  POSTINGS_SQL,
  segmentsSql,
  tailStatement,
} from '../../../src/deliveries/sqlite/search.ts';
import { address, delivery, openLog, range, temporaryDirectory, WEBHOOK } from '../support/builders.ts';
import { openFile } from '../support/stored.ts';

const FIELDS: DeliveryFilter = {
  webhookIds: [WEBHOOK],
  types: ['balances', 'activities'],
  chainIds: [1, 10],
  addresses: [[address(1), address(2)]],
};

const filters = fc
  .subarray(Object.keys(FIELDS) as (keyof DeliveryFilter)[], { minLength: 1 })
  .map((keys): DeliveryFilter => Object.fromEntries(keys.map((key) => [key, FIELDS[key]])));

/** Opens the file of a log with 500 deliveries, with SQLite's statistics if `analyzed`. */
const openAnalyzed = async (analyzed: boolean): Promise<DatabaseSync> => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir });
  await log.append(range(1, 500).map((number) => delivery(number, { addresses: [address(number % 7)] })));
  await log.close();
  const database = openFile(dataDir);
  if (analyzed) database.exec('ANALYZE');
  return database;
};

test.each([false, true])('no filter scans a table: each uses an index (analyzed: %s)', async (analyzed) => {
  const database = await openAnalyzed(analyzed);
  const steps = (sql: string, ...values: (string | number)[]): string[] =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map(({ detail }) => String(detail))
      // The values of a JSON list are a table of their own, which is read whole.
      .filter((step) => /^(SCAN|SEARCH)/.test(step) && !step.includes('json_each'));
  fc.assert(
    fc.property(filters, fc.constantFrom('oldest', 'newest'), (filter, take) => {
      const { sql, values } = tailStatement(filter, take);
      // The range bounds the rows that are read, whatever the filter.
      expect(steps(sql, 1, 0, 1, 100, ...values, 10)).toEqual([
        'SEARCH delivery USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
      ]);
      const bySegment = steps(segmentsSql(take), 1, 1, 100);
      expect(bySegment).toHaveLength(2);
      for (const step of bySegment) expect(step).toMatch(/USING PRIMARY KEY \(tenant=\? AND first[<>]/);
    }),
  );
  for (const [sql, terms] of [
    [POSTING_SQL, 'type balances'],
    [POSTINGS_SQL, '["type balances"]'],
  ] as const)
    expect(steps(sql, 1, 1, terms)).toEqual([
      'SEARCH posting USING PRIMARY KEY (tenant=? AND segment=? AND term=?)',
    ]);
  expect(steps(TOO_OLD_SQL, 1)).toEqual(['SEARCH tenant USING COVERING INDEX tenant_oldest (oldest<?)']);
  database.close();
});
