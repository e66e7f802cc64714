import type { ReadPage } from '../../upstream/list-loader.ts';
import type { Page } from '../../upstream/page.ts';
import type { CursorPosition } from './cursor.ts';
import { locateAfter, MAX_PAGES, tooManyEmptyPages, type WalkStart } from './locate.ts';
import { lengthOf, mergePages, type PageSlice, type Run } from './merge-pages.ts';

/** The items that a walk found. */
export type WalkResult<Value> = {
  /** In their order; none is empty. */
  readonly runs: readonly Run<Value>[];
  readonly hasNextPage: boolean;
  /** The pages that the items come from, in order; empty if none had to be read. */
  readonly pages: readonly Page<Value>[];
};

const HEAD: WalkStart = {
  at: { offset: null, follows: null, freshness: 'head' },
  recentOffsets: [],
  lead: null,
  index: 0,
  returned: [],
};

/**
 * Returns the next `first` items of a list that come after the cursor `after`, or from the head when it is null.
 *
 * Pages shift while new items arrive at the head. So a cursor finds its item again by identity, wherever it is now, and
 * repeated items are skipped. However upstream cuts its pages, walking by one returns the same items as walking by many,
 * each once.
 *
 * Rejects with UpstreamError `invalidResponse` when upstream's offsets go in circles, or lead to no items.
 */
export const walk = async <Value>(
  read: ReadPage<Value>,
  first: number,
  after: CursorPosition | null,
): Promise<WalkResult<Value>> => {
  const items = new WalkedItems<Value>(first);
  for await (const slice of (await slicesOf(read, first, after)) ?? []) if (items.add(slice)) break;
  return items;
};

/** Returns the pages of a walk with the items that each adds; null for a walk that finds nothing. See `walk`. */
export const slicesOf = async <Value>(
  read: ReadPage<Value>,
  first: number,
  after: CursorPosition | null,
): Promise<AsyncIterable<PageSlice<Value>> | null> => {
  if (first === 0) return null;
  const start = after === null ? HEAD : await locateAfter(read, after);
  return start && mergePages(read, start);
};

/** The items that a walk has found so far. */
export class WalkedItems<Value> implements WalkResult<Value> {
  readonly runs: Run<Value>[] = [];
  readonly pages: Page<Value>[] = [];
  hasNextPage = false;
  #remaining: number;

  constructor(first: number) {
    this.#remaining = first;
  }

  /** Adds the items of the next page that are still wanted. Returns whether the walk has ended. */
  add({ page, runs }: PageSlice<Value>): boolean {
    const length = lengthOf(runs);
    this.pages.push(page);
    this.runs.push(...take(runs, this.#remaining));
    this.hasNextPage = length > this.#remaining || page.nextOffset !== null;
    this.#remaining = Math.max(0, this.#remaining - length);
    if (this.#remaining === 0 || page.nextOffset === null) return true;
    if (this.pages.length < MAX_PAGES) return false;
    if (this.runs.length === 0) throw tooManyEmptyPages();
    return true;
  }
}

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
