import { ItemEdge } from '../../graph/pagination/connection.ts';
import type { ListCursors } from '../../graph/pagination/cursor.ts';

/**
 * The edge of an item that a change has put into a list, for a client to add to what it shows. No page has brought it:
 * its cursor looks for the item from the list's start.
 */
export const edgeOf = <Value>(cursors: ListCursors, identity: string, node: Value): ItemEdge<Value> =>
  new ItemEdge(node, cursors, {
    item: { identity, time: null, value: node },
    position: { offset: null, index: 0, identity, time: null, next: null, recentOffsets: [] },
  });
