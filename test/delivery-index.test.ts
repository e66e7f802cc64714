import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DeliveryFilter } from '../src/deliveries/log.ts';
import { searchStatement } from '../src/deliveries/sqlite/search.ts';
import { address, delivery, openLog, range, temporaryDirectory, WEBHOOK } from './deliveries/make.ts';

const FIELDS: DeliveryFilter = {
  webhookIds: [WEBHOOK],
  types: ['balances', 'activities'],
  chainIds: [1, 10],
  address: address(1),
};

const filters = fc
  .subarray(Object.keys(FIELDS) as (keyof DeliveryFilter)[], { minLength: 1 })
  .map((keys): DeliveryFilter => Object.fromEntries(keys.map((key) => [key, FIELDS[key]])));

/** A log as SQLite sees it, with what it knows of its tables after some use. */
const openFile = async (analyzed: boolean): Promise<DatabaseSync> => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir });
  await log.append(range(1, 500).map((number) => delivery(number, { addresses: [address(number % 7)] })));
  await log.close();
  const database = new DatabaseSync(join(dataDir, 'deliveries.db'));
  if (analyzed) database.exec('ANALYZE');
  return database;
};

test.each([false, true])(
  'no filter looks through a table: each is served by an index (analyzed: %s)',
  async (analyzed) => {
    const database = await openFile(analyzed);
    fc.assert(
      fc.property(filters, fc.constantFrom('oldest', 'newest'), (filter, take) => {
        const { sql, values } = searchStatement(filter, take);
        const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(1, 0, 100, ...values, 10);
        const steps = plan.map(({ detail }) => String(detail));
        // The values of a list are a table of their own, and all of it is wanted.
        const looked = steps.filter((step) => /^(SCAN|SEARCH)/.test(step) && !step.includes('json_each'));
        expect(looked.length).toBeGreaterThan(0);
        for (const step of looked)
          expect(step).toMatch(/^SEARCH .* USING (COVERING INDEX|INDEX|PRIMARY KEY) .*\(tenant=\? AND /);
        // The span bounds what is looked at, whatever there is beside it.
        expect(looked[0]).toMatch(/sequence[>=<]/);
      }),
    );
    database.close();
  },
);
