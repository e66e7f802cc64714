import type { PageRef, ReadPage } from '../../upstream/list-loader.ts';
import type { PageItems } from '../../upstream/page.ts';
import type { CursorPosition } from './cursor.ts';
import { digestOf, isUnchanged } from './neighbours.ts';
import {
  cursorExpired,
  HEAD,
  MAX_PAGES,
  type PageStart,
  PageWalk,
  pageBehind,
  pageRefOf,
  type VisitedPage,
} from './page-walk.ts';
import { indexInPlace, isInOrder, placeOfTime, type Ranked, type ReturnedOfTime } from './same-time.ts';
import { candidateOn, isAgreed, searchByNeighbours } from './search-neighbours.ts';

/** Where a walk over items starts: a page, and the index on it of the first item. */
export type WalkStart = PageStart & {
  readonly index: number;
  /** Digests of items that the walk has returned already, and that may come again. */
  readonly returned: readonly string[];
  /** What it has returned, before the page, of the time at which it starts. */
  readonly ofTime: ReturnedOfTime;
};

const isRanked = (position: CursorPosition): position is Ranked => position.rank !== null;

/**
 * Finds the item of a cursor again, and returns the place right after it; null if nothing follows it any longer. Rejects with
 * CURSOR_EXPIRED if nothing shows the place.
 *
 * - Newest first: if the item no longer exists, or has moved, its old time shows the place. Of the items with that time, those
 *   that the cursor remembers as returned are left out. If it does not remember all of them, they must show the place.
 * - Any other list: its items may have moved, the cursor's own among them. The walk continues at the place that has most of
 *   the cursor's item and its neighbours on their proper sides. If none of them is left, a list that descends by a number is
 *   continued behind the item's number.
 */
export const locateAfter = async <Value>(
  read: ReadPage<Value>,
  after: CursorPosition,
): Promise<WalkStart | null> => {
  const at = pageRefOf(after);
  const since = Date.now();
  const { lead } = after;
  const page = pageBehind(await read(at), lead);
  // A cached page may be older than the item: only a fresh page shows that the item has moved or is deleted.
  const fresh: PageRef = page.fetchedAt < since ? { ...at, freshness: 'bypass' } : at;
  const { recentOffsets } = after;
  const visit: VisitedPage<Value> = { page, at, recentOffsets, lead };
  const start: PageStart = { at: fresh, recentOffsets, lead };
  if (!isRanked(after) || after.neighbours.ofTime === null)
    return await locateByNeighbours(read, after, visit, start);
  const index = indexInPlace(page.items, after, at.offset === null);
  return index >= 0 ? startInPlace(visit, after, index) : await searchByRank(read, after, start);
};

/** Starts after a cursor's item in a list by time, which is at `index`. */
const startInPlace = (start: PageStart, after: Ranked, index: number): WalkStart => {
  const { before, returned } = after.neighbours;
  // Only what the page before has of this time may come again.
  return startAt(
    start,
    index + 1,
    index < before.length ? [...returned, ...before] : returned,
    ofTime(after),
  );
};

/**
 * Searches a list by time, newest first, or by another number, down to the first item that comes after one of the cursor's
 * rank.
 */
const searchByRank = async <Value>(
  read: ReadPage<Value>,
  after: Ranked,
  start: PageStart,
): Promise<WalkStart | null> => {
  const walk = new PageWalk(read, start);
  let isBehindGreater = start.at.offset === null;
  let isAmongEqual = false;
  let pages = 0;
  for (let visit = await walk.next(); visit; visit = await walk.next()) {
    pages += 1;
    const { items, nextOffset } = visit.page;
    const known = startByItems(visit, after, isBehindGreater);
    if (known) return known;
    if (!isInOrder(items)) return await locateWithoutOrder(read, after, start);
    const found = findRank(items, after, isBehindGreater);
    if (found === 'earlier') return await searchByRank(read, after, HEAD);
    if (typeof found === 'number' && !isAmongEqual)
      return startAt(visit, found, returnedUpTo(after), ofTime(after));
    isAmongEqual ||= found === 'equal';
    const hasPassed = typeof found === 'number' || indexOfSmaller(items, after.rank) >= 0;
    if (hasPassed || (pages === MAX_PAGES && nextOffset !== null)) throw cursorExpired();
    isBehindGreater ||= items.length > 0;
  }
  if (isAmongEqual) throw cursorExpired();
  return isBehindGreater ? null : await searchByRank(read, after, HEAD);
};

/** Starts after a cursor's item in a list by time where the page shows it by the item itself, or by others of its time. */
const startByItems = <Value>(
  visit: VisitedPage<Value>,
  after: Ranked,
  isBehindNewer: boolean,
): WalkStart | null => {
  const { items } = visit.page;
  const known = after.neighbours.ofTime;
  const index = known === null ? -1 : indexInPlace(items, after, isBehindNewer);
  if (index >= 0) return startInPlace(visit, after, index);
  const place = known === 'part' ? placeOfTime(items, after) : null;
  return place === null ? null : startAt(visit, place, returnedUpTo(after), ofTime(after));
};

/**
 * Returns the index of the first item that comes after a cursor's. Items of its rank, or without one, are left to come where the
 * cursor remembers which of them were returned; elsewhere they may be on either side, and the result is `equal`. What was
 * behind the item may have moved up to `earlier` pages. If all items are before it, the place is on a `later` page.
 */
const findRank = (
  items: PageItems<unknown>,
  { rank, neighbours }: Ranked,
  isBehindGreater: boolean,
): number | 'earlier' | 'equal' | 'later' => {
  let index = items.length;
  while (index > 0 && (items.rank(index - 1) ?? rank) <= rank) index -= 1;
  if (index === items.length) return 'later';
  if (index === 0 && !isBehindGreater) return 'earlier';
  if (neighbours.ofTime === 'whole') return index;
  return indexOfSmaller(items, rank) === index ? index : 'equal';
};

/** Returns the index of the first item of a smaller rank; -1 without one. */
const indexOfSmaller = (items: PageItems<unknown>, than: number): number => {
  for (let index = 0; index < items.length; index += 1) if ((items.rank(index) ?? than) < than) return index;
  return -1;
};

/** Locates the item of a list whose service does not keep to its order as in a list without one. */
const locateWithoutOrder = async <Value>(
  read: ReadPage<Value>,
  after: Ranked,
  start: PageStart,
): Promise<WalkStart> => {
  const found = after.neighbours.ofTime === null ? null : await searchByNeighbours(read, after, start);
  if (found === null) throw cursorExpired();
  return startAt(found.visit, found.place.index, returnedUpTo(after));
};

const locateByNeighbours = async <Value>(
  read: ReadPage<Value>,
  after: CursorPosition,
  remembered: VisitedPage<Value>,
  start: PageStart,
): Promise<WalkStart | null> => {
  const { index, identity, neighbours } = after;
  if (isUnchanged(remembered.page.items, index, identity, neighbours))
    return startAt(remembered, index + 1, neighbours.returned);
  const known = candidateOn(remembered, after);
  const found = isAgreed(known) ? known : await searchByNeighbours(read, after, start);
  if (found) return startAt(found.visit, found.place.index, returnedUpTo(after));
  if (!isRanked(after)) throw cursorExpired();
  return await searchByRank(read, after, start);
};

const startAt = (
  { at, recentOffsets, lead }: PageStart,
  index: number,
  returned: readonly string[],
  ofTime: ReturnedOfTime = NOT_KNOWN,
): WalkStart => ({ at, recentOffsets, lead, index, returned, ofTime });

const NOT_KNOWN: ReturnedOfTime = { time: null, digests: [], isWhole: false };

const ofTime = ({ rank, neighbours: { before, ofTime: known } }: Ranked): ReturnedOfTime => ({
  time: rank,
  digests: before,
  isWhole: known === 'whole',
});

/** What the cursor remembers of the items that the walk has returned. */
const returnedUpTo = ({ identity, neighbours: { returned, before } }: CursorPosition): readonly string[] => [
  ...returned,
  ...before,
  digestOf(identity),
];
