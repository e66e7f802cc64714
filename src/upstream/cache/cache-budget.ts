import { LRUCache } from 'lru-cache';

/** The memory limit, in bytes, of all page caches together. The least recently used entry is evicted first. */
export type CacheBudget = {
  /** Counts `bytes` for `key`. `evict` is called when the entry is evicted, replaced, or larger than the whole budget. */
  add(key: string, bytes: number, evict: () => void): void;
  /** Marks the entry as recently used. */
  touch(key: string): void;
  /** The bytes that are counted now. */
  bytes(): number;
};

type Entry = { readonly evict: () => void };

/** A budget of 0 bytes caches nothing. */
export const createCacheBudget = (maxBytes: number): CacheBudget => {
  const entries = new LRUCache<string, Entry>({
    maxSize: Math.max(1, maxBytes),
    dispose: ({ evict }) => evict(),
  });
  return {
    add(key, bytes, evict) {
      if (maxBytes === 0) return evict();
      const entry: Entry = { evict };
      entries.set(key, entry, { size: Math.max(1, bytes) });
      // LRUCache ignores an entry that is larger than the whole budget, and does not call `dispose`.
      if (entries.peek(key) !== entry) evict();
    },
    touch: (key) => void entries.get(key),
    bytes: () => entries.calculatedSize,
  };
};
