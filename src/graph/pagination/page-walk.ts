import { createHash } from 'node:crypto';
import { UpstreamError } from '../../upstream/client/errors.ts';
import type { PageRef, ReadPage } from '../../upstream/list-loader.ts';
import type { Lead, Page } from '../../upstream/page.ts';
import { worthReading } from '../../upstream/page-sizes.ts';
import { clientError } from '../errors.ts';
import type { CursorPosition } from './cursor.ts';

/** Where a walk over pages starts. */
export type PageStart = {
  readonly at: PageRef;
  /** Digests of the last offsets that led to the page, oldest first. */
  readonly recentOffsets: readonly string[];
  /** How the pages before it end, as far as it is known. */
  readonly lead: Lead | null;
};

/** The newest page of a list, as it is now. */
export const HEAD: PageStart = {
  at: { offset: null, follows: null, freshness: 'bypass' },
  recentOffsets: [],
  lead: null,
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
  readonly #items: number | undefined;
  readonly #visited: Set<string>;
  #left: number;
  #last: VisitedPage<Value> | null = null;

  /** `items` is how many of them the walk is for; undefined for all. */
  constructor(
    read: ReadPage<Value>,
    start: PageStart,
    most = Number.POSITIVE_INFINITY,
    items: number | undefined = undefined,
  ) {
    this.#read = read;
    this.#start = start;
    this.#items = items;
    this.#visited = new Set(start.recentOffsets);
    this.#left = most;
  }

  /**
   * Resolves with the next page; null after the last one. Rejects with UpstreamError `invalidResponse` if upstream names an
   * offset that led here.
   */
  async next(): Promise<VisitedPage<Value> | null> {
    const start = this.#last === null ? this.#start : startBehind(this.#last, this.#items);
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
const startBehind = (
  { page, at, recentOffsets }: VisitedPage<unknown>,
  wanted: number | undefined,
): PageStart | null => {
  const { items, nextOffset } = page;
  if (nextOffset === null) return null;
  const follows = items.length > 0 ? items.identity(items.length - 1) : null;
  const offsets =
    at.offset === null ? recentOffsets : [...recentOffsets, digest(at.offset)].slice(-MAX_RECENT_OFFSETS);
  return {
    at: { offset: nextOffset, follows, freshness: 'tail', items: wanted && itemsAt(wanted, offsets) },
    recentOffsets: offsets,
    lead: items.tail,
  };
};

/** How many items are read of a page behind the newest one, which these offsets led to. */
const itemsAt = (wanted: number, recentOffsets: readonly string[]): number =>
  Math.max(wanted, worthReading(recentOffsets.length + 1));

/** Where the page of a cursor is, as far as it is read: up to what the cursor remembers. */
export const pageRefOf = ({ offset, index, neighbours, recentOffsets }: CursorPosition): PageRef => {
  const items = index + 1 + neighbours.after.length;
  const isNewest = offset === null;
  return {
    offset,
    follows: null,
    freshness: 'tail',
    items: isNewest ? items : itemsAt(items, recentOffsets),
  };
};

export const pageBehind = <Value>(page: Page<Value>, lead: Lead | null): Page<Value> =>
  lead === null ? page : { ...page, items: page.items.continuing(lead) };

const digest = (offset: string): string =>
  createHash('sha256').update(offset).digest('base64url').slice(0, 6);

const offsetLoop = (): UpstreamError =>
  new UpstreamError('invalidResponse', "The service's pages go in circles: a next_offset came back.");

export const tooManyEmptyPages = (): UpstreamError =>
  new UpstreamError(
    'invalidResponse',
    `Expected an item within ${MAX_PAGES} pages of the service, got none.`,
  );

export const cursorExpired = () =>
  clientError(
    'CURSOR_EXPIRED',
    'Expected a cursor whose item, or one next to it, is still in the list, got one whose place is gone. Read the list again from its start.',
    { reason: 'moved' },
  );
