import type { ReadPage } from '../../upstream/list-loader.ts';
import type { PageItems } from '../../upstream/page.ts';
import type { MergedPage, Run } from './entries.ts';
import type { Returned } from './neighbours.ts';
import { pageBehind, type VisitedPage } from './page-walk.ts';
import { isInOrder, knowsWhole, mayHaveTime } from './same-time.ts';

/** A page of a walk, and what the walk knows of its items. */
export type NotedPage<Value> = {
  readonly visit: VisitedPage<Value>;
  readonly returned: Returned;
  /** Whether no page before had the item; null if none had any. */
  readonly isNew: readonly boolean[] | null;
  /** The indexes of items that the walk had come to on pages that were merged before. */
  readonly passed: readonly number[];
};

/** Where pages are joined to those before them. */
export type Seam = {
  /** Whether the walk adds a new item: by its place among all items of the pages. */
  readonly adds: (place: number) => boolean;
  /**
   * What it can't be sure of: whether `newer` items than the last one, which it adds, are behind it, as where a service does
   * not keep to its order; whether items of the `same` time were returned before the walk was continued. Null for nothing.
   */
  readonly doubt: 'newer' | 'same' | null;
  /** The time of the last item, where the pages may have shifted; otherwise null. */
  readonly time: number | null;
};

/**
 * Joins the next pages of a walk to those before them, the last of which is `last`. Null when only the page after them can
 * show where they continue.
 *
 * Only items that arrive at the head of a list by time shift its pages as a whole. A page that has shifted begins with items
 * from before the last one: the new ones among them have arrived since, and are left out, except those of the last one's
 * time, since the walk knows what it has returned of that. In any other list, and where the service does not keep to its
 * order, a repeated item says nothing about the others, so nothing is left out.
 */
export const findSeam = <Value>(
  last: MergedPage<Value>,
  pages: readonly NotedPage<Value>[],
  isLastPage: boolean,
): Seam | null => {
  const time = last.page.items.order === 'newestFirst' ? lastTimeOf(last) : null;
  if (time === null) return ADDS_ALL;
  const isWhole = knowsTime(last, time);
  if (isWhole && pages.every((page) => hasNotShifted(page, time))) return ADDS_ALL;
  if (!keepsOrder(last, pages)) return ADDS_ALL;
  const all = pages.flatMap(placedItems);
  const passed = all.findLastIndex(({ isPassed, rank }) => isPassed && rank !== null && rank >= time);
  const hasNewer = all.some(({ isNew, rank }, place) => place > passed && isNew && (rank ?? time) > time);
  const isDecided = isLastPage || all.some(({ rank }) => (rank ?? time) < time);
  if (!isDecided && (isWhole ? hasNewer : !hasInPlace(pages, last, time))) return null;
  const isOfTime = (place: number) => mayHaveTime(all[place]?.rank ?? null, time);
  // Either the last item has moved behind these, or the walk had returned them before it was continued here.
  const hasUnknown = !isWhole && all.some(({ isNew }, place) => place < passed && isNew && isOfTime(place));
  const doubt = hasUnknown ? 'same' : hasNewer ? 'newer' : null;
  return { adds: (place) => place > passed || isOfTime(place), doubt, time };
};

export const ADDS_ALL: Seam = { adds: () => true, doubt: null, time: null };

type PlacedItem = { readonly rank: number | null; readonly isNew: boolean; readonly isPassed: boolean };

const placedItems = <Value>({ visit, isNew, passed }: NotedPage<Value>): PlacedItem[] => {
  const { items } = visit.page;
  const indexes = new Set(passed);
  return Array.from({ length: items.length }, (_, index) => ({
    rank: items.rank(index),
    isNew: isNew?.[index] ?? true,
    isPassed: indexes.has(index),
  }));
};

/** Whether a page begins right behind the last item, as far as its times show. */
const hasNotShifted = <Value>({ visit, returned }: NotedPage<Value>, time: number): boolean => {
  const { items } = visit.page;
  const first = items.length > 0 ? items.rank(0) : time;
  return returned.indexes.length === 0 && first !== null && first <= time;
};

/** Whether the pages repeat the last item with its time. */
const hasInPlace = <Value>(
  pages: readonly NotedPage<Value>[],
  last: MergedPage<Value>,
  time: number,
): boolean => {
  const before = pagesUpTo(last).find(({ page }) => page.items.length > 0)?.page.items;
  const identity = before === undefined ? null : before.identity(before.length - 1);
  return pages.some(({ visit }) => {
    const { items } = visit.page;
    const index = identity === null ? -1 : items.indexOf(identity);
    return index >= 0 && mayHaveTime(items.rank(index), time);
  });
};

/**
 * Whether the last page of a walk still has one of the items of `runs`, with its time. If so, what the next page shows is behind
 * it.
 */
export const isStillThere = async <Value>(
  read: ReadPage<Value>,
  { at, lead, page: { items } }: MergedPage<Value>,
  runs: readonly Pick<Run<Value>, 'from' | 'to'>[],
): Promise<boolean> => {
  if (runs.length === 0) return false;
  // An operation that reads what it has read before gets the same page: this one is read as what follows the last item.
  const follows = items.identity(items.length - 1);
  const now = pageBehind(await read({ ...at, follows, freshness: 'bypass' }), lead).items;
  return runs.some(({ from, to }) => {
    for (let index = from; index < to; index += 1) {
      const found = now.indexOf(items.identity(index));
      if (found >= 0 && now.rank(found) === items.rank(index)) return true;
    }
    return false;
  });
};

const keepsOrder = <Value>(last: MergedPage<Value>, pages: readonly NotedPage<Value>[]): boolean =>
  [...pages.map(({ visit }) => visit), ...pagesUpTo(last)].every(({ page }) => isInOrder(page.items));

/** The pages of a walk up to one of them, the last first. */
function* pagesUpTo<Value>(last: MergedPage<Value>): Generator<MergedPage<Value>, undefined> {
  for (let page = last; ; ) {
    yield page;
    if (!('page' in page.behind)) return;
    page = page.behind;
  }
}

/** The time of the last item; null if no item has one. */
const lastTimeOf = <Value>(last: MergedPage<Value>): number | null => {
  for (const { page } of pagesUpTo(last)) {
    const rank = lastRank(page.items);
    if (rank !== null) return rank;
  }
  return null;
};

/** The rank of the last item that has one; null if none has. */
export const lastRank = (items: PageItems<unknown>): number | null => {
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const rank = items.rank(index);
    if (rank !== null) return rank;
  }
  return null;
};

/** Whether the walk knows all that it has returned of the time of its last items. */
const knowsTime = <Value>(last: MergedPage<Value>, time: number): boolean => {
  for (const { page, behind } of pagesUpTo(last)) {
    const { items } = page;
    for (let index = items.length - 1; index >= 0; index -= 1)
      if (!mayHaveTime(items.rank(index), time)) return true;
    if (!('page' in behind)) return knowsWhole(behind, time);
  }
  return false;
};
