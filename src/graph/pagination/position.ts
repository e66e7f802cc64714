import type { PageRef } from '../../upstream/list-loader.ts';

/** The next item of the same page, or the page after it. */
export type NextItem = { readonly identity: string } | { readonly offset: string };

/** Where an item was seen, and what it is: enough to find it again when the pages have shifted. */
export type Position = {
  /** Of the page that it was on; null for the newest page. */
  readonly offset: string | null;
  readonly index: number;
  readonly identity: string;
  /** Milliseconds since 1970; null in a list that is not ordered by time. */
  readonly time: number | null;
  /** What followed it, in a list that is not ordered by time; null when nothing did. */
  readonly next: NextItem | null;
  /** Digests of the last few offsets that led to that page: a service that comes back to one of them goes in circles. */
  readonly recentOffsets: readonly string[];
};

/** Where a walk starts to take: a page, and the index on it of the first item to take. */
export type WalkStart = {
  readonly at: PageRef;
  readonly recentOffsets: readonly string[];
  readonly index: number;
};
