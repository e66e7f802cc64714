import { expect, test } from 'vitest';
import { valuesOf } from '../../src/upstream/page.ts';
import { MalformedFieldError, malformed } from '../../src/upstream/parse/fields.ts';
import type { ItemReader } from '../../src/upstream/parse/items.ts';
import { UNORDERED } from '../../src/upstream/parse/list-order.ts';
import { parsePage } from '../../src/upstream/parse/page-parser.ts';

const reader: ItemReader<{ readonly hash: string }> = {
  itemsField: 'entries',
  read({ hash }) {
    if (typeof hash !== 'string') throw malformed('hash', 'a string', hash);
    return { hash };
  },
  identity: ['hash'],
  order: UNORDERED,
};

test('no stack is captured for a malformed item: for a million of them that took half a minute', async () => {
  const { items } = await parsePage({ entries: Array(1000).fill({}), next_offset: null }, reader, {
    subject: '',
    limit: 1000,
    fetchedAt: 0,
  });
  expect(items).toHaveLength(1000);
  for (const value of valuesOf(items)) {
    expect(value).toBeInstanceOf(MalformedFieldError);
    expect((value as MalformedFieldError).stack).not.toMatch(/^\s+at /m);
  }
  expect(new Error('of another kind').stack).toMatch(/^\s+at /m);
});
