import { LRUCache } from 'lru-cache';
import {
  type Details,
  FAILURES_MS,
  hasDetails,
  maxAgeOf,
  NO_DETAILS,
  type PageRequest,
  unionWithin,
} from '../page.ts';

/** What a page was requested with, and whether it is still valid. Times are milliseconds of a monotonic clock. */
export type EntryMeta = {
  follows: string | null;
  limit: number;
  details: Details;
  startedAt: number;
  /** The time until which each refresh of this page has its details too: see `retainDetails`. */
  keepDetailsUntil: number;
  /** The chains that it was requested of: ids and tags, comma-separated; null for upstream's default. */
  readonly chains: string | null;
  /** Whether a delivery, or a change that the service tells of, has invalidated the page since it was requested. */
  invalidated: boolean;
  /** The time before which the page is not requested again, since upstream has asked to wait. */
  retryNotBefore: number;
  /** Whether upstream could not read a part of the page. False until it is fetched. */
  hasFailures: boolean;
};

/** The part of a page request that concerns entries. */
type Request = {
  readonly follows: string | null;
  readonly limit: number;
  readonly details: Details;
  readonly maxAgeMs: number;
  readonly staleIfErrorMs: number;
  readonly chains: string | null;
};

/** Whether the page has at least what is requested. */
export const satisfies = (meta: EntryMeta, { follows, limit, details }: Request): boolean =>
  meta.limit >= limit && hasDetails(meta.details, details) && (follows === null || meta.follows === follows);

/** The age up to which a page is fresh. No delivery tells that what failed is back. */
export const freshMsOf = (
  { hasFailures }: EntryMeta,
  request: Pick<PageRequest, 'maxAgeMs' | 'watchedMs'>,
): number => (hasFailures ? Math.min(request.maxAgeMs, FAILURES_MS) : maxAgeOf(request));

/** The time until which details of a page that is requested `now` could serve equal requests; 0 without details. */
const detailsUntil = ({ details, maxAgeMs, staleIfErrorMs }: Request, now: number): number =>
  details === NO_DETAILS ? 0 : now + Math.max(maxAgeMs * 2, staleIfErrorMs);

/**
 * Makes refreshes of the page keep its details if `request` asks for any. So a caller that does not need details never
 * evicts them for one that does.
 */
export const retainDetails = (meta: EntryMeta, request: Request, now: number): void => {
  meta.keepDetailsUntil = Math.max(detailsUntil(request, now), meta.keepDetailsUntil);
};

/** `replaced` are the pages that the new one may replace, including one being fetched: their details are retained. */
export const createMeta = (
  request: Request,
  replaced: readonly (EntryMeta | undefined)[],
  now: number,
): EntryMeta => {
  const { follows, limit, chains } = request;
  const earlier = replaced.filter((meta) => meta !== undefined);
  const kept = earlier.filter((meta) => meta.keepDetailsUntil > now);
  const keepDetailsUntil = Math.max(detailsUntil(request, now), ...kept.map((meta) => meta.keepDetailsUntil));
  const details = unionWithin(
    request.details,
    kept.map((meta) => meta.details),
  );
  return {
    ...{ follows, limit, details, chains, startedAt: now, keepDetailsUntil },
    ...{ invalidated: false, retryNotBefore: 0, hasFailures: false },
  };
};

/** A request for as much as the page has by now, so that the new page serves every caller that this one served. */
export const refreshRequest = <Wanted extends Request>(
  { follows, limit }: EntryMeta,
  request: Wanted,
): Wanted => ({
  ...request,
  follows,
  limit: Math.max(limit, request.limit),
});

export type Entry<Value> = {
  readonly meta: EntryMeta;
  readonly value: Value;
  /** The memory that the value takes. */
  readonly memoryBytes: number;
  readonly onEvict: () => void;
};

/** The newest entry of each key, and the newest whole one if that has failures, within the budget. */
type EntryStore<Value> = {
  get(key: string): Entry<Value> | undefined;
  /** The newest entry without failures. */
  whole(key: string): Entry<Value> | undefined;
  /** Ignores an entry that was requested before the one that the store has. */
  put(key: string, entry: Entry<Value>): void;
};

/** The memory of an entry in addition to its value, so that empty pages count as well. */
const MEMORY_PER_ENTRY = 2048;

export const createEntryStore = <Value>(budget: CacheBudget): EntryStore<Value> => {
  const wholes = new Map<string, Entry<Value>>();
  /** Those with failures that are newer than the whole ones. */
  const failed = new Map<string, Entry<Value>>();
  const nameIn = (entries: typeof wholes, key: string) => (entries === wholes ? key : `${key} with failures`);
  const find = (entries: typeof wholes, key: string): Entry<Value> | undefined => {
    const entry = entries.get(key);
    if (entry) budget.touch(nameIn(entries, key));
    return entry;
  };
  return {
    get: (key) => find(failed, key) ?? find(wholes, key),
    whole: (key) => find(wholes, key),
    put(key, entry) {
      const isOlder = (other: Entry<Value> | undefined) =>
        other !== undefined && other.meta.startedAt > entry.meta.startedAt;
      const entries = entry.meta.hasFailures ? failed : wholes;
      if (isOlder(wholes.get(key)) || isOlder(entries.get(key))) return entry.onEvict();
      if (entries === wholes && !isOlder(failed.get(key))) budget.remove(nameIn(failed, key));
      entries.set(key, entry);
      budget.add(nameIn(entries, key), MEMORY_PER_ENTRY + 2 * key.length + entry.memoryBytes, () => {
        if (entries.get(key) === entry) entries.delete(key);
        entry.onEvict();
      });
    },
  };
};

/** The memory limit, in bytes, of all page caches together. The least recently used entry is evicted first. */
export type CacheBudget = {
  /** Counts `bytes` for `key`. `evict` is called when the entry is evicted, replaced, or larger than the whole budget. */
  add(key: string, bytes: number, evict: () => void): void;
  /** Marks the entry as recently used. */
  touch(key: string): void;
  /** Evicts the entry if there is one. */
  remove(key: string): void;
  /** The bytes that are counted now. */
  bytes(): number;
};

type Evictable = { readonly evict: () => void };

/** A budget of 0 bytes caches nothing. */
export const createCacheBudget = (maxBytes: number): CacheBudget => {
  const entries = new LRUCache<string, Evictable>({
    maxSize: Math.max(1, maxBytes),
    dispose: ({ evict }) => evict(),
  });
  return {
    add(key, bytes, evict) {
      if (maxBytes === 0) return evict();
      const entry: Evictable = { evict };
      entries.set(key, entry, { size: Math.max(1, bytes) });
      // LRUCache ignores an entry that is larger than the whole budget, and does not call `dispose`.
      if (entries.peek(key) !== entry) evict();
    },
    touch: (key) => void entries.get(key),
    remove: (key) => void entries.delete(key),
    bytes: () => entries.calculatedSize,
  };
};

/** A cached page or a request under way, which a delivery for its address, or a change of its chains, makes outdated. */
type Invalidatable = Pick<EntryMeta, 'invalidated' | 'chains'>;

const includesChain = (chains: string | null, chainId: number): boolean =>
  chains === null || chains.split(',').some((each) => !/^\d+$/.test(each) || Number(each) === chainId);

/** Cache invalidation by address. A `cachePartition` never affects another one's entries: see `LoaderParts`. */
export type InvalidationBus = {
  /** Makes invalidations of the address mark `target`, until the returned function is called. */
  subscribe(cachePartition: string, address: string, target: Invalidatable): () => void;
  /** Invalidates all subscribed targets of these addresses, which are in lower case. */
  invalidate(cachePartition: string, addresses: readonly string[]): void;
  /**
   * Invalidates the targets of all partitions that a change of a chain concerns: those of these subjects, which are addresses or
   * other texts; null for all that may be of the chain.
   */
  changed(chainId: number, subjects: readonly string[] | null): void;
  /** Invalidates all targets: invalidations may have been missed. */
  invalidateAll(): void;
  /** Calls `listener` with the addresses of each `invalidate`, before it takes effect. */
  listen(listener: (cachePartition: string, addresses: readonly string[]) => void): void;
};

export const createInvalidationBus = (): InvalidationBus => {
  /** The targets of each address, by partition. A key of both in one would cost each delivery a new string an address. */
  const partitions = new Map<string, Map<string, Set<Invalidatable>>>();
  const listeners: ((cachePartition: string, addresses: readonly string[]) => void)[] = [];
  return {
    listen: (listener) => void listeners.push(listener),
    subscribe(cachePartition, address, target) {
      const partition = partitions.get(cachePartition) ?? new Map<string, Set<Invalidatable>>();
      partitions.set(cachePartition, partition);
      const targets = partition.get(address) ?? new Set();
      partition.set(address, targets.add(target));
      return () => {
        targets.delete(target);
        if (targets.size === 0 && partition.get(address) === targets) partition.delete(address);
        if (partition.size === 0 && partitions.get(cachePartition) === partition)
          partitions.delete(cachePartition);
      };
    },
    invalidate(cachePartition, addresses) {
      for (const listener of listeners) listener(cachePartition, addresses);
      const partition = partitions.get(cachePartition);
      if (partition === undefined) return;
      for (const address of addresses) {
        for (const target of partition.get(address) ?? []) target.invalidated = true;
      }
    },
    changed(chainId, subjects) {
      for (const partition of partitions.values())
        for (const targets of subjects?.map((subject) => partition.get(subject)) ?? partition.values())
          for (const target of targets ?? [])
            if (includesChain(target.chains, chainId)) target.invalidated = true;
    },
    invalidateAll() {
      for (const partition of partitions.values())
        for (const targets of partition.values()) for (const target of targets) target.invalidated = true;
    },
  };
};
