import { LRUCache } from 'lru-cache';
import type { FetchedPage, PageLease } from '../upstream/cache/single-flight.ts';
import type { Details, PageRequest } from '../upstream/page.ts';
import { readScript } from './client.ts';
import { encodeBody, type PageNames } from './names.ts';
import type { RunShared } from './run.ts';

const RENEWALS_A_LEASE = 3;

type Parts = {
  readonly run: RunShared;
  readonly stored: StoredPages;
  readonly names: PageNames;
  readonly request: PageRequest;
  readonly token: string;
  readonly generation: string;
  readonly details: Details;
  readonly leaseMs: number;
  /** How long a page may be served at most. */
  readonly ttlMs: number;
  readonly generationMs: number;
  /** Whether the page was invalidated since, although Redis may not have heard of it yet. */
  readonly isOutdated: () => boolean;
};

/** A lease that this gateway has. It is renewed while the page is fetched. */
export class HeldLease implements PageLease {
  readonly details: Details;
  readonly #parts: Parts;
  readonly #startedAt = performance.now();
  readonly #renewal: NodeJS.Timeout;

  constructor(parts: Parts) {
    this.details = parts.details;
    this.#parts = parts;
    this.#renewal = setInterval(() => this.#renew(), parts.leaseMs / RENEWALS_A_LEASE).unref();
  }

  release(): void {
    clearInterval(this.#renewal);
    const { run, names, token, generation } = this.#parts;
    void run('store', END_LEASE, names.keys, [token, generation, names.page]);
  }

  store(body: readonly Buffer[], page: FetchedPage): void {
    this.#store(body, page).catch(() => this.release());
  }

  async #store(chunks: readonly Buffer[], { limit, fetchedAt, hasFailures }: FetchedPage): Promise<void> {
    const { run, stored, names, request, token, generation, ttlMs, generationMs, isOutdated } = this.#parts;
    const body = await encodeBody(chunks);
    const key = names.keys[hasFailures ? 4 : 1];
    if (isOutdated() || body === null || !stored.add(key, body.bytes.length)) return this.release();
    clearInterval(this.#renewal);
    const detailsMs = request.details === '' ? 0 : detailsMsOf(request);
    await run('store', END_LEASE, names.keys, [
      ...[token, generation, names.page],
      ...[Math.ceil(performance.now() - this.#startedAt), limit, this.details],
      ...[followsOf(request), fetchedAt, detailsMs, ttlMs, generationMs],
      ...[body.encoding, body.bytes, hasFailures ? 1 : 0],
    ]);
  }

  #renew(): void {
    const { run, names, token, leaseMs } = this.#parts;
    void run('renew', RENEW_LEASE, [names.keys[2]], [token, leaseMs]);
  }
}

/** How long refreshes of the page keep its details: as in memory, see `retainDetails`. */
export const detailsMsOf = ({ maxAgeMs, staleIfErrorMs }: PageRequest): number =>
  Math.max(maxAgeMs * 2, staleIfErrorMs);

/** As scripts compare it: `-` for any. */
export const followsOf = ({ follows }: Pick<PageRequest, 'follows'>): string =>
  follows === null ? '-' : `=${follows}`;

/** Redis' memory for a page in addition to its body. */
const PAGE_BYTES = 512;

/** Limits what this gateway stores in Redis, in bytes. The oldest is removed first. */
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

const read = (name: string) => readScript([new URL(`./lua/${name}.lua`, import.meta.url)]);

/** The scripts that work on one address's pages. Each file says what it takes and returns. */
export const FIND = read('find');
export const FIND_STALE = read('find-stale');
const END_LEASE = read('end-lease');
const RENEW_LEASE = read('renew-lease');
export const INVALIDATE = read('invalidate');
