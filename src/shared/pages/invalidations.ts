import { randomBytes } from 'node:crypto';
import type { RedisConnection } from '../../redis/connection.ts';
import type { InvalidationBus } from '../../upstream/cache/invalidation.ts';
import type { SharedObserver } from '../observer.ts';
import { createRunShared, type RunShared } from '../run.ts';
import type { Names } from './names.ts';
import { INVALIDATE } from './scripts.ts';

/** Invalidates the pages of addresses on all gateways. */
export type Invalidations = {
  /** Begins to invalidate the pages of these addresses, which are in lower case, in Redis and on the other gateways. */
  send(cachePartition: string, addresses: readonly string[]): void;
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

/** An invalidation that Redis has not taken is sent again after so many milliseconds, or when its connection is open again. */
const RETRY_MS = 500;
/** More than arrive until pages expire. Beyond it the oldest is forgotten. */
const MAX_PENDING = 100_000;
const SENT_AT_ONCE = 100;
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
    if (sender === id) return;
    for (let at = 0; at < texts.length; at += 2) memory.invalidate(texts[at] ?? '', [texts[at + 1] ?? '']);
  });
  return invalidations;
};

class RedisInvalidations implements Invalidations {
  readonly #names: Names;
  readonly #id: string;
  readonly #run: RunShared;
  readonly #isCluster: boolean;
  readonly #pending = new Map<string, Address>();
  /** Of this turn of the event loop. Many deliveries concern the same addresses, such as that of a token. */
  readonly #unsent = new Map<string, Address>();
  #retry: NodeJS.Timeout | undefined;

  constructor({ redis, names, observer }: Options, id: string) {
    this.#names = names;
    this.#id = id;
    this.#run = createRunShared(redis, observer);
    this.#isCluster = redis.isCluster;
  }

  send(cachePartition: string, addresses: readonly string[]): void {
    for (const address of addresses) this.#add({ cachePartition, address });
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

  #sendUnsent(): void {
    const addresses = [...this.#unsent.values()];
    this.#unsent.clear();
    for (const some of portionsOf(addresses)) void this.#sendAll(some);
  }

  /** A Cluster has the keys of each address on a node of their own. */
  async #sendAll(addresses: readonly Address[]): Promise<boolean> {
    if (!this.#isCluster) return this.#send(addresses);
    const sent = await Promise.all(addresses.map((address) => this.#send([address])));
    return sent.every((isSent) => isSent);
  }

  async #send(addresses: readonly Address[]): Promise<boolean> {
    const keys = addresses.map(({ cachePartition, address }) =>
      this.#names.generationOf(cachePartition, address),
    );
    const message = [this.#id, ...addresses.map(keyOf)].join(' ');
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
