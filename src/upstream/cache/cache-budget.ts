import { LRUCache } from 'lru-cache';

/** One budget of bytes for all that is kept, whoever keeps it: what was used least recently goes first. */
export type Memory = {
  /** Counts `bytes` for `key`. `forget` is called when it must go: for others, for a newer one, or as too large itself. */
  keep(key: string, bytes: number, forget: () => void): void;
  /** Says that it was used. */
  touch(key: string): void;
  /** How much is counted now. */
  bytes(): number;
};

type Kept = { readonly forget: () => void };

/** 0 bytes keep nothing. */
export const createMemory = (maxBytes: number): Memory => {
  const kept = new LRUCache<string, Kept>({
    maxSize: Math.max(1, maxBytes),
    dispose: ({ forget }) => forget(),
  });
  return {
    keep(key, bytes, forget) {
      if (maxBytes === 0) return forget();
      const entry: Kept = { forget };
      kept.set(key, entry, { size: Math.max(1, bytes) });
      // What is larger than the whole budget is not taken, and no word said.
      if (kept.peek(key) !== entry) forget();
    },
    touch: (key) => void kept.get(key),
    bytes: () => kept.calculatedSize,
  };
};
