import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { monotonicClock } from '../lib/deadlines.ts';
import type { InvalidationBus } from '../upstream/cache/entries.ts';
import type { RedisConnection } from './connection.ts';
import { INVALIDATE } from './lease.ts';
import type { Names } from './names.ts';
import { createRunShared, type RunShared, type SharedObserver } from './run.ts';

/** Invalidates the pages of addresses on all gateways. */
export type Invalidations = {
  /**
   * Starts to invalidate the pages of these addresses (in lower case) in Redis and on the other gateways. `mark` names the
   * delivery that causes it.
   */
  send(cachePartition: string, addresses: readonly string[], mark: string): void;
  /**
   * What this gateway knows of the delivery's invalidation: `done` in Redis and in its own memory, as another gateway has
   * said; `sent` by this gateway, to Redis only; or `unknown`.
   */
  stateOf(cachePartition: string, addresses: readonly string[], mark: string): 'done' | 'sent' | 'unknown';
  /** Whether Redis may still have a page of the address that was to be invalidated. */
  isPending(cachePartition: string, address: string): boolean;
};

type Options = {
  readonly redis: RedisConnection;
  readonly names: Names;
  /** Of this gateway's own memory. */
  readonly memory: InvalidationBus;
  readonly observer: SharedObserver;
};

type Address = { readonly cachePartition: string; readonly address: string };

/** An address to send, with the marks of the deliveries that concern it. */
type Unsent = { readonly address: Address; readonly marks: Set<string> };

/** An invalidation that Redis did not accept is sent again after this time, or after a reconnect. */
const RETRY_MS = 500;
/** More than arrive before pages expire. Beyond it the oldest is forgotten. */
const MAX_PENDING = 100_000;
const SENT_AT_ONCE = 100;
/** Takes the place of a partition before a mark. No partition has this name. */
const MARK = '*';
/** An event and its invalidation come over two connections, but not further apart than this. */
const MARKED_MS = 30_000;
/** Addresses of marked deliveries, at some 130 bytes each. Beyond it the oldest are forgotten: then they are invalidated again. */
const MAX_MARKED_ADDRESSES = 200_000;
const ID_BYTES = 6;

/**
 * Opens the invalidation of pages on all gateways. Messages are lost while the connection is, so when it is open again,
 * nothing in memory counts as fresh. Rejects with an error of Redis.
 */
export const openInvalidations = async (options: Options): Promise<Invalidations> => {
  const { redis, names, memory } = options;
  const id = randomBytes(ID_BYTES).toString('base64url');
  const invalidations = new RedisInvalidations(options, id);
  redis.onReopened(() => {
    memory.invalidateAll();
    void invalidations.flush();
  });
  await redis.subscribe(names.invalidations, (message) => {
    const [sender, ...texts] = message.split(' ');
    if (sender !== id) invalidations.received(texts);
  });
  return invalidations;
};

/** The invalidation of a delivery, as far as it is known: in one message, or in several. */
type Marked = { readonly isSent: boolean; readonly keys: Set<string> };

class RedisInvalidations implements Invalidations {
  readonly #names: Names;
  readonly #id: string;
  readonly #run: RunShared;
  readonly #isCluster: boolean;
  readonly #memory: InvalidationBus;
  readonly #marked = new LRUCache<string, Marked>({
    ttl: MARKED_MS,
    perf: { now: monotonicClock },
    maxSize: MAX_MARKED_ADDRESSES,
    sizeCalculation: ({ keys }) => keys.size,
  });
  readonly #pending = new Map<string, Address>();
  /** Those of this turn of the event loop. Many deliveries concern the same addresses, such as a token's. */
  readonly #unsent = new Map<string, Unsent>();
  #retry: NodeJS.Timeout | undefined;

  constructor({ redis, names, memory, observer }: Options, id: string) {
    this.#names = names;
    this.#id = id;
    this.#run = createRunShared(redis, observer);
    this.#isCluster = redis.isCluster;
    this.#memory = memory;
  }

  send(cachePartition: string, addresses: readonly string[], mark: string): void {
    if (addresses.length === 0) return;
    const keys = addresses.map((address) => this.#add({ cachePartition, address }, mark));
    this.#mark(mark, true, keys);
  }

  stateOf(cachePartition: string, addresses: readonly string[], mark: string): 'done' | 'sent' | 'unknown' {
    const marked = this.#marked.get(mark);
    if (!marked || !addresses.every((address) => marked.keys.has(keyOf({ cachePartition, address }))))
      return 'unknown';
    return marked.isSent ? 'sent' : 'done';
  }

  /** Another gateway has invalidated these in Redis: see `textOf`. */
  received(texts: readonly string[]): void {
    let keys: string[] = [];
    let isMarked = false;
    for (let at = 0; at + 1 < texts.length; at += 2) {
      const [cachePartition = '', address = ''] = [texts[at], texts[at + 1]];
      if (cachePartition === MARK) this.#mark(address, false, keys);
      else {
        this.#memory.invalidate(cachePartition, [address]);
        if (isMarked) keys = [];
        keys.push(keyOf({ cachePartition, address }));
      }
      isMarked = cachePartition === MARK;
    }
  }

  isPending(cachePartition: string, address: string): boolean {
    return this.#pending.has(keyOf({ cachePartition, address }));
  }

  /** Sends what Redis has not accepted. */
  async flush(): Promise<void> {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const all = Array.from(this.#pending.values(), (address) => ({ address, marks: new Set<string>() }));
    for (const some of portionsOf(all)) if (!(await this.#sendAll(some))) return;
  }

  #add(address: Address, mark: string): string {
    const key = keyOf(address);
    if (this.#unsent.size === 0) setImmediate(() => this.#sendUnsent());
    const marks = this.#unsent.get(key)?.marks ?? new Set();
    this.#unsent.set(key, { address, marks: marks.add(mark) });
    this.#pending.set(key, address);
    if (this.#pending.size > MAX_PENDING) {
      const [oldest = ''] = this.#pending.keys();
      this.#pending.delete(oldest);
    }
    return key;
  }

  #mark(mark: string, isSent: boolean, added: readonly string[]): void {
    const { isSent: wasSent = false, keys = new Set<string>() } = this.#marked.get(mark) ?? {};
    for (const key of added) keys.add(key);
    // A new value: the cache would not measure the same one again.
    if (keys.size > 0) this.#marked.set(mark, { isSent: isSent || wasSent, keys });
  }

  #sendUnsent(): void {
    const all = [...this.#unsent.values()];
    this.#unsent.clear();
    for (const some of portionsOf(all)) void this.#sendAll(some);
  }

  /** A Cluster has the keys of each address on a node of their own. */
  async #sendAll(all: readonly Unsent[]): Promise<boolean> {
    if (!this.#isCluster) return this.#send(all);
    const sent = await Promise.all(all.map((unsent) => this.#send([unsent])));
    return sent.every((isSent) => isSent);
  }

  async #send(all: readonly Unsent[]): Promise<boolean> {
    const keys = all.map(({ address }) => this.#names.generationOf(address.cachePartition, address.address));
    const message = `${this.#id} ${textOf(all)}`;
    const reply = await this.#run('invalidate', INVALIDATE, keys, [this.#names.invalidations, message]);
    if (reply === undefined) {
      this.#retry ??= setTimeout(() => void this.flush(), RETRY_MS).unref();
      return false;
    }
    // Otherwise a later one of the same address is still on its way.
    for (const { address } of all)
      if (this.#pending.get(keyOf(address)) === address) this.#pending.delete(keyOf(address));
    return true;
  }
}

const portionsOf = (all: readonly Unsent[]): Unsent[][] =>
  Array.from({ length: Math.ceil(all.length / SENT_AT_ONCE) }, (_, index) =>
    all.slice(index * SENT_AT_ONCE, (index + 1) * SENT_AT_ONCE),
  );

/** Partitions, each before its address. Addresses of the same deliveries stand together, before the marks of these. */
const textOf = (all: readonly Unsent[]): string => {
  const texts: string[] = [];
  let marksBefore = '';
  for (const { address, marks } of all) {
    const named = Array.from(marks, (mark) => `${MARK} ${mark}`).join(' ');
    if (named !== marksBefore && marksBefore !== '') texts.push(marksBefore);
    texts.push(keyOf(address));
    marksBefore = named;
  }
  if (marksBefore !== '') texts.push(marksBefore);
  return texts.join(' ');
};

const keyOf = ({ cachePartition, address }: Address): string => `${cachePartition} ${address}`;
