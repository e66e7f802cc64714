import { createHash } from 'node:crypto';
import { UpstreamError } from '../../upstream/client/errors.ts';
import type { PageRef, ReadPage } from '../../upstream/list-loader.ts';
import type { Lead, Page, PageItems } from '../../upstream/page.ts';
import { MalformedFieldError } from '../../upstream/parse/fields.ts';
import { clientError } from '../errors.ts';
import type { CursorPosition } from './cursor.ts';
import { digestOf, findPlace, isUnchanged, type Neighbours, type Place } from './cursor.ts';

const NEWEST: PageRef = { offset: null, follows: null, freshness: 'tail' };

type Ranked = CursorPosition & { readonly rank: number };
type Surrounded = CursorPosition & { readonly neighbours: Neighbours };

const isRanked = (position: CursorPosition): position is Ranked => position.rank !== null;
const isSurrounded = (position: CursorPosition): position is Surrounded => position.neighbours !== null;

/**
 * Finds the item of a cursor again, and returns the place right after it; null if nothing follows it any longer.
 *
 * - Newest first: an item that no longer exists, or whose time has changed, counts as being where its old time puts it.
 * - Any other list: its items may have moved, the cursor's own among them. The walk continues at the place that has most of
 *   the cursor's item and its neighbours on their proper sides. If none of them is left, a list that descends by a number is
 *   continued behind the item's number. Rejects with CURSOR_EXPIRED if nothing shows the place.
 */
export const locateAfter = async <Value>(
  read: ReadPage<Value>,
  after: CursorPosition,
): Promise<WalkStart | null> => {
  const at: PageRef = { offset: after.offset, follows: null, freshness: 'tail' };
  const since = Date.now();
  const { lead } = after;
  const page = pageBehind(await read(at), lead);
  // A cached page may be older than the item: only a fresh page shows that the item has moved or is deleted.
  const fresh: PageRef = page.fetchedAt < since ? { ...at, freshness: 'bypass' } : at;
  const { recentOffsets } = after;
  const visit: VisitedPage<Value> = { page, at, recentOffsets, lead };
  if (isSurrounded(after)) return await locateByNeighbours(read, after, visit, fresh);
  if (!isRanked(after)) throw cursorExpired();
  return startAfter(visit, after) ?? (await searchByRank(read, after, { at: fresh, recentOffsets, lead }));
};

/** Searches a list by time, newest first, or by another number, down to the first item behind the cursor's. */
const searchByRank = async <Value>(
  read: ReadPage<Value>,
  after: Ranked,
  start: PageStart,
): Promise<WalkStart | null> => {
  const walk = new PageWalk(read, start);
  let pages = 0;
  for (let visit = await walk.next(); visit; visit = await walk.next()) {
    pages += 1;
    const { items } = visit.page;
    const found = items.order === 'newestFirst' ? startAfter(visit, after) : null;
    if (found) return found;
    const behind = indexByRank(items, (rank) => isBehind(items, rank, after.rank));
    const startsTooLate = behind === 0 && pages === 1 && visit.at.offset !== null;
    if (startsTooLate) return searchByRank(read, after, { at: NEWEST, recentOffsets: [], lead: null });
    if (behind >= 0) return startAt(visit, behind);
    if (pages === MAX_PAGES) throw tooManyEmptyPages();
  }
  return null;
};

/**
 * Whether an item comes after one of this rank that is gone. A list by time is assumed to have lost all items of a block. In
 * any other list, throws CURSOR_EXPIRED if the item has the same rank or none, because it may be on either side.
 */
const isBehind = ({ order }: PageItems<unknown>, rank: number | null, gone: number): boolean => {
  if (order !== 'newestFirst' && (rank === null || rank === gone)) throw cursorExpired();
  return rank !== null && rank < gone;
};

/** Returns the place after the cursor's item; null if the page does not have it, or has it with another time. */
const startAfter = <Value>(visit: VisitedPage<Value>, { identity, rank }: Ranked): WalkStart | null => {
  const { items } = visit.page;
  const index = items.indexOf(identity);
  if (index < 0) return null;
  // A malformed item takes the time of its neighbour.
  const isInPlace = items.rank(index) === rank || items.value(index) instanceof MalformedFieldError;
  return isInPlace ? startAt(visit, index + 1) : null;
};

/** A place recognised by its neighbours, on one of the pages that were searched. */
type Candidate<Value> = { readonly visit: VisitedPage<Value>; readonly place: Place };

const locateByNeighbours = async <Value>(
  read: ReadPage<Value>,
  after: Surrounded,
  remembered: VisitedPage<Value>,
  fresh: PageRef,
): Promise<WalkStart | null> => {
  const { index, identity, neighbours, recentOffsets, lead } = after;
  if (isUnchanged(remembered.page.items, index, identity, neighbours))
    return startAt(remembered, index + 1, neighbours.returned);
  const returned = [...neighbours.returned, ...neighbours.before, digestOf(identity)];
  const known = candidateOn(remembered, after);
  const start: PageStart = { at: fresh, recentOffsets, lead };
  const found = isAgreed(known) ? known : await searchByNeighbours(read, after, start);
  if (found) return startAt(found.visit, found.place.index, returned);
  if (!isRanked(after)) throw cursorExpired();
  const place = await searchByRank(read, after, start);
  return place && { ...place, returned };
};

/**
 * Searches near the old place, then from the head down to it, because removals move items up. There, an item that is the
 * only one left of several does not count: it has moved.
 */
const searchByNeighbours = async <Value>(
  read: ReadPage<Value>,
  after: Surrounded,
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
  const head: PageStart = { at: { ...NEWEST, freshness: 'bypass' }, recentOffsets: [], lead: null };
  const pages = new PageWalk(read, isHead ? start : head, MAX_PAGES);
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
  { neighbours: { nextOffset } }: Surrounded,
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
const isAgreed = (candidate: Candidate<unknown> | null): boolean =>
  candidate !== null && candidate.place.agreement >= 2;

const candidateOn = <Value>(
  visit: VisitedPage<Value>,
  { identity, neighbours }: Surrounded,
): Candidate<Value> | null => {
  const place = findPlace(visit.page.items, identity, neighbours);
  return place && { visit, place };
};

const startAt = (
  { at, recentOffsets, lead }: PageStart,
  index: number,
  returned: readonly string[] = [],
): WalkStart => ({ at, recentOffsets, lead, index, returned });

const cursorExpired = () =>
  clientError(
    'CURSOR_EXPIRED',
    'Expected a cursor whose item, or one next to it, is still in the list, got one whose place is gone. Read the list again from its start.',
    { reason: 'moved' },
  );

/** Where a walk over pages starts. */
type PageStart = {
  readonly at: PageRef;
  /** Digests of the last offsets that led to the page, oldest first. */
  readonly recentOffsets: readonly string[];
  /** How the pages before it end, as far as it is known. */
  readonly lead: Lead | null;
};

/** Where a walk over items starts: a page, and the index on it of the first item. */
export type WalkStart = PageStart & {
  readonly index: number;
  /** Digests of items that the walk has returned already, and that may come again. */
  readonly returned: readonly string[];
};

/** A page of the walk, with its place: a later walk can start there. */
export type VisitedPage<Value> = PageStart & { readonly page: Page<Value> };

/** The most pages that one connection reads: an upstream may send short or empty pages for a while. */
export const MAX_PAGES = 100;

/** Every cursor carries these digests, so there are few. A longer loop is detected only within one walk. */
const MAX_RECENT_OFFSETS = 8;

/**
 * The pages of a list from `start` on, at most `most` of them. Each page names the offset of the next one; the walk continues
 * after an empty page. It is not an async generator, since each step of one takes several promises.
 */
export class PageWalk<Value> {
  readonly #read: ReadPage<Value>;
  readonly #start: PageStart;
  readonly #visited: Set<string>;
  #left: number;
  #last: VisitedPage<Value> | null = null;

  constructor(read: ReadPage<Value>, start: PageStart, most = Number.POSITIVE_INFINITY) {
    this.#read = read;
    this.#start = start;
    this.#visited = new Set(start.recentOffsets);
    this.#left = most;
  }

  /**
   * Resolves with the next page; null after the last one. Rejects with UpstreamError `invalidResponse` if upstream names an
   * offset that led here.
   */
  async next(): Promise<VisitedPage<Value> | null> {
    const start = this.#last === null ? this.#start : startBehind(this.#last);
    if (start === null || this.#left === 0) return null;
    const { at, recentOffsets, lead } = start;
    if (at.offset !== null) {
      const step = digest(at.offset);
      if (this.#visited.has(step)) throw offsetLoop();
      this.#visited.add(step);
    }
    const page = pageBehind(await this.#read(at), lead);
    this.#left -= 1;
    this.#last = { page, at, recentOffsets, lead };
    return this.#last;
  }
}

/** Where the page behind this one is; null behind the last one. */
const startBehind = ({ page, at, recentOffsets }: VisitedPage<unknown>): PageStart | null => {
  const { items, nextOffset } = page;
  if (nextOffset === null) return null;
  const follows = items.length > 0 ? items.identity(items.length - 1) : null;
  return {
    at: { offset: nextOffset, follows, freshness: 'tail' },
    recentOffsets:
      at.offset === null ? recentOffsets : [...recentOffsets, digest(at.offset)].slice(-MAX_RECENT_OFFSETS),
    lead: items.tail,
  };
};

const pageBehind = <Value>(page: Page<Value>, lead: Lead | null): Page<Value> =>
  lead === null ? page : { ...page, items: page.items.continuing(lead) };

/** Returns the index of the first item whose rank matches; -1 without one. */
export const indexByRank = <Value>(
  items: PageItems<Value>,
  matches: (rank: number | null) => boolean,
): number => {
  for (let index = 0; index < items.length; index += 1) if (matches(items.rank(index))) return index;
  return -1;
};

const digest = (offset: string): string =>
  createHash('sha256').update(offset).digest('base64url').slice(0, 6);

const offsetLoop = (): UpstreamError =>
  new UpstreamError('invalidResponse', "The service's pages go in circles: a next_offset came back.");

export const tooManyEmptyPages = (): UpstreamError =>
  new UpstreamError(
    'invalidResponse',
    `Expected an item within ${MAX_PAGES} pages of the service, got none.`,
  );
