import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { DeliveryFilter, DeliveryLog, NewDelivery } from '../../../src/deliveries/log/log.ts';
import {
  address,
  delivery,
  numberOf,
  openLog,
  range,
  readAll,
  TENANT,
  temporaryDirectory,
} from '../support/builders.ts';

/** More than wait for an index at a time. A segment of the last ones has been begun. */
const MANY = 10_600;
const AT_ONCE = 200;
const OTHER_WEBHOOK = '0190a3f4-0000-7000-8000-000000000002';

const varied = (number: number, tenant = TENANT): NewDelivery =>
  delivery(number, {
    tenant,
    ...(number % 3 === 0 && { webhookId: OTHER_WEBHOOK }),
    type: number % 5 === 0 ? null : 'balances',
    chainId: number % 7,
    addresses: [address(1), address(number % 1000), address(100_000 + number)],
    ...(number % 4 === 3 && { subscribedAddress: address(number % 1000) }),
  });

const fill = async (log: DeliveryLog, from: number, to: number, tenant?: string) => {
  const duplicates: boolean[] = [];
  for (let start = from; start <= to; start += AT_ONCE) {
    const batch = range(start, Math.min(to, start + AT_ONCE - 1)).map((number) => varied(number, tenant));
    for (const { duplicate } of await log.append(batch)) duplicates.push(duplicate);
  }
  return duplicates;
};

/** Reads how far the first tenant's deliveries are in segments, how many postings are beyond, and how many identities. */
const indexedIn = (dataDir: string) => {
  const database = new DatabaseSync(join(dataDir, 'deliveries.db'), { readOnly: true });
  const countOf = (sql: string) =>
    Number(database.prepare(`SELECT count(*) AS count FROM ${sql}`).get()?.count);
  const indexed = Number(database.prepare('SELECT indexed FROM tenant WHERE id = 1').get()?.indexed);
  const begun = countOf(`posting WHERE tenant = 1 AND segment > ${indexed}`);
  const identities = countOf('identity WHERE tenant = 1');
  database.close();
  return { indexed, begun, identities };
};

const FILTERS: readonly (readonly [DeliveryFilter, (number: number) => boolean])[] = [
  [{ addresses: [[address(7)]] }, (number) => number % 1000 === 7],
  [{ addresses: [[address(100_000 + 4444)]] }, (number) => number === 4444],
  // Each delivery has one address of both kinds: delivery 7 has both that are wanted.
  [{ addresses: [[address(7), address(100_007)]] }, (number) => number % 1000 === 7],
  [{ webhookIds: [OTHER_WEBHOOK], types: ['balances'] }, (number) => number % 3 === 0 && number % 5 !== 0],
  [
    { addresses: [[address(1)]], chainIds: [2, 3], webhookIds: [OTHER_WEBHOOK] },
    (number) => number % 3 === 0 && [2, 3].includes(number % 7),
  ],
  [{ addresses: [[address(1)]], types: ['activities'] }, () => false],
];

const numbersBy = async (log: DeliveryLog, filter: DeliveryFilter, take: 'oldest' | 'newest') => {
  const numbers: number[] = [];
  for (let at: string | undefined; ; ) {
    const from = take === 'oldest' ? { after: at } : { before: at };
    const page = await log.read(TENANT, { ...from, take, filter, limit: 300 });
    const found = page.deliveries.map(numberOf);
    numbers.push(...(take === 'oldest' ? found : found.reverse()));
    if (!page.hasMore) return take === 'oldest' ? numbers : numbers.reverse();
    at = page.scannedTo;
  }
};

/**
 * Stores deliveries until some are indexed, some are being indexed and some are not indexed yet: which are depends on how
 * idle the machine is. Returns how many they are.
 */
const fillPartly = async (dataDir: string): Promise<number> => {
  for (let count = 0, more = MANY; count < 3 * MANY; more = AT_ONCE) {
    const log = await openLog({ dataDir });
    await fill(log, count + 1, count + more);
    count += more;
    if (more === MANY) await fill(log, 1, 400, 'other');
    await log.close();
    const { indexed, begun, identities } = indexedIn(dataDir);
    const isPartly = indexed > count / 4 && indexed < count && begun > 0;
    if (isPartly && identities > 0 && identities < count) return count;
  }
  throw new Error('Expected a log of which a part is indexed, got none.');
};

test('a filter finds what is indexed, being indexed and not indexed yet, also after the log was reopened', async () => {
  const dataDir = await temporaryDirectory();
  const count = await fillPartly(dataDir);
  const again = await openLog({ dataDir });
  for (const [filter, matches] of FILTERS) {
    const expected = range(1, count).filter(matches);
    expect(await numbersBy(again, filter, 'oldest')).toEqual(expected);
    expect(await numbersBy(again, filter, 'newest')).toEqual(expected);
  }
  const repeated = await again.append(range(1, count).map((number) => varied(number)));
  expect(repeated.map(({ sequence }) => sequence)).toEqual(range(1, count));
  expect(repeated.every(({ duplicate }) => duplicate)).toBe(true);
  expect((await fill(again, 1, 400, 'other')).every((duplicate) => duplicate)).toBe(true);
  // A merge that was interrupted starts again, with more identities.
  await fill(again, count + 1, count + MANY);
  for (const [filter, matches] of FILTERS)
    expect(await numbersBy(again, filter, 'oldest')).toEqual(range(1, count + MANY).filter(matches));
});

test('a trimmed delivery is in no index, and is stored again when it is sent again', async () => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir, retentionCount: 500 });
  await fill(log, 1, MANY);
  await log.trim();
  expect((await readAll(log)).map(numberOf)).toEqual(range(MANY - 499, MANY));
  expect(await numbersBy(log, { addresses: [[address(1)]] }, 'oldest')).toEqual(range(MANY - 499, MANY));
  expect(await fill(log, MANY - 499, MANY)).not.toContain(false);
  expect(await fill(log, 1, 1000)).not.toContain(true);
  await log.trim();
  expect(await numbersBy(log, { addresses: [[address(1)]] }, 'newest')).toEqual(range(501, 1000));
  await log.close();
  expect(indexedIn(dataDir).identities).toBeLessThanOrEqual(500);
});

/** Two deliveries with different identities that begin with the same four bytes. */
const sameHashPrefix = (): readonly [NewDelivery, NewDelivery] => {
  const known = new Map<string, NewDelivery>();
  for (let number = 1; ; number += 1) {
    const one = delivery(number);
    const identity = hash('sha256', `${one.webhookId}\n${Buffer.from(one.body).toString()}`).slice(0, 8);
    const other = known.get(identity);
    if (other !== undefined) return [other, one];
    known.set(identity, one);
  }
};

test('deliveries whose identities begin with the same bytes are not duplicates', async () => {
  const log = await openLog();
  const [one, other] = sameHashPrefix();
  const appended = await log.append([one, other, { ...one, tenant: 'another' }, one, other]);
  expect(appended.map(({ sequence, duplicate }) => [sequence, duplicate])).toEqual([
    [1, false],
    [2, false],
    [1, false],
    [1, true],
    [2, true],
  ]);
});
