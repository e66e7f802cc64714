import type { Trace } from '../../lib/trace-context.ts';

/**
 * Where a page came from. `fresh`, `watched`, `stale` and `staleIfError` are from the cache: the second is fresh because no
 * delivery has told of a change, the third is being refreshed, the fourth is served because upstream failed. `coalesced` is
 * from a request of another operation, `shared` from another gateway. `miss` is from a new request.
 */
export type CacheResult = 'fresh' | 'watched' | 'stale' | 'staleIfError' | 'coalesced' | 'shared' | 'miss';

/** Reports how pages are served. */
export type PageObserver = {
  /** An operation gets a page. Returns the trace of the request that this may cause. */
  getting(trace: Trace): Trace;
  /** Called once after `getting`, with the trace that it has returned. */
  got(page: ServedPage): void;
  /** A page was served; also one in a shared answer, which no operation gets by itself. */
  served(result: CacheResult): void;
};

type ServedPage = {
  readonly result: CacheResult;
  readonly trace: Trace;
  /** The trace of the request of another operation that this one has joined. */
  readonly joined: Trace | null;
  readonly failed: boolean;
};

export const noopPageObserver: PageObserver = { getting: (trace) => trace, got() {}, served() {} };
