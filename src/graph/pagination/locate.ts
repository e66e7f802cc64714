import type { PageRef, ReadPage } from '../../upstream/list-loader.ts';
import type { PageItems } from '../../upstream/page.ts';
import { MalformedFieldError } from '../../upstream/parse/fields.ts';
import { clientError } from '../errors.ts';
import type { CursorPosition } from './cursor.ts';
import { digestOf, findPlace, isUnchanged, type Neighbours, type Place } from './neighbours.ts';
import {
  indexByRank,
  MAX_PAGES,
  type PageStart,
  tooManyEmptyPages,
  type VisitedPage,
  type WalkStart,
  walkPages,
} from './page-walk.ts';

const NEWEST: PageRef = { offset: null, follows: null, freshness: 'tail' };

type Ranked = CursorPosition & { readonly rank: number };
type Surrounded = CursorPosition & { readonly neighbours: Neighbours };

const isRanked = (position: CursorPosition): position is Ranked => position.rank !== null;
const isSurrounded = (position: CursorPosition): position is Surrounded => position.neighbours !== null;

/**
 * Finds the item of a cursor again, and returns the place right after it; null when nothing comes after it any more.
 *
 * - Newest first: an item that no longer exists, or has another time than before, counts as lying where its time puts it.
 * - Any other list: its items may have moved, the cursor's own among them. The walk goes on where most of the cursor's item
 *   and its neighbours lie on their sides. Where none of them is left, a list that descends by a number is continued behind
 *   the item's number. Rejects with CURSOR_EXPIRED where nothing shows the place.
 */
export const locateAfter = async <Value>(
  read: ReadPage<Value>,
  after: CursorPosition,
): Promise<WalkStart | null> => {
  const at: PageRef = { offset: after.offset, follows: null, freshness: 'tail' };
  const since = Date.now();
  const page = await read(at);
  // A cached page may be older than the item: only a fresh page shows that the item has moved or is deleted.
  const fresh: PageRef = page.fetchedAt < since ? { ...at, freshness: 'bypass' } : at;
  const { recentOffsets } = after;
  const visit: VisitedPage<Value> = { page, at, recentOffsets };
  if (isSurrounded(after)) return await locateByNeighbours(read, after, visit, fresh);
  if (!isRanked(after)) throw cursorExpired();
  return startAfter(visit, after) ?? (await searchByRank(read, after, { at: fresh, recentOffsets }));
};

/** Searches a list by time, newest first, or by another number, down to the first item behind the cursor's. */
const searchByRank = async <Value>(
  read: ReadPage<Value>,
  after: Ranked,
  start: PageStart,
): Promise<WalkStart | null> => {
  let pages = 0;
  for await (const visit of walkPages(read, start)) {
    pages += 1;
    const { items } = visit.page;
    const found = items.order === 'newestFirst' ? startAfter(visit, after) : null;
    if (found) return found;
    const behind = indexByRank(items, (rank) => isBehind(items, rank, after.rank));
    const startsTooLate = behind === 0 && pages === 1 && visit.at.offset !== null;
    if (startsTooLate) return searchByRank(read, after, { at: NEWEST, recentOffsets: [] });
    if (behind >= 0) return startAt(visit, behind);
    if (pages === MAX_PAGES) throw tooManyEmptyPages();
  }
  return null;
};

/**
 * Whether an item comes after one of this rank that is gone. Of the items of one block, a list by time is taken to have lost
 * all. Throws CURSOR_EXPIRED in any other list where the item has the same rank, or none: it may lie on either side.
 */
const isBehind = ({ order }: PageItems<unknown>, rank: number | null, gone: number): boolean => {
  if (order !== 'newestFirst' && (rank === null || rank === gone)) throw cursorExpired();
  return rank !== null && rank < gone;
};

/** Returns the place after the cursor's item; null where the page does not have it, or has it with another time. */
const startAfter = <Value>(visit: VisitedPage<Value>, { identity, rank }: Ranked): WalkStart | null => {
  const { items } = visit.page;
  const index = items.indexOf(identity);
  if (index < 0) return null;
  // A malformed item takes the time of its neighbour.
  const isInPlace = items.rank(index) === rank || items.value(index) instanceof MalformedFieldError;
  return isInPlace ? startAt(visit, index + 1) : null;
};

/** A place that shows itself by its neighbours, on one of the pages that were searched. */
type Candidate<Value> = { readonly visit: VisitedPage<Value>; readonly place: Place };

const locateByNeighbours = async <Value>(
  read: ReadPage<Value>,
  after: Surrounded,
  remembered: VisitedPage<Value>,
  fresh: PageRef,
): Promise<WalkStart | null> => {
  const { index, identity, neighbours, recentOffsets } = after;
  if (isUnchanged(remembered.page.items, index, identity, neighbours))
    return startAt(remembered, index + 1, neighbours.returned);
  const returned = [...neighbours.returned, ...neighbours.before, digestOf(identity)];
  const known = candidateOn(remembered, after);
  const found = isAgreed(known) ? known : await searchByNeighbours(read, after, { at: fresh, recentOffsets });
  if (found) return startAt(found.visit, found.place.index, returned);
  if (!isRanked(after)) throw cursorExpired();
  const start = await searchByRank(read, after, { at: fresh, recentOffsets });
  return start && { ...start, returned };
};

/**
 * Searches near the old place, then from the head down to it: where items were removed, the others moved up. There an item
 * that alone is left of several does not count: it has moved.
 */
const searchByNeighbours = async <Value>(
  read: ReadPage<Value>,
  after: Surrounded,
  start: PageStart,
): Promise<Candidate<Value> | null> => {
  let best: Candidate<Value> | null = null;
  for await (const visit of firstPages(walkPages(read, start), NEARBY_PAGES)) {
    const candidate = candidateOn(visit, after);
    if (isAgreed(candidate)) return candidate;
    best ??= candidate;
  }
  best ??= await behindPage(read, after, start);
  if (best) return best;
  const isHead = start.at.offset === null;
  const { before, after: behind, nextOffset } = after.neighbours;
  const isOnly = before.length === 0 && behind.length === 0 && nextOffset === null;
  const head: PageStart = { at: { ...NEWEST, freshness: 'bypass' }, recentOffsets: [] };
  for await (const visit of firstPages(walkPages(read, isHead ? start : head), MAX_PAGES)) {
    if (!isHead && visit.at.offset === start.at.offset) return null;
    const candidate = candidateOn(visit, after);
    if (candidate && (isOnly || isAgreed(candidate))) return candidate;
  }
  return null;
};

/** New items push an item from its page to the next one. */
const NEARBY_PAGES = 2;

/**
 * All that was remembered of the end of a page is gone, as where a client removes what it is shown. The next page follows if
 * its offset names an item and does not count items: the page before has then been filled up with what begins the next one.
 */
const behindPage = async <Value>(
  read: ReadPage<Value>,
  { neighbours: { nextOffset } }: Surrounded,
  { at, recentOffsets }: PageStart,
): Promise<Candidate<Value> | null> => {
  if (nextOffset === null) return null;
  const next: PageRef = { offset: nextOffset, follows: null, freshness: 'bypass' };
  const [before, page] = await Promise.all([read(at), read(next)]);
  const follows = page.items.length > 0 && before.items.indexOf(page.items.identity(0)) >= 0;
  return follows ? { visit: { page, at: next, recentOffsets }, place: { index: 0, agreement: 0 } } : null;
};

/** Whether two of the remembered items agree on a place. One alone may have moved there. */
const isAgreed = (candidate: Candidate<unknown> | null): boolean =>
  candidate !== null && candidate.place.agreement >= 2;

const candidateOn = <Value>(
  visit: VisitedPage<Value>,
  { identity, neighbours }: Surrounded,
): Candidate<Value> | null => {
  const place = findPlace(visit.page.items, identity, neighbours);
  return place && { visit, place };
};

async function* firstPages<Value>(
  pages: AsyncIterable<VisitedPage<Value>>,
  count: number,
): AsyncGenerator<VisitedPage<Value>, void, undefined> {
  let taken = 0;
  for await (const visit of pages) {
    yield visit;
    taken += 1;
    if (taken === count) return;
  }
}

const startAt = (
  { at, recentOffsets }: PageStart,
  index: number,
  returned: readonly string[] = [],
): WalkStart => ({ at, recentOffsets, index, returned });

const cursorExpired = () =>
  clientError(
    'CURSOR_EXPIRED',
    'Expected a cursor whose item, or one next to it, is still in the list, got one whose place is gone. Read the list again from its start.',
    { reason: 'moved' },
  );
