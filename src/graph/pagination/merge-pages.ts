import type { ReadPage } from '../../upstream/list-loader.ts';
import type { Page, PageItems } from '../../upstream/page.ts';
import type { CursorPosition } from './cursor.ts';
import { digestOf, neighboursOf, type Returned } from './cursor.ts';
import { indexByRank, MAX_PAGES, PageWalk, type VisitedPage, type WalkStart } from './locate.ts';

/** A page, and the items that it adds to the walk. */
export type PageSlice<Value> = { readonly page: Page<Value>; readonly runs: readonly Run<Value>[] };

/** The last item of a page. */
type Last<Value> = { readonly items: PageItems<Value>; readonly index: number };

/**
 * Where a shifted page continues the walk: at `index`, behind the last item. `includesLast`: the page repeats that item,
 * so everything on the pages read since lies before it.
 */
type Seam = { readonly index: number; readonly includesLast: boolean };

/** The items that a walk goes through, page by page. */
export type PageSlices<Value> = {
  /** Resolves with the next page, and what it adds; null after the last one. */
  next(): Promise<PageSlice<Value> | null>;
};

/**
 * Merges the pages from `start` on into one list: each page with the items that it adds. Items arrive or move meanwhile, so a
 * page may repeat items of the pages before: each item is added once. In a list by time, what has arrived at the head since
 * is left out as well. A page that does not show where it continues waits for the next one, for at most MAX_PAGES pages.
 */
export class MergedPages<Value> implements PageSlices<Value> {
  readonly #walk: PageWalk<Value>;
  readonly #start: WalkStart;
  readonly #seen: SeenItems<Value>;
  #last: Last<Value> | null = null;
  #pending: VisitedPage<Value>[] = [];
  /** What is merged, and not yet taken. */
  readonly #merged: PageSlice<Value>[] = [];

  constructor(read: ReadPage<Value>, start: WalkStart) {
    this.#walk = new PageWalk(read, start);
    this.#start = start;
    this.#seen = new SeenItems(start.returned);
  }

  async next(): Promise<PageSlice<Value> | null> {
    while (this.#merged.length === 0) {
      const visit = await this.#walk.next();
      if (visit === null) return null;
      this.#add(visit);
    }
    return this.#merged.shift() ?? null;
  }

  #add(visit: VisitedPage<Value>): void {
    const { items, nextOffset } = visit.page;
    const last = this.#last;
    this.#pending.push(visit);
    const isLastPage = nextOffset === null || this.#pending.length === MAX_PAGES;
    const seam: Seam | null =
      last === null ? { index: this.#start.index, includesLast: false } : seamOf(items, last, isLastPage);
    if (seam === null) return;
    for (const earlier of this.#pending.slice(0, -1)) {
      // Items newer than `last` are skipped. If one of them is really older, a later page repeats it, behind `last`.
      const runs =
        seam.includesLast || last === null
          ? []
          : this.#seen.add(earlier, firstAtOrAfter(earlier.page.items, timeOf(last)));
      this.#merged.push({ page: earlier.page, runs });
    }
    this.#merged.push({ page: visit.page, runs: this.#seen.add(visit, seam.index) });
    if (items.length > 0 && (last === null || seam.index < items.length))
      this.#last = { items, index: items.length - 1 };
    this.#pending = [];
  }
}

/**
 * Only items that arrive at the head shift a page as a whole. In any other list, a repeated item says nothing about the
 * others.
 */
const seamOf = <Value>(items: PageItems<Value>, last: Last<Value>, isLastPage: boolean): Seam | null =>
  items.order === 'newestFirst' ? findSeam(items, last, isLastPage) : { index: 0, includesLast: false };

/**
 * A page that has shifted begins with items from before `last`, perhaps with `last` itself. Items of the same time don't
 * show on which side of `last` they are: the result is null when only the next page can show it.
 */
const findSeam = <Value>(items: PageItems<Value>, last: Last<Value>, isLastPage: boolean): Seam | null => {
  const repeated = items.indexOf(last.items.identity(last.index));
  if (repeated >= 0) return { index: repeated + 1, includesLast: true };
  const lastTime = timeOf(last);
  const isDecided =
    isLastPage || lastTime === null || indexByRank(items, (time) => time === null || time < lastTime) >= 0;
  return isDecided ? { index: firstAtOrAfter(items, lastTime), includesLast: false } : null;
};

const timeOf = <Value>({ items, index }: Last<Value>): number | null => items.rank(index);

/** Returns the index of the first item that is not newer than the last one; the length when all are. */
const firstAtOrAfter = <Value>(items: PageItems<Value>, lastTime: number | null): number => {
  const index = indexByRank(items, (time) => time === null || lastTime === null || time <= lastTime);
  return index < 0 ? items.length : index;
};

const NOTHING: Returned = { indexes: [], digests: [] };

/** The items that a walk has seen: it adds each item once. */
class SeenItems<Value> {
  /** By identity: the number of the page that had it first. */
  readonly #pages = new Map<string, number>();
  /** Digests of items that the walk had returned before it was continued here, and that no page has had since. */
  readonly #returned: Set<string>;
  /** A page that was seen, but whose identities are not made yet: a walk of one page does not need them. */
  #first: PageItems<Value> | null = null;
  #page = 0;

  constructor(returned: readonly string[]) {
    this.#returned = new Set(returned);
  }

  /** Returns the items of the page from `start` on that were not seen before, and marks all its items as seen. */
  add(visit: VisitedPage<Value>, start: number): Run<Value>[] {
    const { items } = visit.page;
    this.#page += 1;
    if (this.#page === 1 && this.#returned.size === 0 && !items.hasRepeats) {
      this.#first = items;
      const to = items.length;
      return start < to ? [{ visit: { ...visit, returned: NOTHING }, from: start, to }] : [];
    }
    if (this.#first !== null) this.#addIdentities(this.#first);
    this.#first = null;
    return this.#addOneByOne(visit, start);
  }

  #addIdentities(items: PageItems<Value>): void {
    for (let index = 0; index < items.length; index += 1) this.#pages.set(items.identity(index), 1);
  }

  #addOneByOne(visit: VisitedPage<Value>, start: number): Run<Value>[] {
    const { items } = visit.page;
    const repeats: number[] = [];
    const runs: { from: number; to: number }[] = [];
    let from = start;
    const endRun = (to: number) => {
      if (from < to) runs.push({ from, to });
      from = Math.max(from, to + 1);
    };
    for (let index = 0; index < items.length; index += 1) {
      const identity = items.identity(index);
      const page = this.#pages.get(identity);
      if (page === undefined) this.#pages.set(identity, this.#page);
      const isRepeat = page === undefined ? this.#wasReturned(identity) : page < this.#page;
      if (isRepeat) repeats.push(index);
      if (isRepeat || page !== undefined) endRun(index);
    }
    endRun(items.length);
    const merged = { ...visit, returned: { indexes: repeats, digests: [...this.#returned] } };
    return runs.map((run) => ({ visit: merged, ...run }));
  }

  #wasReturned(identity: string): boolean {
    return this.#returned.size > 0 && this.#returned.delete(digestOf(identity));
  }
}

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

/** What a cursor says about the item. */
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
    lead: items.leadAt(index),
  };
};
