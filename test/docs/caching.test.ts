import { expect, test } from 'vitest';
import { lookups } from '../../src/lookups/registry.ts';
import { readPage, rowsOf } from '../support/pages.ts';

test('docs/caching-and-cost.md has the size of each upstream page', async () => {
  const sizes = rowsOf(await readPage('docs/caching-and-cost.md'), 'list').map(([list, items = '']) => [
    list,
    ...(items.match(/\d[\d,]*/g) ?? []).map((number) => Number(number.replace(',', ''))),
  ]);
  expect(sizes).toEqual(
    lookups.map(({ name, pageSizes }) => [name, ...new Set([pageSizes.newest, pageSizes.older])]),
  );
});
