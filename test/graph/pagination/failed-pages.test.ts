import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ItemConnection } from '../../../src/graph/pagination/connection.ts';
import { createCursors } from '../../../src/graph/pagination/cursor.ts';
import { lengthOf } from '../../../src/graph/pagination/entries.ts';
import { GrowingWalk } from '../../../src/graph/pagination/list-connection.ts';
import { walk } from '../../../src/graph/pagination/walk.ts';
import { MalformedFieldError } from '../../../src/upstream/parse/fields.ts';
import { CountedItems, pageOf } from './support/counted-items.ts';

/** What can't be read of a list fails for each of its readers, also for one that comes later or has left. */

test('after a page that failed each reader gets its error: none asks again, or takes the list to have ended', async () => {
  const failure = new Error('no such page');
  let asked = 0;
  const read = async ({ offset }: { readonly offset: string | null }) => {
    asked += 1;
    if (offset !== null) throw failure;
    return pageOf(new CountedItems(['a', 'b']), '1');
  };
  const growing = await GrowingWalk.begin(read, 10, null);
  await expect(growing.ended()).rejects.toBe(failure);
  let entries = 0;
  const readAll = async () => {
    for await (const runs of growing.pages()) entries += lengthOf(runs);
  };
  await expect(readAll()).rejects.toBe(failure);
  expect(entries).toBe(2);
  await expect(growing.ended()).rejects.toBe(failure);
  expect(asked).toBe(2);
});

class MalformedItems extends CountedItems {
  override value(): MalformedFieldError {
    return new MalformedFieldError('hash', 'Expected a hash, got none');
  }
}

test('the error of an item that its reader has left is no unhandled rejection', async () => {
  const result = await walk(async () => pageOf(new MalformedItems(['a']), null), 1, null);
  const connection = new ItemConnection(createCursors('secret')(['list']), result, false);
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const left = connection.entries.flatMap((entry) => [connection.nodeOf(entry), connection.edgeOf(entry)]);
  expect(left).toEqual([expect.any(Promise), expect.any(Promise)]);
  await nextTurn();
  await nextTurn();
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});
