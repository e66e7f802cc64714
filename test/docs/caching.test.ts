import { expect, test } from 'vitest';
import { PAGE_SIZE as COLLECTIBLES, FIRST_PAGE_SIZE } from '../../src/lookups/collectibles-rest.ts';
import { PAGE_SIZE as TRANSACTIONS } from '../../src/lookups/transactions-rest.ts';
import { readPage, rowsOf } from '../support/pages.ts';

test('docs/caching-and-cost.md has the size of each upstream page', async () => {
  const sizes = rowsOf(await readPage('docs/caching-and-cost.md'), 'list').map(([list, items = '']) => [
    list,
    ...(items.match(/\d[\d,]*/g) ?? []).map((number) => Number(number.replace(',', ''))),
  ]);
  expect(sizes).toEqual([
    ['transactions', TRANSACTIONS],
    ['collectibles', FIRST_PAGE_SIZE, COLLECTIBLES],
  ]);
});
