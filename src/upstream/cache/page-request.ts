import type { Trace } from '../../lib/trace-context.ts';
import type { Page } from '../page.ts';

export type PageRequest = {
  /** The group of clients that share the page: see `LoaderParts`. */
  readonly cachePartition: string;
  /** The address of the list, in lower case. Its invalidation invalidates the page. */
  readonly address: string;
  /** Identifies the list: resource, `cachePartition`, address and filters. */
  readonly list: string;
  /** Null for the newest page. */
  readonly offset: string | null;
  /**
   * The identity of the last item of the page before; null when any version of the page will do. Where upstream's offsets
   * count items, a page that was cached before the list grew would leave a gap behind a newer page.
   */
  readonly follows: string | null;
  readonly limit: number;
  /** Whether the page must have decoded data or spam details. */
  readonly details: boolean;
  /** A cached page up to this age, in milliseconds, is fresh; 0 requests a page that is fetched from now on. */
  readonly maxAgeMs: number;
  /** As `maxAgeMs`, at this moment, where deliveries tell of each change of the list; 0 where they don't. */
  readonly watchedMs: () => number;
  /** A cached page up to this age, in milliseconds, is served when upstream fails; 0 for none. */
  readonly staleIfErrorMs: number;
};

/** What is known of a page that another gateway has fetched, or this one earlier. */
export type SharedMeta = {
  /** Milliseconds since its request began. */
  readonly ageMs: number;
  readonly follows: string | null;
  readonly limit: number;
  readonly details: boolean;
  /** Whether a delivery has invalidated it since. */
  readonly invalidated: boolean;
};

export type Fetched<Value> = {
  readonly page: Page<Value>;
  /** The memory that it takes. */
  readonly memoryBytes: number;
  /** Where it was shared. `insteadOf` is the failure for which it stands in, if any. */
  readonly shared?: SharedMeta & { readonly insteadOf: unknown };
};

/**
 * Requests a page of upstream, or gets one of another gateway that is younger than `maxAgeMs`. The signal aborts when no
 * operation waits for the page any more.
 */
export type Fetch<Value> = (
  request: PageRequest,
  signal: AbortSignal,
  maxAgeMs: number,
  trace: Trace,
) => Promise<Fetched<Value>>;

/** How old a cached page may be now. */
export const maxAgeOf = ({ maxAgeMs, watchedMs }: Pick<PageRequest, 'maxAgeMs' | 'watchedMs'>): number =>
  Math.max(maxAgeMs, watchedMs());

/** Identifies a page: its list and its offset. */
export const keyOf = ({ list, offset }: PageRequest): string => JSON.stringify([list, offset]);
