import { expect, test } from 'vitest';
import type { DeliveryRange } from '../../../src/deliveries/log/log.ts';
import { createOperationReads, SearchLimiter } from '../../../src/deliveries/log/read-limits.ts';
import { toClientError } from '../../../src/deliveries/schema/delivery.ts';
import { numberOf, openLog, range, TENANT } from '../support/builders.ts';
import { appendMany, extensionsOf, MANY, never, RARE, rare } from '../support/searches.ts';

/** What the filters of one operation may scan. */

test('a search that reaches its scan limit ends early with a cursor, and continues from it to the same result', async () => {
  const log = await appendMany(await openLog());
  const all = [];
  const scanned = [];
  for (let at: DeliveryRange = { limit: 10, filter: { chainIds: [1] }, maxScanned: 1 }; ; ) {
    const page = await log.read(TENANT, at);
    all.push(...page.deliveries.map(numberOf));
    scanned.push(page.scanned);
    expect(page.hasMore || !page.isCut).toBe(true);
    if (!page.hasMore) break;
    at = { ...at, after: page.scannedTo };
  }
  expect(all).toEqual(range(1, MANY).filter((number) => number % 2 === 1));
  const cut = await log.read(TENANT, { ...never, maxScanned: 100 });
  expect(cut).toMatchObject({ deliveries: [], isCut: true, hasMore: true });
  expect(cut.scanned).toBeGreaterThanOrEqual(100);
  expect(cut.scanned).toBeLessThan(500);
  for (const take of ['oldest', 'newest'] as const) {
    let [page, reads] = [await log.read(TENANT, { ...rare, take, maxScanned: 100 }), 1];
    while (page.deliveries.length === 0 && page.hasMore) {
      const from = take === 'oldest' ? { after: page.scannedTo } : { before: page.scannedTo };
      page = await log.read(TENANT, { ...rare, ...from, take, maxScanned: 100 });
      reads += 1;
    }
    expect(page.deliveries.map(numberOf)).toEqual([RARE]);
    expect(reads).toBeGreaterThan(1);
  }
});

test('the filters of one operation share a scan limit, and the error has the cursor to continue from', async () => {
  const log = await appendMany(await openLog());
  const searchLimiter = new SearchLimiter({ maxScanned: 500 });
  const operation = () =>
    createOperationReads({ log, tenant: TENANT, client: 'one', clientSignal: null, searchLimiter });
  const { read } = operation();
  const first = (await extensionsOf(read(never))) as { code: string; cursor: string };
  expect(first).toEqual({ code: 'OPERATION_TOO_COMPLEX', cursor: expect.any(String) });
  // The limit is used up, also for a search that would find a delivery.
  expect(await extensionsOf(read(rare))).toEqual({ code: 'OPERATION_TOO_COMPLEX' });
  expect((await read({ limit: 1 })).deliveries.map(numberOf)).toEqual([1]);
  // Another operation continues from the cursor.
  let { cursor } = first;
  for (let at = 0; at < 10; at += 1) {
    const next = operation().read({ ...never, after: cursor });
    const error = await next.then(() => null, toClientError);
    if (error === null) return expect((await next).scannedTo).toBe(await log.head(TENANT));
    cursor = (error as { extensions: { cursor: string } }).extensions.cursor;
  }
  expect.fail('it did not get to the end');
});
