import type { Page } from '../../upstream/cache/page-cache.ts';
import type { PageRef, ReadPage } from '../../upstream/list-loader.ts';
import type { PageItem } from '../../upstream/parse/page-parser.ts';
import { MAX_PAGES, tooManyEmptyPages, walkPages } from './page-walk.ts';
import type { Position, WalkStart } from './position.ts';

/** The items of a list without times are looked for on the page where they were and on the next: new ones push no further. */
const MAX_UNTIMED_PAGES = 2;

type Timed = Position & { readonly time: number };

const isTimed = (position: Position): position is Timed => position.time !== null;

const NEWEST: PageRef = { offset: null, follows: null, age: 'older' };

/**
 * The place just behind an item that was seen at `after`; null when nothing lies behind it any more.
 * An item that is gone is taken to lie where its time puts it, or in a list without times before what followed it; where
 * that is gone too, where it was.
 */
export const locateAfter = async <Value>(
  read: ReadPage<PageItem<Value>>,
  after: Position,
): Promise<WalkStart | null> => {
  const at: PageRef = { offset: after.offset, follows: null, age: 'older' };
  const since = Date.now();
  const page = await read(at);
  const index = indexOf(page, after.identity);
  if (index >= 0) return { at, recentOffsets: after.recentOffsets, index: index + 1 };
  // A kept page may be from before the item: only a fresh one can say that it has moved or is gone.
  const fresh: PageRef = page.fetchedAt < since ? { ...at, age: 'now' } : at;
  const start = { at: fresh, recentOffsets: after.recentOffsets };
  return isTimed(after) ? searchByTime(read, after, start) : searchNearby(read, after, start);
};

/** In a list without times: nearby, or else before what followed it. */
const searchNearby = async <Value>(
  read: ReadPage<PageItem<Value>>,
  after: Position,
  start: Omit<WalkStart, 'index'>,
): Promise<WalkStart> => {
  const follows = after.next;
  let pages = 0;
  let follower: WalkStart | null = null;
  for await (const { page, at, recentOffsets } of walkPages(read, start)) {
    const index = indexOf(page, after.identity);
    if (index >= 0) return { at, recentOffsets, index: index + 1 };
    const next = follows !== null && 'identity' in follows ? indexOf(page, follows.identity) : -1;
    if (next >= 0) follower ??= { at, recentOffsets, index: next };
    pages += 1;
    if (pages === MAX_UNTIMED_PAGES) break;
  }
  if (follows !== null && 'offset' in follows)
    return { at: { ...start.at, offset: follows.offset }, recentOffsets: start.recentOffsets, index: 0 };
  return follower ?? { ...start, index: after.index };
};

/** In a list by time, newest first: down to what is older than the item. */
const searchByTime = async <Value>(
  read: ReadPage<PageItem<Value>>,
  after: Timed,
  start: Omit<WalkStart, 'index'>,
): Promise<WalkStart | null> => {
  let pages = 0;
  for await (const { page, at, recentOffsets } of walkPages(read, start)) {
    pages += 1;
    const index = indexOf(page, after.identity);
    if (index >= 0) return { at, recentOffsets, index: index + 1 };
    const older = firstOlderThan(page, after.time);
    const wentPast = older === 0 && pages === 1 && at.offset !== null;
    if (wentPast) return searchByTime(read, after, { at: NEWEST, recentOffsets: [] });
    if (older >= 0) return { at, recentOffsets, index: older };
    if (pages === MAX_PAGES) throw tooManyEmptyPages();
  }
  return null;
};

const indexOf = <Value>({ items }: Page<PageItem<Value>>, identity: string): number =>
  items.findIndex((item) => item.identity === identity);

const firstOlderThan = <Value>({ items }: Page<PageItem<Value>>, time: number): number =>
  items.findIndex((item) => item.time !== null && item.time < time);
