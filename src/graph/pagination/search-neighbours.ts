import type { PageRef, ReadPage } from '../../upstream/list-loader.ts';
import type { CursorPosition } from './cursor.ts';
import { findPlace, type Place } from './neighbours.ts';
import { HEAD, MAX_PAGES, type PageStart, PageWalk, type VisitedPage } from './page-walk.ts';

/** A place recognised by its neighbours, on one of the pages that were searched. */
type Candidate<Value> = { readonly visit: VisitedPage<Value>; readonly place: Place };

/**
 * Searches near the old place, then from the head down to it, because removals move items up. There, an item that is the
 * only one left of several does not count: it has moved.
 */
export const searchByNeighbours = async <Value>(
  read: ReadPage<Value>,
  after: CursorPosition,
  start: PageStart,
): Promise<Candidate<Value> | null> => {
  let best: Candidate<Value> | null = null;
  const nearby = new PageWalk(read, start, NEARBY_PAGES);
  for (let visit = await nearby.next(); visit; visit = await nearby.next()) {
    const candidate = candidateOn(visit, after);
    if (isAgreed(candidate)) return candidate;
    best ??= candidate;
  }
  best ??= await behindPage(read, after, start);
  if (best) return best;
  const isHead = start.at.offset === null;
  const { before, after: behind, nextOffset } = after.neighbours;
  const isOnly = before.length === 0 && behind.length === 0 && nextOffset === null;
  const pages = new PageWalk(read, isHead ? start : HEAD, MAX_PAGES);
  for (let visit = await pages.next(); visit; visit = await pages.next()) {
    if (!isHead && visit.at.offset === start.at.offset) return null;
    const candidate = candidateOn(visit, after);
    if (candidate && (isOnly || isAgreed(candidate))) return candidate;
  }
  return null;
};

/** New items push an item from its page to the next one. */
const NEARBY_PAGES = 2;

/**
 * Everything that was remembered of the end of a page is gone, for example because a client removes what it is shown. The
 * next page still follows if its offset names an item instead of counting items. The previous page shows that: it has been
 * filled up with what begins the next one.
 */
const behindPage = async <Value>(
  read: ReadPage<Value>,
  { neighbours: { nextOffset } }: CursorPosition,
  { at, recentOffsets, lead }: PageStart,
): Promise<Candidate<Value> | null> => {
  if (nextOffset === null) return null;
  const next: PageRef = { offset: nextOffset, follows: null, freshness: 'bypass' };
  const [before, page] = await Promise.all([read(at), read(next)]);
  const follows = page.items.length > 0 && before.items.indexOf(page.items.identity(0)) >= 0;
  return follows
    ? { visit: { page, at: next, recentOffsets, lead }, place: { index: 0, agreement: 0 } }
    : null;
};

/** Whether two of the remembered items agree on a place. One alone may have moved there. */
export const isAgreed = (candidate: Candidate<unknown> | null): boolean =>
  candidate !== null && candidate.place.agreement >= 2;

export const candidateOn = <Value>(
  visit: VisitedPage<Value>,
  { identity, neighbours }: CursorPosition,
): Candidate<Value> | null => {
  const place = findPlace(visit.page.items, identity, neighbours);
  return place && { visit, place };
};
