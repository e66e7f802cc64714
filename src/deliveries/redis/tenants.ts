import { randomBytes } from 'node:crypto';
import { epochOf } from '../log/cursor.ts';
import { SEED, TENANTS } from './keys.ts';
import type { Store } from './store.ts';

const SEED_BYTES = 32;
const ADDED_AT_ONCE = 1000;

/** What is known of all tenants: the seed of their epochs, and when the retention has to look at each. */
export class Tenants {
  readonly #store: Store;
  readonly #onLost: (() => void) | undefined;
  readonly #added = new Set<string>();
  /** All that were seen in the set of tenants, which keeps each for ever. */
  readonly #seen = new Set<string>();
  #seed: Buffer;

  private constructor(store: Store, seed: Buffer, onLost: (() => void) | undefined) {
    this.#store = store;
    this.#seed = seed;
    this.#onLost = onLost;
  }

  /** `onLost` is called when Redis has lost the log, or has another one than before. */
  static async open(store: Store, onLost?: () => void): Promise<Tenants> {
    return new Tenants(store, await readSeed(store), onLost);
  }

  /** Reads the seed again: it is another one when Redis has lost the log. */
  async refresh(): Promise<void> {
    this.#added.clear();
    const seed = await readSeed(this.#store);
    if (seed.equals(this.#seed)) return;
    this.#seed = seed;
    this.#seen.clear();
    this.#onLost?.();
  }

  /** Finds what Redis has lost without the connection being lost, and adds the tenants again that the set of them lacks. */
  async check(): Promise<void> {
    const seed = await this.#store.sendReplacing(SEED, 'GET', SEED);
    if (!Buffer.isBuffer(seed) || !seed.equals(this.#seed)) await this.refresh();
    const count = Number(await this.#store.sendReplacing(TENANTS, 'ZCARD', TENANTS));
    if (count >= this.#seen.size) return;
    const all = [...this.#seen];
    for (let at = 0; at < all.length; at += ADDED_AT_ONCE) {
      const members = all.slice(at, at + ADDED_AT_ONCE).flatMap((tenant) => ['0', tenant]);
      await this.#store.send(TENANTS, 'ZADD', TENANTS, 'NX', ...members);
    }
  }

  /** The epoch of a tenant that has no log yet. */
  epochOf(tenant: string): Buffer {
    return epochOf(this.#seed, tenant);
  }

  /** Prepares the first delivery of a tenant; resolves with the epoch of its log. */
  async newEpoch(tenant: string): Promise<Buffer> {
    await this.refresh();
    return this.epochOf(tenant);
  }

  /** Whether this gateway has stored a delivery of the tenant. */
  has(tenant: string): boolean {
    return this.#added.has(tenant);
  }

  /**
   * Lets the retention know of a tenant that has a delivery. Only the first call for a tenant sends a command: another
   * gateway, or the one before a restart, may have added it already, but Redis may also have lost it since.
   */
  async add(tenant: string): Promise<void> {
    if (this.#added.has(tenant)) return;
    this.#added.add(tenant);
    this.#seen.add(tenant);
    try {
      await this.#store.send(TENANTS, 'ZADD', TENANTS, 'NX', '0', tenant);
    } catch {
      this.#added.delete(tenant);
    }
  }

  /** The tenants that may have a delivery from before the time, or all. At most `limit`, from the `offset`th on. */
  async due(before: number | null, offset: number, limit: number): Promise<string[]> {
    const max = before === null ? '+inf' : `(${before}`;
    const range = [TENANTS, '-inf', max, 'LIMIT', String(offset), String(limit)];
    const reply = await this.#store.send(TENANTS, 'ZRANGEBYSCORE', ...range);
    const tenants = Array.isArray(reply) ? reply.map(String) : [];
    for (const tenant of tenants) this.#seen.add(tenant);
    return tenants;
  }

  /** The oldest delivery of the tenant that is left was received then. */
  async setOldest(tenant: string, receivedAt: number): Promise<void> {
    await this.#store.send(TENANTS, 'ZADD', TENANTS, String(receivedAt), tenant);
  }
}

/** All gateways that start at the same time get the same seed. */
const readSeed = async (store: Store): Promise<Buffer> => {
  const made = await store.sendReplacing(SEED, 'SET', SEED, randomBytes(SEED_BYTES), 'NX', 'GET');
  if (Buffer.isBuffer(made)) return made;
  const seed = await store.get(SEED);
  if (seed === null) throw new Error('Redis has lost the seed of the delivery log');
  return seed;
};
