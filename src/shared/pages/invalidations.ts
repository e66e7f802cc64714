import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '../../redis/connection.ts';
import type { InvalidationBus } from '../../upstream/cache/invalidation.ts';
import type { SharedObserver } from '../observer.ts';
import { createRunShared, type RunShared } from '../run.ts';
import type { Names } from './names.ts';
import { INVALIDATE } from './scripts.ts';

/** Invalidates the pages of addresses on all gateways. */
export type Invalidations = {
  /**
   * Begins to invalidate the pages of these addresses, which are in lower case, in Redis and on the other gateways. `mark`
   * names the delivery that does so: equal marks are of one delivery.
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

/** An invalidation that Redis has not taken is sent again after this time, or when its connection is open again. */
const RETRY_MS = 500;
/** More than arrive until pages expire. Beyond it the oldest is forgotten. */
const MAX_PENDING = 100_000;
const SENT_AT_ONCE = 100;
/** Stands in the place of a partition before a mark. No partition has such a name. */
const MARK = '*';
/** The deliveries of the last seconds, of which other gateways may still have to hear. */
const MAX_MARKS = 20_000;
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
type Marked = { readonly isSent: boolean; readonly keys: readonly ReadonlySet<string>[] };

class RedisInvalidations implements Invalidations {
  readonly #names: Names;
  readonly #id: string;
  readonly #run: RunShared;
  readonly #isCluster: boolean;
  readonly #memory: InvalidationBus;
  readonly #marked = new LRUCache<string, Marked>({ max: MAX_MARKS });
  readonly #pending = new Map<string, Address>();
  /** Of this turn of the event loop. Many deliveries concern the same addresses, such as that of a token. */
  readonly #unsent = new Map<string, Address>();
  /** The deliveries of this turn. */
  readonly #unsentMarks = new Set<string>();
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
    for (const address of addresses) this.#add({ cachePartition, address });
    this.#unsentMarks.add(mark);
    this.#mark(mark, true, new Set(addresses.map((address) => keyOf({ cachePartition, address }))));
  }

  stateOf(cachePartition: string, addresses: readonly string[], mark: string): 'done' | 'sent' | 'unknown' {
    const marked = this.#marked.get(mark);
    const isMarked = addresses.every((address) => {
      const key = keyOf({ cachePartition, address });
      return marked?.keys.some((keys) => keys.has(key)) ?? false;
    });
    if (!marked || !isMarked) return 'unknown';
    return marked.isSent ? 'sent' : 'done';
  }

  /** Another gateway has invalidated these in Redis: partitions, each before its address, and marks. */
  received(texts: readonly string[]): void {
    const addresses: Address[] = [];
    const marks: string[] = [];
    for (let at = 0; at + 1 < texts.length; at += 2) {
      const [cachePartition = '', address = ''] = [texts[at], texts[at + 1]];
      if (cachePartition === MARK) marks.push(address);
      else addresses.push({ cachePartition, address });
    }
    for (const { cachePartition, address } of addresses) this.#memory.invalidate(cachePartition, [address]);
    const keys = new Set(addresses.map(keyOf));
    for (const mark of marks) this.#mark(mark, false, keys);
  }

  isPending(cachePartition: string, address: string): boolean {
    return this.#pending.has(keyOf({ cachePartition, address }));
  }

  /** Sends what Redis has not taken. */
  async flush(): Promise<void> {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    for (const some of portionsOf([...this.#pending.values()])) if (!(await this.#sendAll(some))) return;
  }

  #add(address: Address): void {
    const key = keyOf(address);
    if (this.#unsent.size === 0) setImmediate(() => this.#sendUnsent());
    this.#unsent.set(key, address);
    this.#pending.set(key, address);
    if (this.#pending.size > MAX_PENDING) {
      const [oldest = ''] = this.#pending.keys();
      this.#pending.delete(oldest);
    }
  }

  #mark(mark: string, isSent: boolean, keys: ReadonlySet<string>): void {
    const before = this.#marked.get(mark);
    this.#marked.set(mark, {
      isSent: isSent || before?.isSent === true,
      keys: [...(before?.keys ?? []), keys],
    });
  }

  #sendUnsent(): void {
    const addresses = [...this.#unsent.values()];
    const marks = [...this.#unsentMarks];
    this.#unsent.clear();
    this.#unsentMarks.clear();
    for (const some of portionsOf(addresses)) void this.#sendAll(some, marks);
  }

  /** A Cluster has the keys of each address on a node of their own. */
  async #sendAll(addresses: readonly Address[], marks: readonly string[] = []): Promise<boolean> {
    if (!this.#isCluster) return this.#send(addresses, marks);
    const sent = await Promise.all(addresses.map((address) => this.#send([address], marks)));
    return sent.every((isSent) => isSent);
  }

  async #send(addresses: readonly Address[], marks: readonly string[]): Promise<boolean> {
    const keys = addresses.map(({ cachePartition, address }) =>
      this.#names.generationOf(cachePartition, address),
    );
    const named = marks.map((mark) => `${MARK} ${mark}`);
    const message = [this.#id, ...addresses.map(keyOf), ...named].join(' ');
    const reply = await this.#run('invalidate', INVALIDATE, keys, [this.#names.invalidations, message]);
    if (reply === undefined) {
      this.#retry ??= setTimeout(() => void this.flush(), RETRY_MS).unref();
      return false;
    }
    // Otherwise a later one of the same address is still on its way.
    for (const address of addresses)
      if (this.#pending.get(keyOf(address)) === address) this.#pending.delete(keyOf(address));
    return true;
  }
}

const portionsOf = (addresses: readonly Address[]): Address[][] =>
  Array.from({ length: Math.ceil(addresses.length / SENT_AT_ONCE) }, (_, index) =>
    addresses.slice(index * SENT_AT_ONCE, (index + 1) * SENT_AT_ONCE),
  );

const keyOf = ({ cachePartition, address }: Address): string => `${cachePartition} ${address}`;
