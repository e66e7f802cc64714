import type { Page } from '../../upstream/cache/page-cache.ts';
import type { ReadPage } from '../../upstream/list-loader.ts';
import type { PageItem } from '../../upstream/parse/page-parser.ts';
import type { CursorPosition, NextItem } from './cursor.ts';
import { MAX_PAGES, type VisitedPage, type WalkStart, walkPages } from './page-walk.ts';

/** An item, and what its cursor says of it. */
export type Entry<Value> = { readonly item: PageItem<Value>; readonly position: CursorPosition };

/** A page, and the items that it adds to the walk. */
export type PageSlice<Value> = {
  readonly page: Page<PageItem<Value>>;
  readonly entries: readonly Entry<Value>[];
};

/**
 * Where a shifted page continues the walk: at `index`, behind the last item. `includesLast`: the page repeats that item,
 * so everything on the pages read since lies before it.
 */
type Seam = { readonly index: number; readonly includesLast: boolean };

/**
 * Merges the pages from `start` on into one list: yields each page with the items that it adds. Items arrive at the head
 * meanwhile, so a page may repeat items of the page before. A page that does not show where it continues waits for the
 * next one, for at most MAX_PAGES pages.
 */
export async function* mergePages<Value>(
  read: ReadPage<PageItem<Value>>,
  start: WalkStart,
): AsyncGenerator<PageSlice<Value>, void, undefined> {
  const seen = new Set<string>();
  let last: PageItem<Value> | null = null;
  let pending: VisitedPage<Value>[] = [];
  for await (const visit of walkPages(read, start)) {
    const { items, nextOffset } = visit.page;
    pending.push(visit);
    const isLastPage = nextOffset === null || pending.length === MAX_PAGES;
    const seam: Seam | null =
      last === null ? { index: start.index, includesLast: false } : findSeam(items, last, isLastPage);
    if (seam === null) continue;
    for (const earlier of pending.slice(0, -1)) {
      // Items newer than `last` are skipped. If one of them is really older, a later page repeats it, behind `last`.
      const entries =
        seam.includesLast || last === null
          ? []
          : entriesOf(earlier, firstAtOrAfter(earlier.page.items, last), seen);
      yield { page: earlier.page, entries };
    }
    yield { page: visit.page, entries: entriesOf(visit, seam.index, seen) };
    if (last === null || seam.index < items.length) last = items.at(-1) ?? last;
    pending = [];
  }
}

/**
 * A page that has shifted begins with items from before `last`, perhaps with `last` itself. Items of the same time don't
 * show on which side of `last` they are: the result is null when only the next page can show it.
 */
const findSeam = <Value>(
  items: readonly PageItem<Value>[],
  last: PageItem<Value>,
  isLastPage: boolean,
): Seam | null => {
  const repeated = items.findIndex(({ identity }) => identity === last.identity);
  if (repeated >= 0) return { index: repeated + 1, includesLast: true };
  const { time } = last;
  const isDecided =
    isLastPage || time === null || items.some((item) => item.time === null || item.time < time);
  return isDecided ? { index: firstAtOrAfter(items, last), includesLast: false } : null;
};

/** Returns the index of the first item that is not newer than `last`; the length when all are. */
const firstAtOrAfter = <Value>(items: readonly PageItem<Value>[], last: PageItem<Value>): number => {
  const index = items.findIndex(({ time }) => time === null || last.time === null || time <= last.time);
  return index < 0 ? items.length : index;
};

/** Returns the items from `start` on that were not seen before, and marks all items of the page as seen. */
const entriesOf = <Value>(
  { page, at, recentOffsets }: VisitedPage<Value>,
  start: number,
  seen: Set<string>,
): Entry<Value>[] => {
  const entries: Entry<Value>[] = [];
  for (const [index, item] of page.items.entries()) {
    const { identity, time } = item;
    if (index >= start && !seen.has(identity))
      entries.push({
        item,
        position: { offset: at.offset, index, identity, time, next: nextOf(page, index), recentOffsets },
      });
    seen.add(identity);
  }
  return entries;
};

/** Returns the successor of the item at `index` in a list without times; null in a list by time. */
const nextOf = <Value>({ items, nextOffset }: Page<PageItem<Value>>, index: number): NextItem | null => {
  if (items[index]?.time !== null) return null;
  const item = items[index + 1];
  if (item !== undefined) return { identity: item.identity };
  return nextOffset === null ? null : { offset: nextOffset };
};
