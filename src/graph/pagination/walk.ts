import { createTimeSlices } from '../../lib/time-slices.ts';
import type { ReadPage } from '../../upstream/list-loader.ts';
import type { Page } from '../../upstream/page.ts';
import { MalformedFieldError } from '../../upstream/parse/fields.ts';
import type { CursorPosition } from './cursor.ts';
import { lengthOf, type Run } from './entries.ts';
import { locateAfter, type WalkStart } from './locate.ts';
import { MergedPages, type PageSlice, type PageSlices } from './merge-pages.ts';
import { HEAD, MAX_PAGES, tooManyEmptyPages } from './page-walk.ts';

/** The items that a walk found. */
export type WalkResult<Value> = {
  /** In their order; none is empty. */
  readonly runs: readonly Run<Value>[];
  readonly hasNextPage: boolean;
  /** The pages that the items come from, in order; empty if none had to be read. */
  readonly pages: readonly Page<Value>[];
};

const startAtHead = (items: number | undefined): WalkStart => ({
  ...HEAD,
  at: { ...HEAD.at, freshness: 'head', items },
  index: 0,
  returned: [],
  ofTime: { time: null, digests: [], isWhole: true },
});

/**
 * Returns the next `first` items of a list that come after the cursor `after`, or from the head when it is null.
 *
 * Pages shift while new items arrive at the head. So a cursor finds its item again by identity, wherever it is now, and
 * repeated items are skipped. However upstream cuts its pages, walking by one returns the same items as walking by many,
 * each once. `passes` leaves items out: the walk goes on until it has enough of the others.
 *
 * Rejects with UpstreamError `invalidResponse` when upstream's offsets go in circles, or lead to no items.
 */
export const walk = async <Value>(
  read: ReadPage<Value>,
  first: number,
  after: CursorPosition | null,
  passes: Passes<Value> | null = null,
): Promise<WalkResult<Value>> => {
  const items = new WalkedItems<Value>(first, passes !== null);
  const slices = await slicesOf(read, first, after, passes);
  let slice = slices && (await slices.next());
  while (slices && slice && !items.add(slice)) slice = await slices.next();
  return items;
};

/** Whether an item is in a list that the gateway filters. One that can't be parsed is, since its error must be seen. */
export type Passes<Value> = (value: Value) => boolean;

/** The most pages that a walk over a filtered list reads once it has an item: each costs as much as the first. */
export const MAX_FILTERED_PAGES = 5;

/** A page is filtered in slices of this length, so that other work runs meanwhile. */
const SLICE_MS = 5;

const filtered = <Value>(slices: PageSlices<Value>, passes: Passes<Value>): PageSlices<Value> => ({
  async next() {
    const slice = await slices.next();
    if (slice === null) return null;
    const kept: Run<Value>[] = [];
    for (const run of slice.runs) kept.push(...(await passing(run, passes)));
    return { page: slice.page, runs: kept };
  },
});

/** Returns the items of the run that pass, as runs. */
const passing = async <Value>(
  { visit, from, to }: Run<Value>,
  passes: Passes<Value>,
): Promise<Run<Value>[]> => {
  const slices = createTimeSlices(SLICE_MS);
  const kept: Run<Value>[] = [];
  let start = from;
  for (let index = from; index < to; index += 1) {
    if (slices.isOver()) await slices.next();
    const value = visit.page.items.value(index);
    if (value instanceof MalformedFieldError || passes(value)) continue;
    if (start < index) kept.push({ visit, from: start, to: index });
    start = index + 1;
  }
  if (start < to) kept.push({ visit, from: start, to });
  return kept;
};

/** Returns the pages of a walk with the items that each adds; null for a walk that finds nothing. See `walk`. */
export const slicesOf = async <Value>(
  read: ReadPage<Value>,
  first: number,
  after: CursorPosition | null,
  passes: Passes<Value> | null = null,
): Promise<PageSlices<Value> | null> => {
  if (first === 0) return null;
  // Nobody knows how many items a filter leaves of a page.
  const wanted = passes === null ? first : undefined;
  const start = after === null ? startAtHead(wanted) : await locateAfter(read, after);
  const slices = start && new MergedPages(read, start, wanted);
  return slices && passes ? filtered(slices, passes) : slices;
};

/** The items that a walk has found so far. */
export class WalkedItems<Value> implements WalkResult<Value> {
  readonly runs: Run<Value>[] = [];
  readonly pages: Page<Value>[] = [];
  hasNextPage = false;
  readonly #isFiltered: boolean;
  #remaining: number;

  constructor(first: number, isFiltered = false) {
    this.#remaining = first;
    this.#isFiltered = isFiltered;
  }

  /** Adds the items of the next page that are still wanted. Returns whether the walk has ended. */
  add({ page, runs }: PageSlice<Value>): boolean {
    const length = lengthOf(runs);
    this.pages.push(page);
    this.runs.push(...take(runs, this.#remaining));
    this.hasNextPage = length > this.#remaining || page.nextOffset !== null;
    this.#remaining = Math.max(0, this.#remaining - length);
    if (this.#remaining === 0 || page.nextOffset === null) return true;
    const hasItems = this.runs.length > 0;
    if (this.pages.length < (this.#isFiltered && hasItems ? MAX_FILTERED_PAGES : MAX_PAGES)) return false;
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
