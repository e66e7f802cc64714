import type { PageRef, ReadPage } from '../../upstream/list-loader.ts';
import type { CursorPosition } from './cursor.ts';
import {
  indexByTime,
  MAX_PAGES,
  type PageStart,
  tooManyEmptyPages,
  type WalkStart,
  walkPages,
} from './page-walk.ts';

/**
 * A list without times is searched on the page where the item was, and on the next: new items push an item no further
 * than that.
 */
const MAX_UNTIMED_PAGES = 2;

type Timed = CursorPosition & { readonly time: number };

const isTimed = (position: CursorPosition): position is Timed => position.time !== null;

const NEWEST: PageRef = { offset: null, follows: null, freshness: 'tail' };

/**
 * Finds the item of a cursor again, and returns the place right after it; null when nothing comes after it any more.
 *
 * An item that no longer exists counts as lying where its time puts it. In a list without times it counts as lying before
 * its successor, or where it was when the successor is missing too.
 */
export const locateAfter = async <Value>(
  read: ReadPage<Value>,
  after: CursorPosition,
): Promise<WalkStart | null> => {
  const at: PageRef = { offset: after.offset, follows: null, freshness: 'tail' };
  const since = Date.now();
  const page = await read(at);
  const index = page.items.indexOf(after.identity);
  if (index >= 0) return { at, recentOffsets: after.recentOffsets, index: index + 1 };
  // A cached page may be older than the item: only a fresh page shows that the item has moved or is deleted.
  const fresh: PageRef = page.fetchedAt < since ? { ...at, freshness: 'bypass' } : at;
  const start = { at: fresh, recentOffsets: after.recentOffsets };
  return isTimed(after) ? searchByTime(read, after, start) : searchNearby(read, after, start);
};

/** Searches a list without times: near the old place, else before the item's successor. */
const searchNearby = async <Value>(
  read: ReadPage<Value>,
  after: CursorPosition,
  start: PageStart,
): Promise<WalkStart> => {
  const { next } = after;
  let pages = 0;
  let beforeNext: WalkStart | null = null;
  for await (const { page, at, recentOffsets } of walkPages(read, start)) {
    const index = page.items.indexOf(after.identity);
    if (index >= 0) return { at, recentOffsets, index: index + 1 };
    const nextIndex = next !== null && 'identity' in next ? page.items.indexOf(next.identity) : -1;
    if (nextIndex >= 0) beforeNext ??= { at, recentOffsets, index: nextIndex };
    pages += 1;
    if (pages === MAX_UNTIMED_PAGES) break;
  }
  if (next !== null && 'offset' in next)
    return { at: { ...start.at, offset: next.offset }, recentOffsets: start.recentOffsets, index: 0 };
  return beforeNext ?? { ...start, index: after.index };
};

/** Searches a list by time, newest first, down to the first item that is older than the cursor's. */
const searchByTime = async <Value>(
  read: ReadPage<Value>,
  after: Timed,
  start: PageStart,
): Promise<WalkStart | null> => {
  let pages = 0;
  for await (const { page, at, recentOffsets } of walkPages(read, start)) {
    pages += 1;
    const index = page.items.indexOf(after.identity);
    if (index >= 0) return { at, recentOffsets, index: index + 1 };
    const older = indexByTime(page.items, (time) => time !== null && time < after.time);
    const startsTooLate = older === 0 && pages === 1 && at.offset !== null;
    if (startsTooLate) return searchByTime(read, after, { at: NEWEST, recentOffsets: [] });
    if (older >= 0) return { at, recentOffsets, index: older };
    if (pages === MAX_PAGES) throw tooManyEmptyPages();
  }
  return null;
};
