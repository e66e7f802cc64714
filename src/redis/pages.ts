import { randomBytes } from 'node:crypto';
import { raceWithTimeout } from '../lib/deadlines.ts';
import type { SharedPage, SharedPages, SharedResult } from '../upstream/cache/single-flight.ts';
import { clientGone } from '../upstream/client/errors.ts';
import { FAILURES_MS, type PageRequest, unionWithin } from '../upstream/page.ts';
import type { RedisReply } from './client.ts';
import type { RedisConnection } from './connection.ts';
import type { Invalidations } from './invalidations.ts';
import { detailsMsOf, FIND, FIND_STALE, followsOf, HeldLease, StoredPages } from './lease.ts';
import { decodeBody, type Names, type PageNames } from './names.ts';
import { createRunShared, type RunShared, type SharedObserver, type SharedTimes } from './run.ts';

type Options = {
  readonly redis: RedisConnection;
  readonly names: Names;
  readonly invalidations: Invalidations;
  /** The longest time for which a page may be served, in milliseconds. */
  readonly ttlMs: number;
  /** What this gateway stores in Redis at a time, in bytes. */
  readonly maxBytes: number;
  readonly leaseMs: SharedTimes['leaseMs'];
  readonly observer: SharedObserver;
};

/** After this time a gateway that missed the end of a lease looks again. */
const RECHECK_MS = 250;
/** A generation outlives its pages and the requests in progress. */
const EXTRA_GENERATION_MS = 120_000;
const TOKEN_BYTES = 12;

/** Opens the pages that all gateways on this Redis share. Rejects with an error of Redis. */
export const openSharedPages = async (options: Options): Promise<SharedPages> => {
  const { redis } = options;
  const channel = `gateway:cache:gateway:${newToken()}`;
  const wakeUps = new WakeUps();
  await redis.subscribe(channel, (page) => wakeUps.wake(page));
  return new RedisPages(options, channel, wakeUps);
};

class RedisPages implements SharedPages {
  readonly #options: Options;
  readonly #channel: string;
  readonly #wakeUps: WakeUps;
  readonly #run: RunShared;
  readonly #stored: StoredPages;
  readonly #generationMs: number;

  constructor(options: Options, channel: string, wakeUps: WakeUps) {
    const { redis, ttlMs, maxBytes, observer } = options;
    this.#options = options;
    this.#channel = channel;
    this.#wakeUps = wakeUps;
    this.#run = createRunShared(redis, observer);
    this.#stored = new StoredPages(
      maxBytes,
      ttlMs,
      (key) => void redis.send(key, ['UNLINK', key]).catch(() => {}),
    );
    this.#generationMs = ttlMs + EXTRA_GENERATION_MS;
  }

  async get(request: PageRequest, maxAgeMs: number, signal: AbortSignal): Promise<SharedResult | null> {
    const { names, invalidations, observer } = this.#options;
    const { found } = observer;
    // Redis may still have what this gateway could not invalidate there yet.
    if (invalidations.isPending(request.cachePartition, request.address)) return null;
    const page = names.pageOf(request);
    for (let awaited = ''; ; ) {
      const wait = this.#wakeUps.listen(page.page);
      try {
        const result = await this.#find(page, request, maxAgeMs, awaited);
        if (result === null || result.kind !== 'wait') {
          found?.(
            result === null ? 'unavailable' : result.kind === 'lease' ? 'lease' : awaited ? 'waited' : 'hit',
          );
          return result;
        }
        awaited = result.token;
        await wait.ended(Math.min(RECHECK_MS, result.leftMs), signal);
      } finally {
        wait.cancel();
      }
      if (signal.aborted) throw clientGone();
    }
  }

  async getStale(request: PageRequest): Promise<SharedPage | null> {
    const [generation, page, , , failed] = this.#options.names.pageOf(request).keys;
    const args = [request.staleIfErrorMs, request.limit, request.details, followsOf(request)];
    return pageIn(await this.#run('find', FIND_STALE, [generation, page, failed], args));
  }

  async #find(
    names: PageNames,
    request: PageRequest,
    maxAgeMs: number,
    awaited: string,
  ): Promise<SharedResult | Waiting | null> {
    const token = newToken();
    const { ttlMs, leaseMs, invalidations } = this.#options;
    const reply = await this.#run('find', FIND, names.keys, [
      ...[maxAgeMs, request.limit, request.details, followsOf(request)],
      ...[awaited, token, leaseMs, this.#generationMs, this.#channel, detailsMsOf(request)],
      Math.min(request.maxAgeMs, FAILURES_MS),
    ]);
    if (!Array.isArray(reply)) return null;
    const kind = String(reply[0]);
    if (kind === 'wait') return { kind, token: String(reply[1]), leftMs: Math.max(1, Number(reply[2])) };
    if (kind === 'lease') {
      const [, generation, details] = reply;
      const isOutdated = () => invalidations.isPending(request.cachePartition, request.address);
      const held = {
        generation: String(generation),
        details: unionWithin(request.details, [String(details)]),
      };
      const parts = {
        run: this.#run,
        stored: this.#stored,
        generationMs: this.#generationMs,
        ttlMs,
        leaseMs,
        isOutdated,
      };
      return { kind, lease: new HeldLease({ ...parts, ...held, names, request, token }) };
    }
    const page = pageIn(reply);
    return page && { kind: 'page', page };
  }
}

/** Another gateway has the lease `token`, for this time in milliseconds unless it is renewed. */
type Waiting = { readonly kind: 'wait'; readonly token: string; readonly leftMs: number };

const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

const pageIn = (reply: RedisReply | undefined): SharedPage | null => {
  if (!Array.isArray(reply)) return null;
  const [, bytes, encoding, age, limit, details, follows, fetchedAt, isCurrent] = reply;
  const body = Buffer.isBuffer(bytes) ? decodeBody({ encoding: String(encoding), bytes }) : null;
  if (body === null) return null;
  const followed = String(follows);
  return {
    body,
    ageMs: Number(age),
    fetchedAt: Number(fetchedAt),
    follows: followed === '-' ? null : followed.slice(1),
    limit: Number(limit),
    details: String(details),
    invalidated: Number(isCurrent) !== 1,
  };
};

/** A wait for a page that another gateway is fetching. It ends with `cancel`, whether it was woken or not. */
type PendingWait = {
  /** Resolves when the page is there, after `ms`, or when the signal aborts. */
  ended(ms: number, signal: AbortSignal): Promise<void>;
  cancel(): void;
};

/** Wakes waits for pages, by the pages' names. */
class WakeUps {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Listens from now on, so that no message is missed between a look and a wait. */
  listen(page: string): PendingWait {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(page) ?? new Set();
    this.#waiting.set(page, waiting.add(resolve));
    return {
      async ended(ms, signal) {
        await raceWithTimeout(promise, ms, signal);
      },
      cancel: () => {
        waiting.delete(resolve);
        if (waiting.size === 0 && this.#waiting.get(page) === waiting) this.#waiting.delete(page);
      },
    };
  }

  wake(page: string): void {
    for (const resolve of this.#waiting.get(page) ?? []) resolve();
  }
}
