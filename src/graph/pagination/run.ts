import type { Page } from '../../upstream/page.ts';
import type { CursorPosition, NextItem } from './cursor.ts';
import type { VisitedPage } from './page-walk.ts';

/** Items of a walk that follow each other on one page: those from `from` on, up to `to`, which is not one of them. */
export type Run<Value> = { readonly visit: VisitedPage<Value>; readonly from: number; readonly to: number };

/** An item of a walk: the page that has it, and its index there. */
export type Entry<Value> = { readonly visit: VisitedPage<Value>; readonly index: number };

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
  const { page, at, recentOffsets } = visit;
  const { items } = page;
  return {
    offset: at.offset,
    index,
    identity: items.identity(index),
    time: items.time(index),
    next: nextOf(page, index),
    recentOffsets,
  };
};

/** Returns the successor of the item at `index` in a list without times; null in a list by time. */
const nextOf = <Value>({ items, nextOffset }: Page<Value>, index: number): NextItem | null => {
  if (items.time(index) !== null) return null;
  if (index + 1 < items.length) return { identity: items.identity(index + 1) };
  return nextOffset === null ? null : { offset: nextOffset };
};
