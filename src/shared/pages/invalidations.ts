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
const FLUSHED_AT_ONCE = 100;
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
    const [sender, cachePartition = '', address = ''] = message.split(' ');
    if (sender !== id) memory.invalidate(cachePartition, [address]);
  });
  return invalidations;
};

class RedisInvalidations implements Invalidations {
  readonly #names: Names;
  readonly #id: string;
  readonly #run: RunShared;
  readonly #pending = new Map<string, Address>();
  #retry: NodeJS.Timeout | undefined;

  constructor({ redis, names, observer }: Options, id: string) {
    this.#names = names;
    this.#id = id;
    this.#run = createRunShared(redis, observer);
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
    const addresses = [...this.#pending.values()];
    for (let start = 0; start < addresses.length; start += FLUSHED_AT_ONCE) {
      const sent = addresses.slice(start, start + FLUSHED_AT_ONCE).map((address) => this.#send(address));
      if (!(await Promise.all(sent)).every((isSent) => isSent)) return;
    }
  }

  #add(address: Address): void {
    this.#pending.set(keyOf(address), address);
    if (this.#pending.size > MAX_PENDING) {
      const [oldest = ''] = this.#pending.keys();
      this.#pending.delete(oldest);
    }
    void this.#send(address);
  }

  async #send(address: Address): Promise<boolean> {
    const { cachePartition, address: name } = address;
    const message = `${this.#id} ${cachePartition} ${name}`;
    const keys = [this.#names.generationOf(cachePartition, name)];
    const reply = await this.#run('invalidate', INVALIDATE, keys, [this.#names.invalidations, message]);
    if (reply === undefined) {
      this.#retry ??= setTimeout(() => void this.flush(), RETRY_MS).unref();
      return false;
    }
    // Otherwise a later one of the same address is still on its way.
    if (this.#pending.get(keyOf(address)) === address) this.#pending.delete(keyOf(address));
    return true;
  }
}

const keyOf = ({ cachePartition, address }: Address): string => `${cachePartition} ${address}`;
