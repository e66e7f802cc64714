import type { ReadPage } from '../../upstream/list-loader.ts';
import type { Page } from '../../upstream/page.ts';
import type { CursorPosition } from './cursor.ts';
import { locateAfter } from './locate.ts';
import { mergePages, type PageSlice } from './merge-pages.ts';
import { MAX_PAGES, tooManyEmptyPages, type WalkStart } from './page-walk.ts';
import { lengthOf, type Run } from './run.ts';

/** The items that a walk found. */
export type WalkResult<Value> = {
  /** In their order; none is empty. */
  readonly runs: readonly Run<Value>[];
  readonly hasNextPage: boolean;
  /** The pages that the items come from, in order; empty when none had to be read. */
  readonly pages: readonly Page<Value>[];
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
  read: ReadPage<Value>,
  first: number,
  after: CursorPosition | null,
): Promise<WalkResult<Value>> => {
  const nothing: WalkResult<Value> = { runs: [], hasNextPage: false, pages: [] };
  if (first === 0) return nothing;
  const start = after === null ? HEAD : await locateAfter(read, after);
  return start === null ? nothing : collect(first, mergePages(read, start));
};

const collect = async <Value>(
  first: number,
  slices: AsyncIterable<PageSlice<Value>>,
): Promise<WalkResult<Value>> => {
  const runs: Run<Value>[] = [];
  const pages: Page<Value>[] = [];
  let remaining = first;
  for await (const slice of slices) {
    pages.push(slice.page);
    const length = lengthOf(slice.runs);
    runs.push(...take(slice.runs, remaining));
    if (length > remaining) return { runs, hasNextPage: true, pages };
    remaining -= length;
    const hasNextPage = slice.page.nextOffset !== null;
    if (remaining === 0 || !hasNextPage) return { runs, hasNextPage, pages };
    if (pages.length === MAX_PAGES) return partialResult(runs, pages);
  }
  return { runs, hasNextPage: false, pages };
};

/** The first `length` items of the runs. */
const take = <Value>(runs: readonly Run<Value>[], length: number): Run<Value>[] => {
  const taken: Run<Value>[] = [];
  let remaining = length;
  for (const run of runs) {
    if (remaining === 0) break;
    const to = Math.min(run.to, run.from + remaining);
    taken.push({ ...run, to });
    remaining -= to - run.from;
  }
  return taken;
};

const partialResult = <Value>(runs: Run<Value>[], pages: Page<Value>[]): WalkResult<Value> => {
  if (runs.length === 0) throw tooManyEmptyPages();
  return { runs, hasNextPage: true, pages };
};
