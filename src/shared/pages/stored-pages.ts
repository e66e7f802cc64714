import { LRUCache } from 'lru-cache';

/** The memory of Redis for a page beside its body. */
const PAGE_BYTES = 512;

/** Bounds what this gateway has stored in Redis, in bytes. What it stored longest ago is removed first. */
export class StoredPages {
  readonly #pages: LRUCache<string, number>;

  /** `remove` is called with the Redis key of a page. Redis itself removes a page after `ttlMs`. */
  constructor(maxBytes: number, ttlMs: number, remove: (key: string) => void) {
    this.#pages = new LRUCache<string, number>({
      maxSize: maxBytes,
      sizeCalculation: (bytes) => bytes,
      ttl: ttlMs,
      dispose(_bytes, key, reason) {
        if (reason === 'evict') remove(key);
      },
    });
  }

  /** Returns false for a page that is larger than all memory. */
  add(key: string, bytes: number): boolean {
    const counted = bytes + PAGE_BYTES;
    if (counted > this.#pages.maxSize) return false;
    this.#pages.set(key, counted);
    return true;
  }
}
