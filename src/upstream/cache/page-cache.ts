import type { Deadline } from '../../lib/deadline.ts';
import { allowsStale, cooldownMsFor } from '../client/errors.ts';
import type { Usage } from '../client/usage.ts';
import type { CacheBudget } from './cache-budget.ts';
import { createEntryStore, type EntryMeta } from './cache-entries.ts';
import type { InvalidationBus } from './invalidation.ts';
import { type SharedRequest, startShared } from './single-flight.ts';

/** One page of a list, as one upstream request brought it. */
export type Page<Item> = {
  readonly items: readonly Item[];
  /** Where the next page starts; null on the last one. */
  readonly nextOffset: string | null;
  /** ISO 8601; null where the service does not say. */
  readonly requestTime: string | null;
  readonly responseTime: string | null;
  /** The service's `errors` and `warnings` beside good data, as it put them; null when there are none. */
  readonly partialErrors: PartialErrors | null;
  /** When this gateway asked for it, in milliseconds since 1970. */
  readonly fetchedAt: number;
};

export type PartialErrors = { readonly errors?: unknown; readonly warnings?: unknown };

export type PageRequest = {
  /** With whom its pages are shared: see `LoaderParts`. */
  readonly cachePartition: string;
  /** Whose list it is, in lower case: news of this address outdates the page. */
  readonly address: string;
  /** Resource, `cachePartition`, address and filters: what all pages of one list have in common. */
  readonly list: string;
  /** Null for the newest page. */
  readonly offset: string | null;
  /**
   * The identity of the item that the page must follow on, null when the asker does not care. Under a service
   * whose offsets count items, a page kept from before the head grew would leave a gap behind a newer page.
   */
  readonly follows: string | null;
  readonly limit: number;
  /** Whether decoded data or spam details are wanted. */
  readonly details: boolean;
  /** A kept page this old, in milliseconds, is fresh; 0 asks for one that is fetched from now on. */
  readonly maxAgeMs: number;
  /** A kept page this old, in milliseconds, may stand in when the service fails; 0 for none. */
  readonly staleIfErrorMs: number;
};

/** What one upstream request brought. */
type Fetched<Item> = {
  readonly page: Page<Item>;
  /** Size of the body. */
  readonly bytes: number;
  /** What it cost. */
  readonly computeUnits: number;
};

/**
 * How a want was met: by a kept page that was `fresh`, or `stale` and being refreshed, or that stood in for the service
 * (`staleIfError`); by a request of another operation's (`joined`); or not by anything that was there (`miss`).
 */
export type CacheResult = 'fresh' | 'stale' | 'staleIfError' | 'coalesced' | 'miss';

/** Asks the service for what is wanted. Its signal aborts when nobody waits any more. */
export type Fetch<Item> = (want: PageRequest, signal: AbortSignal) => Promise<Fetched<Item>>;

/** Pages that were fetched, and those that are being fetched. */
export type PageCache<Item> = {
  /**
   * A page that holds at least what is wanted. A fresh one serves; for as long again, a stale one does while one
   * `fetch` refreshes it, at the expense of whoever comes first; else it is what `fetch` brings, for all who ask
   * meanwhile. When that fails for the service's fault, a page of no more than `staleIfErrorMs` stands in, even one that
   * there was news of, and as long as a refusal asks for (a minute at most), without asking again; when there is none,
   * the failure is passed on, and not kept. Details that were wanted are fetched with each page that follows for as long
   * as one with them might have served: a want without details never displaces them.
   */
  get(want: PageRequest, usage: Usage, deadline: Deadline, fetch: Fetch<Item>): Promise<Page<Item>>;
};

type Found<Item> = { readonly page: Page<Item>; readonly source: CacheResult };

type InFlight<Item> = { readonly meta: EntryMeta; readonly sharedRequest: SharedRequest<Fetched<Item>> };

/** `onGet` is told how each want was met. */
export const createPageCache = <Item>(
  budget: CacheBudget,
  invalidation: InvalidationBus,
  onGet: (source: CacheResult) => void = () => {},
  now: () => number = () => performance.now(),
): PageCache<Item> => {
  const entries = createEntryStore<Fetched<Item>>(budget);
  const inFlight = new Map<string, InFlight<Item>>();

  const fetchPage = (
    key: string,
    original: PageRequest,
    fetch: Fetch<Item>,
  ): SharedRequest<Fetched<Item>> => {
    const startedAt = now();
    // Also those still on their way: this request may replace them.
    const before = [entries.get(key)?.meta, inFlight.get(key)?.meta].map(
      (meta) => meta?.keepDetailsUntil ?? 0,
    );
    const keepDetailsUntil = Math.max(lastDetailsOf(original, startedAt), ...before);
    const want = { ...original, details: original.details || keepDetailsUntil > startedAt };
    const { follows, limit, details } = want;
    const meta: EntryMeta = {
      follows,
      limit,
      details,
      startedAt,
      keepDetailsUntil,
      invalidated: false,
      retryNotBefore: 0,
    };
    const unsubscribe = invalidation.subscribe(want.cachePartition, want.address, meta);
    const settleInFlight = () => {
      if (inFlight.get(key) === pending) inFlight.delete(key);
    };
    const sharedRequest = startShared((signal) =>
      fetch(want, signal).then(
        (fetched) => {
          settleInFlight();
          entries.put(key, { meta, value: fetched, bytes: fetched.bytes, onEvict: unsubscribe });
          return fetched;
        },
        (error: unknown) => {
          settleInFlight();
          unsubscribe();
          const known = entries.get(key);
          if (known) known.meta.retryNotBefore = now() + cooldownMsFor(error);
          throw error;
        },
      ),
    );
    const pending = { meta, sharedRequest };
    inFlight.set(key, pending);
    return sharedRequest;
  };

  const inFlightFor = (key: string, want: PageRequest): SharedRequest<Fetched<Item>> | null => {
    const pending = inFlight.get(key);
    if (!pending || pending.meta.invalidated || pending.sharedRequest.isAbandoned) return null;
    return touchAndCovers(pending.meta, want) ? pending.sharedRequest : null;
  };

  const entryFor = (key: string, want: PageRequest) => {
    const entry = entries.get(key);
    return entry && touchAndCovers(entry.meta, want) ? entry : null;
  };

  const touchAndCovers = (meta: EntryMeta, want: PageRequest): boolean => {
    if (!satisfies(meta, want)) return false;
    meta.keepDetailsUntil = Math.max(lastDetailsOf(want, now()), meta.keepDetailsUntil);
    return true;
  };

  /** A page that needs no waiting for; what has gone stale is refreshed behind it. */
  const cachedPage = (key: string, want: PageRequest, fetch: Fetch<Item>): Found<Item> | null => {
    const known = entryFor(key, want);
    if (!known) return null;
    const age = now() - known.meta.startedAt;
    const mayFetch = now() >= known.meta.retryNotBefore;
    const { page } = known.value;
    if (!mayFetch && age <= want.staleIfErrorMs) return { page, source: 'staleIfError' };
    if (known.meta.invalidated || age >= want.maxAgeMs * 2) return null;
    if (age >= want.maxAgeMs && mayFetch && !inFlightFor(key, want))
      fetchPage(key, refreshing(known.meta, want), fetch).detach();
    return { page, source: age < want.maxAgeMs ? 'fresh' : 'stale' };
  };

  const staleIfError = (key: string, want: PageRequest, error: unknown): Page<Item> | null => {
    const known = allowsStale(error) ? entryFor(key, want) : null;
    return known && now() - known.meta.startedAt <= want.staleIfErrorMs ? known.value.page : null;
  };

  return {
    async get(want, usage, deadline, fetch) {
      const key = JSON.stringify([want.list, want.offset]);
      const found = cachedPage(key, want, fetch);
      const joined = found ? null : inFlightFor(key, want);
      if (found || joined) usage.cached += 1;
      let source: CacheResult = found?.source ?? (joined ? 'coalesced' : 'miss');
      try {
        return found?.page ?? (await (joined ?? fetchPage(key, want, fetch)).join(deadline)).page;
      } catch (error) {
        const older = staleIfError(key, want, error);
        if (!older) throw error;
        if (!joined) usage.cached += 1;
        source = 'staleIfError';
        return older;
      } finally {
        onGet(source);
      }
    },
  };
};

const satisfies = (meta: EntryMeta, want: PageRequest): boolean =>
  meta.limit >= want.limit &&
  (meta.details || !want.details) &&
  (want.follows === null || meta.follows === want.follows);

/** As much as the page has by now: whoever is served by it must be served by the next one too. */
const refreshing = ({ follows, limit }: EntryMeta, want: PageRequest): PageRequest => ({
  ...want,
  follows,
  limit: Math.max(limit, want.limit),
});

/** Until when the details of a page that has them `now` might serve, or stand in, for the like of this want. */
const lastDetailsOf = ({ details, maxAgeMs, staleIfErrorMs }: PageRequest, now: number): number =>
  details ? now + Math.max(maxAgeMs * 2, staleIfErrorMs) : 0;
