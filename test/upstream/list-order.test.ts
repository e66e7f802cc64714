import { expect, test } from 'vitest';
import { ReceivedBody } from '../../src/upstream/client/body.ts';
import { createPageKernel } from '../../src/upstream/kernel/page-kernel.ts';
import { descendingBy, type ListOrder, newestFirst, UNORDERED } from '../../src/upstream/parse/list-order.ts';
import { createPageParser } from '../../src/upstream/parse/page-parser.ts';
import { nullable, readRecord, required } from '../../src/upstream/parse/record.ts';

const TABLE = {
  name: 'balance',
  fields: {
    token: required('token', 'string'),
    seen: nullable('seen', 'time'),
    value: nullable('value', 'decimal'),
  },
} as const;

const read = readRecord(TABLE);

/** An item without a number, one that only the plain reader takes, and one that is malformed. */
const BODY = JSON.stringify({
  balances: [
    { token: 'a', value: '1234567890123456789012345.5', seen: '2025-01-01T00:00:02Z' },
    { token: 'b', value: 20.5, seen: '2025-01-01T00:00:01Z' },
    { token: 'c', value: null, seen: '2025-01-01T00:00:00Z' },
    { token: 'd', value: '-3', seen: '1970-01-01T00:00:01+00:00' },
    { token: 5, value: '-4', seen: '1970-01-01T00:00:00Z' },
  ],
});

const ranksBy = async (order: ListOrder<'seen' | 'value'>, isIndexed: boolean) => {
  const list = {
    itemsField: 'balances',
    table: TABLE,
    subject: 'wallet',
    identity: ['token'],
    order,
  } as const;
  const parser = createPageParser<ReturnType<typeof read>>(list, { ...list, read });
  const received = new ReceivedBody([Buffer.from(BODY)], 'application/json', null);
  const body = await parser.parseBody(received, 100, isIndexed ? createPageKernel() : null);
  expect('page' in body).toBe(isIndexed);
  const { items } = await parser.toPage(body, { subject: '0x', limit: 100, fetchedAt: 0 });
  expect(items.order).toBe(order.kind);
  return Array.from({ length: items.length }, (_, index) => items.rank(index));
};

test.each([
  [UNORDERED, [null, null, null, null, null]],
  [descendingBy('value'), [1.2345678901234568e24, 20.5, null, -3, null]],
  [newestFirst('seen'), [1735689602000, 1735689601000, 1735689600000, 1000, null]],
] as const)('the ranks of a list that is $kind are the same in both readers', async (order, ranks) => {
  expect(await ranksBy(order, false)).toEqual(ranks);
  expect(await ranksBy(order, true)).toEqual(ranks);
});
