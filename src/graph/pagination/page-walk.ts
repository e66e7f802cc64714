import { createHash } from 'node:crypto';
import type { Page } from '../../upstream/cache/page-cache.ts';
import { UpstreamError } from '../../upstream/client/errors.ts';
import type { ReadPage } from '../../upstream/list-loader.ts';
import type { PageItem } from '../../upstream/parse/page-parser.ts';
import type { WalkStart } from './position.ts';

/** One page on the way, with what it takes to come back to it. */
export type VisitedPage<Value> = {
  readonly page: Page<PageItem<Value>>;
  readonly at: WalkStart['at'];
  readonly recentOffsets: readonly string[];
};

/** Some services answer with short or empty pages for a while: this many for one connection, then no more. */
export const MAX_PAGES = 100;

/** Short, since every cursor carries it; a circle of more pages than this shows itself within one walk only. */
const TRAIL_LENGTH = 8;

/**
 * The pages of a list from `start` on, each by the offset that the one before it named. Empty ones are followed.
 * Throws UpstreamError `invalidResponse` when the service names an offset that led here.
 */
export async function* walkPages<Value>(
  read: ReadPage<PageItem<Value>>,
  start: Omit<WalkStart, 'index'>,
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
    if (at.offset !== null) recentOffsets = [...recentOffsets, digest(at.offset)].slice(-TRAIL_LENGTH);
    at = { offset: page.nextOffset, follows: page.items.at(-1)?.identity ?? null, age: 'older' };
  }
}

const digest = (offset: string): string =>
  createHash('sha256').update(offset).digest('base64url').slice(0, 6);

const offsetLoop = (): UpstreamError =>
  new UpstreamError('invalidResponse', "The service's pages go in circles: a next_offset came back.");

export const tooManyEmptyPages = (): UpstreamError =>
  new UpstreamError(
    'invalidResponse',
    `The service gave ${MAX_PAGES} pages in a row with nothing to the point.`,
  );
