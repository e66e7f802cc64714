import { createHash } from 'node:crypto';
import { UpstreamError } from '../../upstream/client/errors.ts';
import type { PageRef, ReadPage } from '../../upstream/list-loader.ts';
import type { Page, PageItems } from '../../upstream/page.ts';

/** Where a walk over pages starts. */
export type PageStart = {
  readonly at: PageRef;
  /** Digests of the last offsets that led to the page, oldest first. */
  readonly recentOffsets: readonly string[];
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

/** Every cursor carries these digests, so they are few. A longer loop is detected within one walk only. */
const MAX_RECENT_OFFSETS = 8;

/**
 * Yields the pages of a list from `start` on. Each page names the offset of the next one; the walk continues after an
 * empty page. Throws UpstreamError `invalidResponse` when upstream names an offset that led here.
 */
export async function* walkPages<Value>(
  read: ReadPage<Value>,
  start: PageStart,
): AsyncGenerator<VisitedPage<Value>, void, undefined> {
  const visited = new Set<string>(start.recentOffsets);
  let { at, recentOffsets } = start;
  for (;;) {
    if (at.offset !== null) {
      const step = digest(at.offset);
      if (visited.has(step)) throw offsetLoop();
      visited.add(step);
    }
    const page = await read(at);
    yield { page, at, recentOffsets };
    if (page.nextOffset === null) return;
    if (at.offset !== null) recentOffsets = [...recentOffsets, digest(at.offset)].slice(-MAX_RECENT_OFFSETS);
    const { items, nextOffset } = page;
    const follows = items.length > 0 ? items.identity(items.length - 1) : null;
    at = { offset: nextOffset, follows, freshness: 'tail' };
  }
}

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
