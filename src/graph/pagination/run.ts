import type { CursorPosition } from './cursor.ts';
import { neighboursOf, type Returned } from './neighbours.ts';
import type { VisitedPage } from './page-walk.ts';

/** A page of a walk, and what the walk had returned before it. */
type MergedPage<Value> = VisitedPage<Value> & { readonly returned: Returned };

/** Items of a walk that follow each other on one page: those from `from` on, up to `to`, which is not one of them. */
export type Run<Value> = { readonly visit: MergedPage<Value>; readonly from: number; readonly to: number };

/** An item of a walk: the page that has it, and its index there. */
export type Entry<Value> = { readonly visit: MergedPage<Value>; readonly index: number };

/** The number of items of all runs. */
export const lengthOf = (runs: readonly Run<unknown>[]): number =>
  runs.reduce((length, { from, to }) => length + to - from, 0);

/** The items of all runs, in their order. */
export const entriesOf = <Value>(runs: readonly Run<Value>[]): Entry<Value>[] =>
  runs.flatMap(({ visit, from, to }) =>
    Array.from({ length: to - from }, (_, offset) => ({ visit, index: from + offset })),
  );

/** What a cursor says of the item. */
export const positionOf = <Value>({ visit, index }: Entry<Value>): CursorPosition => {
  const { at, recentOffsets, returned } = visit;
  const { items } = visit.page;
  const rank = items.rank(index);
  const staysInPlace = items.order === 'newestFirst' && rank !== null;
  return {
    offset: at.offset,
    index,
    identity: items.identity(index),
    rank,
    neighbours: staysInPlace ? null : neighboursOf(visit.page, index, returned),
    recentOffsets,
  };
};
