import { createHash } from 'node:crypto';
import { UpstreamError } from '../../upstream/client/errors.ts';
import type { PageRef, ReadPage } from '../../upstream/list-loader.ts';
import type { Lead, Page } from '../../upstream/page.ts';
import { clientError } from '../errors.ts';

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
