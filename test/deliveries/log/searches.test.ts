import { expect, test } from 'vitest';
import { ReadAbortedError } from '../../../src/deliveries/log/errors.ts';
import type { DeliveryLog, DeliveryRange } from '../../../src/deliveries/log/log.ts';
import { createOperationReads, SearchLimiter } from '../../../src/deliveries/log/search-limits.ts';
import { toClientError } from '../../../src/deliveries/schema/errors.ts';
import { address, delivery, numberOf, openLog, range, TENANT } from '../support/builders.ts';

/** The limits of searches, for one operation and for one client. */

const MANY = 5000;
const RARE = 4600;

/** The first 4096 are in segments. The others are scanned one by one, and one of them has the address. */
const openMany = async (): Promise<DeliveryLog> => {
  const log = await openLog();
  for (let from = 1; from <= MANY; from += 500)
    await log.append(
      range(from, from + 499).map((number) =>
        delivery(number, { addresses: [address(number === RARE ? 1 : 2)], chainId: number % 2 }),
      ),
    );
  return log;
};

const rare: DeliveryRange = { limit: 1, filter: { address: address(1) } };
const never: DeliveryRange = { limit: 1, filter: { address: address(3) } };

const extensionsOf = async (promise: Promise<unknown>): Promise<object> => {
  const error = await promise.then(() => null, toClientError);
  return (error as { extensions: object }).extensions;
};

test('a search that reaches its scan limit ends early with a cursor, and continues from it to the same result', async () => {
  const log = await openMany();
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
  const log = await openMany();
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

test('a client with too many concurrent searches, or an operation that waits too long, gets RATE_LIMITED', async () => {
  const log = await openMany();
  const searchLimiter = new SearchLimiter({ maxPerClient: 2 });
  const by = (client: string) =>
    createOperationReads({ log, tenant: TENANT, client, clientSignal: null, searchLimiter }).read(never);
  const [one, two, three, others] = [by('one'), by('one'), by('one'), by('another')];
  expect(await extensionsOf(three)).toEqual({ code: 'RATE_LIMITED', retryAfterMs: 1000 });
  for (const page of await Promise.all([one, two, others])) expect(page.deliveries).toEqual([]);
  expect((await by('one')).hasMore).toBe(false);
  const hurried = createOperationReads({
    log,
    tenant: TENANT,
    client: 'one',
    clientSignal: null,
    searchLimiter: new SearchLimiter({ maxMs: 0 }),
  });
  expect(await extensionsOf(hurried.read(never))).toEqual({ code: 'RATE_LIMITED', retryAfterMs: 1000 });
});

test('an aborted read ends at once, and others continue', async () => {
  const log = await openMany();
  const clientSignal = new AbortController();
  const given = range(1, 50).map(() => log.read(TENANT, never, { signal: clientSignal.signal }));
  const kept = log.read(TENANT, rare);
  clientSignal.abort();
  for (const read of given) await expect(read).rejects.toThrow(ReadAbortedError);
  await expect(log.read(TENANT, never, { signal: clientSignal.signal })).rejects.toThrow(ReadAbortedError);
  expect((await kept).deliveries.map(numberOf)).toEqual([RARE]);
  await log.check();
});
