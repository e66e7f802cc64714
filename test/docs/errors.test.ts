import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/graph/errors.ts';
import { lookups } from '../../src/lookups/registry.ts';
import { readPage, rowsOf } from '../support/pages.ts';

test('docs/errors-and-limits.md has every error code, in the order of the catalogue, and no other', async () => {
  const rows = rowsOf(await readPage('docs/errors-and-limits.md'), 'code');
  expect(rows.flatMap(([codes = '']) => codes.split(', '))).toEqual(ERROR_CODES);
});

test('docs/errors-and-limits.md has the largest `first` of each lookup', async () => {
  const rows = rowsOf(await readPage('docs/errors-and-limits.md'), 'what');
  for (const { name, maxItems } of lookups) {
    const limits = rows.flatMap(([what = '', limit = '']) =>
      /^`first` of (.*)/.exec(what)?.[1]?.split(', ').includes(name) ? [limit] : [],
    );
    expect([name, ...limits]).toEqual([name, `${maxItems.toLocaleString('en')}; 20 by default`]);
  }
});
