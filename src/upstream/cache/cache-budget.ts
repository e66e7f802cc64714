import { LRUCache } from 'lru-cache';

/** One budget of bytes for all that is kept, whoever keeps it: what was used least recently goes first. */
export type CacheBudget = {
  /** Counts `bytes` for `key`. `evict` is called when it must go: for others, for a newer one, or as too large itself. */
  add(key: string, bytes: number, evict: () => void): void;
  /** Says that it was used. */
  touch(key: string): void;
  /** How much is counted now. */
  bytes(): number;
};

type Kept = { readonly evict: () => void };

/** 0 bytes keep nothing. */
export const createCacheBudget = (maxBytes: number): CacheBudget => {
  const kept = new LRUCache<string, Kept>({
    maxSize: Math.max(1, maxBytes),
    dispose: ({ evict }) => evict(),
  });
  return {
    add(key, bytes, evict) {
      if (maxBytes === 0) return evict();
      const entry: Kept = { evict };
      kept.set(key, entry, { size: Math.max(1, bytes) });
      // What is larger than the whole budget is not taken, and no word said.
      if (kept.peek(key) !== entry) evict();
    },
    touch: (key) => void kept.get(key),
    bytes: () => kept.calculatedSize,
  };
};
