import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/graph/errors.ts';
import { readPage, rowsOf } from '../support/pages.ts';

test('docs/errors-and-limits.md has every error code, in the order of the catalogue, and no other', async () => {
  const rows = rowsOf(await readPage('docs/errors-and-limits.md'), 'code');
  expect(rows.flatMap(([codes = '']) => codes.split(', '))).toEqual(ERROR_CODES);
});
