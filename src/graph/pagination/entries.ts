import type { PageItems } from '../../upstream/page.ts';
import type { CursorPosition } from './cursor.ts';
import {
  digestAt,
  NEIGHBOURS,
  type Neighbours,
  neighboursOf,
  type Returned,
  returnedBehind,
} from './neighbours.ts';
import type { VisitedPage } from './page-walk.ts';
import { isInOrder, knowsWhole, mayHaveTime, type ReturnedOfTime } from './same-time.ts';

/** A page of a walk, and what the walk had returned before it. */
export type MergedPage<Value> = VisitedPage<Value> & {
  readonly returned: Returned;
  /** The page before, or what was known where the walk started. */
  readonly behind: MergedPage<Value> | ReturnedOfTime;
  /** Whether it may begin with items from before the end of the page before. Default: false. */
  readonly hasShifted?: boolean;
};

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

/** What a cursor says about the item. */
export const positionOf = <Value>({ visit, index }: Entry<Value>): CursorPosition => {
  const { at, page, recentOffsets, returned } = visit;
  const { items } = page;
  const isByTime = items.order === 'newestFirst';
  const rank = isByTime ? timeAt(items, index) : items.rank(index);
  return {
    offset: at.offset,
    index,
    identity: items.identity(index),
    rank,
    neighbours:
      isByTime && rank !== null && isInOrder(items)
        ? neighboursOfTime(visit, index, rank)
        : neighboursOf(page, index, returned),
    recentOffsets,
    lead: items.leadAt(index),
  };
};

/** The time of an item. One that can't be parsed counts as having the time of the one before it. */
const timeAt = (items: PageItems<unknown>, index: number): number | null => {
  for (let at = index; at >= 0; at -= 1) {
    const rank = items.rank(at);
    if (rank !== null) return rank;
  }
  return null;
};

/** A cursor remembers that many items of its time, so that it knows all of most times. */
const MAX_OF_TIME = 16;

const neighboursOfTime = (visit: MergedPage<unknown>, index: number, time: number): Neighbours => {
  const { items } = visit.page;
  const returned = returnedBehind(items, index, visit.returned);
  const last = index > 0 ? items.rank(index - 1) : null;
  const isFirst = last !== null && last !== time && !visit.hasShifted;
  const before = isFirst ? NONE : returnedOfTime(visit, index, time);
  const after: string[] = [];
  for (let next = index + 1; !before.isWhole && next < items.length && after.length < NEIGHBOURS; next += 1) {
    if (!mayHaveTime(items.rank(next), time)) break;
    after.push(digestAt(items, next));
  }
  const ofTime = before.isWhole ? 'whole' : 'part';
  return { before: before.digests, after, returned, nextOffset: null, ofTime };
};

type OfTime = Pick<ReturnedOfTime, 'digests' | 'isWhole'>;

const NONE: OfTime = { digests: [], isWhole: true };

/** The last items of a time that a walk returned before one, also on the pages before. */
const returnedOfTime = (visit: MergedPage<unknown>, index: number, time: number): OfTime => {
  /** One more than is remembered, the last first. */
  const found = new Set<string>();
  let isWhole: boolean | null = null;
  let at = index;
  for (let merged: MergedPage<unknown> | null = visit; merged !== null && isWhole === null; ) {
    const { behind, hasShifted }: MergedPage<unknown> = merged;
    const { items } = merged.page;
    for (at -= 1; at >= 0 && mayHaveTime(items.rank(at), time) && found.size <= MAX_OF_TIME; at -= 1)
      found.add(digestAt(items, at));
    if (at >= 0 && !hasShifted) isWhole = true;
    else if ('page' in behind) at = behind.page.items.length;
    else {
      isWhole = knowsWhole(behind, time);
      if (behind.time === time) for (const digest of behind.digests.toReversed()) found.add(digest);
    }
    merged = 'page' in behind ? behind : null;
  }
  const digests = [...found].slice(0, MAX_OF_TIME).reverse();
  return { digests, isWhole: isWhole === true && found.size <= MAX_OF_TIME };
};
