import type { Item } from '../upstream/items.ts';
import type { ReadPage } from '../upstream/list-loader.ts';
import type { Page } from '../upstream/pages.ts';
import { leadsNowhere, MAX_PAGES, pagesFrom } from './pages.ts';
import type { Follower, Place, Position } from './position.ts';
import { placeAfter } from './search.ts';

export type Entry<Value> = { readonly item: Item<Value>; readonly position: Position };

export type Walked<Value> = {
  readonly entries: readonly Entry<Value>[];
  readonly hasNextPage: boolean;
  /** Those that the entries were cut from, in order; none when nothing had to be read. */
  readonly pages: readonly Page<Item<Value>>[];
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
  read: ReadPage<Item<Value>>,
  first: number,
  after: Position | null,
): Promise<Walked<Value>> => {
  const nothing: Walked<Value> = { entries: [], hasNextPage: false, pages: [] };
  if (first === 0) return nothing;
  const place = after === null ? START : await placeAfter(read, after);
  return place === null ? nothing : take(first, cuts(read, place));
};

/** What one page adds to the walk. */
type Cut<Value> = { readonly page: Page<Item<Value>>; readonly entries: readonly Entry<Value>[] };

const take = async <Value>(first: number, source: AsyncIterable<Cut<Value>>): Promise<Walked<Value>> => {
  const entries: Entry<Value>[] = [];
  const pages: Page<Item<Value>>[] = [];
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

const handOver = <Value>(entries: Entry<Value>[], pages: Page<Item<Value>>[]): Walked<Value> => {
  if (entries.length === 0) throw leadsNowhere();
  return { entries, hasNextPage: true, pages };
};

async function* cuts<Value>(
  read: ReadPage<Item<Value>>,
  place: Place,
): AsyncGenerator<Cut<Value>, void, undefined> {
  const seen = new Set<string>();
  let start = place.index;
  let last: Item<Value> | null = null;
  for await (const { page, at, trail } of pagesFrom(read, place)) {
    const { items } = page;
    if (last !== null) start = startBehind(items, last);
    for (const item of items.slice(0, start)) seen.add(item.identity);
    const entries: Entry<Value>[] = [];
    for (let index = start; index < items.length; index += 1) {
      const item = items[index];
      if (item === undefined || seen.has(item.identity)) continue;
      seen.add(item.identity);
      const { identity, time } = item;
      const next = time === null ? followerOf(page, index) : null;
      entries.push({ item, position: { offset: at.offset, index, identity, time, next, trail } });
    }
    yield { page, entries };
    // A page that lies before `last` as a whole takes the walk nowhere.
    if (last === null || start < items.length) last = items.at(-1) ?? last;
    start = 0;
  }
}

const followerOf = <Value>({ items, nextOffset }: Page<Item<Value>>, index: number): Follower | null => {
  const item = items[index + 1];
  if (item !== undefined) return { identity: item.identity };
  return nextOffset === null ? null : { offset: nextOffset };
};

/**
 * Where a page goes on behind `last`, the last item of the page before it. A page that has shifted meanwhile opens with
 * items from before `last`, perhaps with `last` itself.
 */
const startBehind = <Value>(items: readonly Item<Value>[], last: Item<Value>): number => {
  const again = items.findIndex(({ identity }) => identity === last.identity);
  if (again >= 0) return again + 1;
  const index = items.findIndex(({ time }) => time === null || last.time === null || time <= last.time);
  return index < 0 ? items.length : index;
};
