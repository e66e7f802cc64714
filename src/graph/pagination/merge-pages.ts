import type { ReadPage } from '../../upstream/list-loader.ts';
import type { Page, PageItems } from '../../upstream/page.ts';
import type { MergedPage, Run } from './entries.ts';
import type { WalkStart } from './locate.ts';
import { digestOf, NOTHING_RETURNED } from './neighbours.ts';
import { cursorExpired, MAX_PAGES, PageWalk, type VisitedPage } from './page-walk.ts';
import { ADDS_ALL, findSeam, isStillThere, lastRank, type NotedPage, type Seam } from './seam.ts';

/** A page, and the items that it adds to the walk. */
export type PageSlice<Value> = { readonly page: Page<Value>; readonly runs: readonly Run<Value>[] };

/** The items that a walk goes through, page by page. */
export type PageSlices<Value> = {
  /** Resolves with the next page, and what it adds; null after the last one. */
  next(): Promise<PageSlice<Value> | null>;
};

/**
 * Merges the pages from `start` on into one list: each page with the items that it adds. Items arrive or move meanwhile, so a
 * page may repeat items of the pages before: each item is added once. In a list by time, what has arrived at the head since
 * is left out as well, see `findSeam`. A page that does not show where it continues waits for the next one, for at most
 * MAX_PAGES pages. If nothing shows it, the pages end there, or `next` rejects with CURSOR_EXPIRED if they have added nothing.
 */
export class MergedPages<Value> implements PageSlices<Value> {
  readonly #read: ReadPage<Value>;
  readonly #walk: PageWalk<Value>;
  readonly #start: WalkStart;
  readonly #seen: SeenItems<Value>;
  /** The last page that is merged. In a list by time, not one that ends ahead of it. */
  #last: MergedPage<Value> | null = null;
  /** What the walk has of that page: its own items, and the one that it was continued after. */
  #lastRuns: readonly Pick<Run<Value>, 'from' | 'to'>[] = [];
  #pending: NotedPage<Value>[] = [];
  /** Whether a list by time has been in order so far, as its pages show together. */
  #keepsOrder = true;
  #hasItems = false;
  #hasEnded = false;
  /** What is merged, and not yet taken. */
  readonly #merged: PageSlice<Value>[] = [];

  /** `items` is how many of them are wanted; undefined for all. */
  constructor(read: ReadPage<Value>, start: WalkStart, items: number | undefined = undefined) {
    this.#read = read;
    this.#walk = new PageWalk(read, start, undefined, items);
    this.#start = start;
    this.#seen = new SeenItems(start.returned);
  }

  async next(): Promise<PageSlice<Value> | null> {
    while (this.#merged.length === 0 && !this.#hasEnded) {
      const visit = await this.#walk.next();
      if (visit === null) return null;
      const merging = this.#add(visit);
      if (merging !== undefined) await merging;
    }
    return this.#merged.shift() ?? null;
  }

  /** Returns a promise only where another page must be read. */
  #add(visit: VisitedPage<Value>): Promise<void> | undefined {
    const last = this.#last;
    this.#pending.push(this.#seen.note(visit, this.#pending.length));
    if (last === null) this.#merge(this.#start.index, ADDS_ALL);
    if (last === null) return undefined;
    const isLastPage = visit.page.nextOffset === null || this.#pending.length === MAX_PAGES;
    const seam = this.#keepsOrder ? findSeam(last, this.#pending, isLastPage) : ADDS_ALL;
    if (seam?.doubt === 'newer') return this.#mergeNewer(last);
    if (seam?.doubt === 'same') this.#end();
    else if (seam !== null) this.#merge(0, seam);
    return undefined;
  }

  /** Merges newer items if the last page shows that they are behind it: the service does not keep to its order. */
  async #mergeNewer(last: MergedPage<Value>): Promise<void> {
    this.#keepsOrder = !(await isStillThere(this.#read, last, this.#lastRuns));
    if (this.#keepsOrder) this.#end();
    else this.#merge(0, ADDS_ALL);
  }

  /** Ends where nothing shows how the list goes on: the cursor of the last item may find it. */
  #end(): void {
    if (!this.#hasItems) throw cursorExpired();
    this.#hasEnded = true;
  }

  #merge(start: number, { adds, time }: Seam): void {
    let place = 0;
    for (const { visit, returned, isNew } of this.#pending) {
      const { page } = visit;
      // Only a list by time looks back: a walk over another one need not hold all of its pages.
      const isByTime = page.items.order === 'newestFirst';
      const behind = (isByTime ? this.#last : null) ?? this.#start.ofTime;
      const merged: MergedPage<Value> = { ...visit, returned, behind, hasShifted: time !== null };
      const runs = runsOf(merged, isNew, start, adds, place);
      this.#merged.push({ page, runs });
      this.#hasItems ||= runs.length > 0;
      if (time === null || (lastRank(page.items) ?? time) <= time) {
        this.#last = merged;
        this.#lastRuns = start > 0 ? [{ from: start - 1, to: start }, ...runs] : runs;
      }
      place += page.items.length;
    }
    this.#pending = [];
  }
}

/** The new items of a page that a walk adds, from `start` on. The page is at `place` of those that are merged together. */
const runsOf = <Value>(
  merged: MergedPage<Value>,
  isNew: NotedPage<Value>['isNew'],
  start: number,
  adds: Seam['adds'],
  place: number,
): Run<Value>[] => {
  const { length } = merged.page.items;
  const runs: Run<Value>[] = [];
  let from = start;
  for (let index = isNew === null ? length : start; index <= length; index += 1) {
    if (index < length && isNew?.[index] && adds(place + index)) continue;
    if (from < index) runs.push({ visit: merged, from, to: index });
    from = index + 1;
  }
  return runs;
};

/** The items that a walk has seen. */
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

  /** Marks all items of the page as seen, behind `pending` pages that are not merged yet. */
  note(visit: VisitedPage<Value>, pending: number): NotedPage<Value> {
    const { items } = visit.page;
    this.#page += 1;
    if (this.#page === 1 && this.#returned.size === 0 && !items.hasRepeats) {
      this.#first = items;
      return { visit, returned: NOTHING_RETURNED, isNew: null, passed: [] };
    }
    if (this.#first !== null) this.#addIdentities(this.#first);
    this.#first = null;
    return this.#noteOneByOne(visit, pending);
  }

  #addIdentities(items: PageItems<Value>): void {
    for (let index = 0; index < items.length; index += 1) this.#pages.set(items.identity(index), 1);
  }

  #noteOneByOne(visit: VisitedPage<Value>, pending: number): NotedPage<Value> {
    const { items } = visit.page;
    const isNew: boolean[] = [];
    const repeats: number[] = [];
    const passed: number[] = [];
    for (let index = 0; index < items.length; index += 1) {
      const identity = items.identity(index);
      const known = this.#pages.get(identity);
      if (known === undefined) this.#pages.set(identity, this.#page);
      const page = known === undefined && this.#wasReturned(identity) ? 0 : known;
      isNew.push(page === undefined);
      if (page !== undefined && page < this.#page) repeats.push(index);
      if (page !== undefined && page < this.#page - pending) passed.push(index);
    }
    const returned =
      repeats.length === 0 && this.#returned.size === 0
        ? NOTHING_RETURNED
        : { indexes: repeats, digests: [...this.#returned] };
    return { visit, returned, isNew, passed };
  }

  #wasReturned(identity: string): boolean {
    return this.#returned.size > 0 && this.#returned.delete(digestOf(identity));
  }
}
