import type { Page } from '../../upstream/cache/page-cache.ts';
import type { ReadPage } from '../../upstream/list-loader.ts';
import type { PageItem } from '../../upstream/parse/page-parser.ts';
import { locateAfter } from './locate.ts';
import { findSeam, firstAtOrAfter, type Seam } from './page-seam.ts';
import { MAX_PAGES, tooManyEmptyPages, type VisitedPage, walkPages } from './page-walk.ts';
import type { NextItem, Position, WalkStart } from './position.ts';

export type Entry<Value> = { readonly item: PageItem<Value>; readonly position: Position };

export type WalkResult<Value> = {
  readonly entries: readonly Entry<Value>[];
  readonly hasNextPage: boolean;
  /** Those that the entries were cut from, in order; none when nothing had to be read. */
  readonly pages: readonly Page<PageItem<Value>>[];
};

const START: WalkStart = { at: { offset: null, follows: null, age: 'newest' }, recentOffsets: [], index: 0 };

/**
 * The next `first` items of a list, newest first, that come after `after`; from its head when that is null.
 *
 * Pages shift while new items arrive at the head. So an item is found again by its identity, wherever it is by now,
 * and what a page repeats of the pages before it is left out: however the service cuts its pages, the walk by one
 * gives what the walk by many gives, each item once.
 *
 * Throws UpstreamError `invalidResponse` when the service's offsets go in circles or lead nowhere.
 */
export const walk = async <Value>(
  read: ReadPage<PageItem<Value>>,
  first: number,
  after: Position | null,
): Promise<WalkResult<Value>> => {
  const nothing: WalkResult<Value> = { entries: [], hasNextPage: false, pages: [] };
  if (first === 0) return nothing;
  const place = after === null ? START : await locateAfter(read, after);
  return place === null ? nothing : collect(first, pageSlices(read, place));
};

/** What one page adds to the walk. */
type PageSlice<Value> = { readonly page: Page<PageItem<Value>>; readonly entries: readonly Entry<Value>[] };

const collect = async <Value>(
  first: number,
  source: AsyncIterable<PageSlice<Value>>,
): Promise<WalkResult<Value>> => {
  const entries: Entry<Value>[] = [];
  const pages: Page<PageItem<Value>>[] = [];
  for await (const slice of source) {
    pages.push(slice.page);
    const remaining = first - entries.length;
    entries.push(...slice.entries.slice(0, remaining));
    if (slice.entries.length > remaining) return { entries, hasNextPage: true, pages };
    const more = slice.page.nextOffset !== null;
    if (entries.length === first || !more) return { entries, hasNextPage: more, pages };
    if (pages.length === MAX_PAGES) return partialResult(entries, pages);
  }
  return { entries, hasNextPage: false, pages };
};

const partialResult = <Value>(entries: Entry<Value>[], pages: Page<PageItem<Value>>[]): WalkResult<Value> => {
  if (entries.length === 0) throw tooManyEmptyPages();
  return { entries, hasNextPage: true, pages };
};

async function* pageSlices<Value>(
  read: ReadPage<PageItem<Value>>,
  place: WalkStart,
): AsyncGenerator<PageSlice<Value>, void, undefined> {
  const seen = new Set<string>();
  let last: PageItem<Value> | null = null;
  let held: VisitedPage<Value>[] = [];
  for await (const visit of walkPages(read, place)) {
    const { items, nextOffset } = visit.page;
    held.push(visit);
    const isLast = nextOffset === null || held.length === MAX_PAGES;
    const seam: Seam | null =
      last === null ? { index: place.index, includesLast: false } : findSeam(items, last, isLast);
    if (seam === null) continue;
    for (const before of held.slice(0, -1)) {
      // What lies before `last` is left out; should it lie behind it after all, it comes again behind `last`.
      const entries =
        seam.includesLast || last === null
          ? []
          : sliceOf(before, firstAtOrAfter(before.page.items, last), seen);
      yield { page: before.page, entries };
    }
    yield { page: visit.page, entries: sliceOf(visit, seam.index, seen) };
    if (last === null || seam.index < items.length) last = items.at(-1) ?? last;
    held = [];
  }
}

/** What `visit` adds from `start` on, each item once; all that is on it counts as seen. */
const sliceOf = <Value>(
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
        position: { offset: at.offset, index, identity, time, next: followerOf(page, index), recentOffsets },
      });
    seen.add(identity);
  }
  return entries;
};

/** What comes behind the item at `index`, in a list that has no times to tell it by. */
const followerOf = <Value>({ items, nextOffset }: Page<PageItem<Value>>, index: number): NextItem | null => {
  if (items[index]?.time !== null) return null;
  const item = items[index + 1];
  if (item !== undefined) return { identity: item.identity };
  return nextOffset === null ? null : { offset: nextOffset };
};
