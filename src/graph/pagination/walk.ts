import type { Page } from '../../upstream/cache/page-cache.ts';
import type { ReadPage } from '../../upstream/list-loader.ts';
import type { PageItem } from '../../upstream/parse/page-parser.ts';
import { placeAfter } from './locate.ts';
import { findJoin, firstNotNewer, type Join } from './page-seam.ts';
import { leadsNowhere, MAX_PAGES, pagesFrom, type Visit } from './page-walk.ts';
import type { Follower, Place, Position } from './position.ts';

export type Entry<Value> = { readonly item: PageItem<Value>; readonly position: Position };

export type Walked<Value> = {
  readonly entries: readonly Entry<Value>[];
  readonly hasNextPage: boolean;
  /** Those that the entries were cut from, in order; none when nothing had to be read. */
  readonly pages: readonly Page<PageItem<Value>>[];
};

const START: Place = { at: { offset: null, follows: null, age: 'newest' }, trail: [], index: 0 };

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
): Promise<Walked<Value>> => {
  const nothing: Walked<Value> = { entries: [], hasNextPage: false, pages: [] };
  if (first === 0) return nothing;
  const place = after === null ? START : await placeAfter(read, after);
  return place === null ? nothing : take(first, cuts(read, place));
};

/** What one page adds to the walk. */
type Cut<Value> = { readonly page: Page<PageItem<Value>>; readonly entries: readonly Entry<Value>[] };

const take = async <Value>(first: number, source: AsyncIterable<Cut<Value>>): Promise<Walked<Value>> => {
  const entries: Entry<Value>[] = [];
  const pages: Page<PageItem<Value>>[] = [];
  for await (const cut of source) {
    pages.push(cut.page);
    const room = first - entries.length;
    entries.push(...cut.entries.slice(0, room));
    if (cut.entries.length > room) return { entries, hasNextPage: true, pages };
    const more = cut.page.nextOffset !== null;
    if (entries.length === first || !more) return { entries, hasNextPage: more, pages };
    if (pages.length === MAX_PAGES) return handOver(entries, pages);
  }
  return { entries, hasNextPage: false, pages };
};

const handOver = <Value>(entries: Entry<Value>[], pages: Page<PageItem<Value>>[]): Walked<Value> => {
  if (entries.length === 0) throw leadsNowhere();
  return { entries, hasNextPage: true, pages };
};

async function* cuts<Value>(
  read: ReadPage<PageItem<Value>>,
  place: Place,
): AsyncGenerator<Cut<Value>, void, undefined> {
  const seen = new Set<string>();
  let last: PageItem<Value> | null = null;
  let held: Visit<Value>[] = [];
  for await (const visit of pagesFrom(read, place)) {
    const { items, nextOffset } = visit.page;
    held.push(visit);
    const isLast = nextOffset === null || held.length === MAX_PAGES;
    const join: Join | null =
      last === null ? { index: place.index, passed: false } : findJoin(items, last, isLast);
    if (join === null) continue;
    for (const before of held.slice(0, -1)) {
      // What lies before `last` is left out; should it lie behind it after all, it comes again behind `last`.
      const entries =
        join.passed || last === null ? [] : cut(before, firstNotNewer(before.page.items, last), seen);
      yield { page: before.page, entries };
    }
    yield { page: visit.page, entries: cut(visit, join.index, seen) };
    if (last === null || join.index < items.length) last = items.at(-1) ?? last;
    held = [];
  }
}

/** What `visit` adds from `start` on, each item once; all that is on it counts as seen. */
const cut = <Value>({ page, at, trail }: Visit<Value>, start: number, seen: Set<string>): Entry<Value>[] => {
  const entries: Entry<Value>[] = [];
  for (const [index, item] of page.items.entries()) {
    const { identity, time } = item;
    if (index >= start && !seen.has(identity))
      entries.push({
        item,
        position: { offset: at.offset, index, identity, time, next: followerOf(page, index), trail },
      });
    seen.add(identity);
  }
  return entries;
};

/** What comes behind the item at `index`, in a list that has no times to tell it by. */
const followerOf = <Value>({ items, nextOffset }: Page<PageItem<Value>>, index: number): Follower | null => {
  if (items[index]?.time !== null) return null;
  const item = items[index + 1];
  if (item !== undefined) return { identity: item.identity };
  return nextOffset === null ? null : { offset: nextOffset };
};
