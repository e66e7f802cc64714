import { expect, test } from 'vitest';
import { ItemConnection } from '../../../src/graph/pagination/connection.ts';
import { createCursors } from '../../../src/graph/pagination/cursor.ts';
import { digestOf } from '../../../src/graph/pagination/neighbours.ts';
import { walk } from '../../../src/graph/pagination/walk.ts';
import { CountedItems, pageOf } from './support/counted-items.ts';

const walkOver = async (pages: readonly (readonly string[])[], first: number) => {
  const items = pages.map((names) => new CountedItems(names));
  const last = String(items.length - 1);
  const read = async ({ offset }: { readonly offset: string | null }) => {
    const at = Number(offset ?? 0);
    const page = items[at] ?? new CountedItems([]);
    return pageOf(page, String(at) === last ? null : String(at + 1));
  };
  const result = await walk(read, first, null);
  const cursors = createCursors('secret')(['list']);
  const connection = new ItemConnection(cursors, result, false);
  const asked = () => items.reduce((sum, page) => sum + page.asked, 0);
  return { connection, asked, names: connection.entries.map(connection.nodeOf), cursors };
};

test('a page without repeats is walked without the identities and times of its items', async () => {
  const { connection, names, asked } = await walkOver([['a', 'b', 'c'], ['d']], 2);
  expect(names).toEqual(['a', 'b']);
  expect(connection.pageInfo.hasNextPage).toBe(true);
  expect(asked()).toBe(0);
});

test('a cursor is made of the item that it names and of its neighbours alone', async () => {
  const { connection, asked, cursors } = await walkOver([['a', 'b', 'c'], ['d']], 2);
  expect(cursors.read(connection.pageInfo.endCursor ?? '')).toMatchObject({
    identity: 'b',
    index: 1,
    neighbours: { before: [digestOf('a')], after: [digestOf('c')], returned: [], nextOffset: null },
  });
  expect(asked()).toBeLessThanOrEqual(4);
});

test.each([
  ['on one page', [['a', 'b', 'a', 'c', 'b', 'd']]],
  ['on pages that overlap', [['a', 'b'], ['b', 'c'], [], ['c', 'a', 'd']]],
  ['at the ends of a page', [['a', 'a', 'b', 'c', 'd', 'd']]],
])('an item that is repeated %s is walked once', async (_where, pages) => {
  for (const first of [1, 2, 3, 4, 5]) {
    const { names } = await walkOver(pages, first);
    expect(names).toEqual(['a', 'b', 'c', 'd'].slice(0, first));
  }
});
