import { type Clock, monotonicClock } from '../../lib/deadlines.ts';
import type { Trace } from '../../lib/trace.ts';
import type { RequestScope, Usage } from '../client/request.ts';
import {
  type Fetch,
  type Fetched,
  hasFailures,
  keyOf,
  maxAgeOf,
  type Page,
  type PageRequest,
  type SharedMeta,
} from '../page.ts';
import type { InvalidationBus } from './entries.ts';
import {
  type CacheBudget,
  createEntryStore,
  createMeta,
  type Entry,
  type EntryMeta,
  freshMsOf,
  refreshRequest,
  retainDetails,
  satisfies,
} from './entries.ts';
import { allowsStale, cooldownMsFor, type SharedRequest, startShared } from './single-flight.ts';

/** A cache of pages with single-flight, stale-while-revalidate and stale-if-error. */
export type PageCache<Value> = {
  /**
   * Resolves with a page that has at least what is requested.
   * - A fresh page is served.
   * - Up to twice its age, a stale page is served while one `fetch` refreshes it, at the expense of the first caller.
   * - Otherwise the page is fetched, once for all callers that ask meanwhile.
   * - If that fails because of upstream, a page up to `staleIfErrorMs` old is served, even an invalidated one. While a
   *   Retry-After asks to wait (at most a minute), it is served without another request.
   * - A page of which upstream could not read a part is fresh for a second at most, and then fetched. A whole one that was
   *   there before is kept, and served in its place if the next request fails.
   * - Without such a page the failure is passed on, and not cached.
   *
   * A caller that retains the page does so before the event loop goes on.
   */
  get(
    request: PageRequest,
    scope: Pick<RequestScope, 'usage' | 'deadline' | 'trace'>,
    fetch: Fetch<Value>,
  ): Promise<Page<Value>>;
  /** Whether `get` would serve a fresh page now, or one that is being fetched. */
  isAtHand(request: PageRequest): boolean;
  /** Whether `get` would serve this very page now, as a fresh one. */
  isFresh(request: PageRequest, page: Page<Value>): boolean;
  /**
   * How long the very same page stays fresh by its age alone, in milliseconds; 0 if it is not fresh, or another one is
   * served, or a change that the service tells of may end it at any time.
   */
  freshForMs(request: PageRequest, page: Page<Value>): number;
  /** Counts a page for which `isFresh` is true as if `get` had served it. */
  countFresh(request: PageRequest, usage: Usage): void;
};

/** A call of `get`. */
type Get<Value> = {
  readonly key: string;
  readonly request: PageRequest;
  readonly fetch: Fetch<Value>;
  readonly trace: Trace;
};

type CachedPage<Value> = { readonly page: Page<Value>; readonly result: CacheResult };

type InFlight<Value> = {
  readonly meta: EntryMeta;
  /** It may get a page from another gateway that is younger than this; 0 if it can't get an older one. */
  readonly maxAgeMs: number;
  readonly shared: SharedRequest<Fetched<Value>>;
  readonly trace: Trace;
};

/** `sharesPages` says whether `fetch` may get pages of other gateways. */
export const createPageCache = <Value>(
  budget: CacheBudget,
  invalidation: InvalidationBus,
  observer: PageObserver = {},
  now: Clock = monotonicClock,
  sharesPages = false,
): PageCache<Value> => {
  const entries = createEntryStore<Fetched<Value>>(budget);
  const inFlight = new Map<string, InFlight<Value>>();

  const fetchPage = (
    key: string,
    original: PageRequest,
    fetch: Fetch<Value>,
    maxAgeMs: number,
    trace: Trace,
  ): InFlight<Value> => {
    const replaced = [entries.get(key), entries.whole(key), inFlight.get(key)];
    const meta = createMeta(
      original,
      replaced.map((each) => each?.meta),
      now(),
    );
    const request = { ...original, details: meta.details };
    const unsubscribe = invalidation.subscribe(request.cachePartition, request.address, meta);
    const removeInFlight = () => {
      if (inFlight.get(key)?.meta === meta) inFlight.delete(key);
    };
    const shared = startShared((signal) =>
      fetch(request, signal, maxAgeMs, trace).then(
        (fetched) => {
          removeInFlight();
          if (fetched.shared) describeShared(meta, fetched.shared, now());
          meta.hasFailures = hasFailures(fetched.page);
          entries.put(key, entryOf(fetched, meta, unsubscribe));
          return fetched;
        },
        (error: unknown) => {
          removeInFlight();
          unsubscribe();
          for (const older of [entries.get(key), entries.whole(key)])
            if (older) older.meta.retryNotBefore = now() + cooldownMsFor(error);
          throw error;
        },
      ),
    );
    const flight = { meta, maxAgeMs: sharesPages ? maxAgeMs : 0, shared, trace };
    inFlight.set(key, flight);
    return flight;
  };

  const flightFor = (key: string, request: PageRequest): InFlight<Value> | null => {
    const found = inFlight.get(key);
    if (!found || found.meta.invalidated || found.shared.isAbandoned) return null;
    if (!satisfies(found.meta, request) || found.maxAgeMs > maxAgeOf(request) * 2) return null;
    retainDetails(found.meta, request, now());
    return found;
  };

  const findEntry = (key: string, request: PageRequest): Entry<Fetched<Value>> | null => {
    const entry = entries.get(key);
    return entry && satisfies(entry.meta, request) ? entry : null;
  };

  const isFreshFor = (meta: EntryMeta, request: PageRequest): boolean =>
    !meta.invalidated && now() - meta.startedAt < freshMsOf(meta, request);

  /** Stale-while-revalidate: one request for all callers, which none of them waits for. */
  const refresh = ({ key, request, fetch, trace }: Get<Value>, stale: EntryMeta): void => {
    if (!flightFor(key, request))
      fetchPage(key, refreshRequest(stale, request), fetch, maxAgeOf(request), trace).shared.detach();
  };

  /** A page that can be served at once. */
  const fromCache = (get: Get<Value>): CachedPage<Value> | null => {
    const { key, request } = get;
    const entry = findEntry(key, request);
    if (!entry) return null;
    const { meta, value } = entry;
    const age = now() - meta.startedAt;
    const mayFetch = now() >= meta.retryNotBefore;
    const standIn = mayFetch ? null : standInFor(key, request);
    if (standIn) return { page: standIn, result: 'staleIfError' };
    const freshMs = freshMsOf(meta, request);
    if (meta.invalidated || age >= (meta.hasFailures ? freshMs : freshMs * 2)) return null;
    retainDetails(meta, request, now());
    const isFresh = age < freshMs;
    if (!isFresh && mayFetch) refresh(get, meta);
    return { page: value.page, result: isFresh ? freshResult(age, request) : 'stale' };
  };

  /** The page that is served in place of one that can't be fetched. */
  const standInFor = (key: string, request: PageRequest): Page<Value> | null => {
    const entry = [entries.whole(key), entries.get(key)].find(
      (each) =>
        each && satisfies(each.meta, request) && now() - each.meta.startedAt <= request.staleIfErrorMs,
    );
    if (!entry) return null;
    retainDetails(entry.meta, request, now());
    return entry.value.page;
  };

  const staleIfError = (key: string, request: PageRequest, error: unknown): Page<Value> | null =>
    allowsStale(error) ? standInFor(key, request) : null;

  return {
    isAtHand(request) {
      const key = keyOf(request);
      const entry = findEntry(key, request);
      return (entry !== null && isFreshFor(entry.meta, request)) || flightFor(key, request) !== null;
    },
    isFresh(request, page) {
      const entry = findEntry(keyOf(request), request);
      return entry?.value.page === page && isFreshFor(entry.meta, request);
    },
    freshForMs(request, page) {
      const entry = findEntry(keyOf(request), request);
      if (entry?.value.page !== page || entry.meta.invalidated || request.isTold()) return 0;
      const freshMs = Math.min(request.maxAgeMs, freshMsOf(entry.meta, request));
      return Math.max(0, entry.meta.startedAt + freshMs - now());
    },
    countFresh(request, usage) {
      const entry = findEntry(keyOf(request), request);
      if (entry) retainDetails(entry.meta, request, now());
      const result = entry ? freshResult(now() - entry.meta.startedAt, request) : 'fresh';
      count(usage, result);
      observer.served?.(result);
    },
    async get(request, scope, fetch) {
      const { usage, deadline } = scope;
      const trace = observer.getting?.(scope.trace) ?? scope.trace;
      const key = keyOf(request);
      const get = { key, request, fetch, trace };
      let result: CacheResult = 'miss';
      let joined: Trace | null = null;
      let failed = false;
      try {
        const cached = fromCache(get);
        if (cached) {
          result = cached.result;
          return cached.page;
        }
        const coalesced = flightFor(key, request);
        if (coalesced) {
          result = 'coalesced';
          joined = coalesced.trace;
        }
        const flight = coalesced ?? fetchPage(key, request, fetch, maxAgeOf(request) * 2, trace);
        const { page, shared } = await flight.shared.join(deadline);
        if (shared?.insteadOf) result = 'staleIfError';
        else if (shared && !coalesced) result = 'shared';
        // The page may be stale already: then this refreshes it.
        if (shared) fromCache(get);
        return page;
      } catch (error) {
        const older = staleIfError(key, request, error);
        failed = !older;
        if (!older) throw error;
        result = 'staleIfError';
        return older;
      } finally {
        count(usage, result);
        observer.served?.(result);
        observer.got?.({ result, trace, joined, failed });
      }
    },
  };
};

const freshResult = (age: number, { maxAgeMs }: PageRequest): 'fresh' | 'watched' =>
  age < maxAgeMs ? 'fresh' : 'watched';

const count = (usage: Usage, result: CacheResult): void => {
  if (result !== 'miss') usage.cached += 1;
  if (result === 'watched') usage.watched = (usage.watched ?? 0) + 1;
};

/** An entry outlives the operation that fetched its page, and references nothing of it. */
const entryOf = <Value>(
  fetched: Fetched<Value>,
  meta: EntryMeta,
  unsubscribe: () => void,
): Entry<Fetched<Value>> => {
  const { page, memoryBytes } = fetched;
  page.items.retain();
  const onEvict = () => {
    unsubscribe();
    // Callers that wait for the page retain it before that.
    setImmediate(() => page.items.release());
  };
  return { meta, value: { page, memoryBytes }, memoryBytes, onEvict };
};

/** Copies into the entry what another gateway knows about its page. */
const describeShared = (
  meta: EntryMeta,
  { follows, limit, details, ageMs, invalidated, insteadOf }: SharedMeta & { readonly insteadOf: unknown },
  now: number,
): void => {
  meta.invalidated ||= invalidated;
  Object.assign(meta, { follows, limit, details, startedAt: now - ageMs });
  if (insteadOf) meta.retryNotBefore = now + cooldownMsFor(insteadOf);
};

/**
 * Where a page came from. `fresh`, `watched`, `stale` and `staleIfError` are from the cache: the second is fresh because no
 * change has been reported, the third is being refreshed, the fourth is served because upstream failed. `coalesced` is
 * from a request of another operation, `shared` from another gateway. `miss` is from a new request.
 */
type CacheResult = 'fresh' | 'watched' | 'stale' | 'staleIfError' | 'coalesced' | 'shared' | 'miss';

/** Reports how pages are served. */
export type PageObserver = {
  /** An operation gets a page. Returns the trace of the request that this may cause. */
  getting?(trace: Trace): Trace | undefined;
  /** Called once after `getting`, with the trace that it has returned. */
  got?(page: ServedPage): void;
  /** A page was served, possibly in a shared answer, for which no operation gets it. */
  served?(result: CacheResult): void;
};

type ServedPage = {
  readonly result: CacheResult;
  readonly trace: Trace;
  /** The trace of the request of another operation that this one has joined. */
  readonly joined: Trace | null;
  readonly failed: boolean;
};
