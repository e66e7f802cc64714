import type { Page } from '../../upstream/cache/page-cache.ts';
import type { ReadPage } from '../../upstream/list-loader.ts';
import type { PageItem } from '../../upstream/parse/page-parser.ts';
import type { CursorPosition } from './cursor.ts';
import { locateAfter } from './locate.ts';
import { type Entry, mergePages, type PageSlice } from './merge-pages.ts';
import { MAX_PAGES, tooManyEmptyPages, type WalkStart } from './page-walk.ts';

/** The items that a walk found. */
export type WalkResult<Value> = {
  readonly entries: readonly Entry<Value>[];
  readonly hasNextPage: boolean;
  /** The pages that the entries come from, in order; empty when none had to be read. */
  readonly pages: readonly Page<PageItem<Value>>[];
};

const HEAD: WalkStart = {
  at: { offset: null, follows: null, freshness: 'head' },
  recentOffsets: [],
  index: 0,
};

/**
 * Returns the next `first` items of a list that come after the cursor `after`, or from the head when it is null.
 *
 * Pages shift while new items arrive at the head. So a cursor finds its item again by identity, wherever the item is now,
 * and an item that a page repeats is skipped. However upstream cuts its pages, the walk by one returns what the walk by
 * many returns, and each item once.
 *
 * Rejects with UpstreamError `invalidResponse` when upstream's offsets go in circles, or lead to no items.
 */
export const walk = async <Value>(
  read: ReadPage<PageItem<Value>>,
  first: number,
  after: CursorPosition | null,
): Promise<WalkResult<Value>> => {
  const nothing: WalkResult<Value> = { entries: [], hasNextPage: false, pages: [] };
  if (first === 0) return nothing;
  const start = after === null ? HEAD : await locateAfter(read, after);
  return start === null ? nothing : collect(first, mergePages(read, start));
};

const collect = async <Value>(
  first: number,
  slices: AsyncIterable<PageSlice<Value>>,
): Promise<WalkResult<Value>> => {
  const entries: Entry<Value>[] = [];
  const pages: Page<PageItem<Value>>[] = [];
  for await (const slice of slices) {
    pages.push(slice.page);
    const remaining = first - entries.length;
    entries.push(...slice.entries.slice(0, remaining));
    if (slice.entries.length > remaining) return { entries, hasNextPage: true, pages };
    const hasNextPage = slice.page.nextOffset !== null;
    if (entries.length === first || !hasNextPage) return { entries, hasNextPage, pages };
    if (pages.length === MAX_PAGES) return partialResult(entries, pages);
  }
  return { entries, hasNextPage: false, pages };
};

const partialResult = <Value>(entries: Entry<Value>[], pages: Page<PageItem<Value>>[]): WalkResult<Value> => {
  if (entries.length === 0) throw tooManyEmptyPages();
  return { entries, hasNextPage: true, pages };
};
