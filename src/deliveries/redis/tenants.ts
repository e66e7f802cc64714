import { randomBytes } from 'node:crypto';
import { epochOf } from '../log/cursor.ts';
import { LogUnavailableError } from '../log/errors.ts';
import { describeFence, readFence } from '../log/fence.ts';
import type { LogSize } from '../log/log.ts';
import { FORMAT, SEED, type Store, TENANTS, tenantKeys } from './store.ts';

export const SEED_BYTES = 32;
const ADDED_AT_ONCE = 1000;
const MEASURED_AT_ONCE = 100;

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

  /** Measures the logs of all tenants, a few of them at a time. */
  async size(): Promise<LogSize> {
    const total = { bytes: 0, deliveries: 0, tenants: 0, oldest: Number.POSITIVE_INFINITY, isWhole: true };
    const measure = async (tenant: string, oldest: number): Promise<void> => {
      const [stream] = tenantKeys(tenant).entries;
      const [count, bytes] = await Promise.all([
        this.#store.send(stream, 'XLEN', stream).then(Number),
        this.#store.send(stream, 'MEMORY', 'USAGE', stream).then(Number, () => null),
      ]);
      if (bytes === null) total.isWhole = false;
      total.bytes += bytes ?? 0;
      if (count === 0) return;
      total.deliveries += count;
      total.tenants += 1;
      if (oldest > 0) total.oldest = Math.min(total.oldest, oldest);
    };
    for (let from = 0; ; from += MEASURED_AT_ONCE) {
      const to = from + MEASURED_AT_ONCE - 1;
      const reply = await this.#store.send(TENANTS, 'ZRANGE', TENANTS, `${from}`, `${to}`, 'WITHSCORES');
      const pairs = Array.isArray(reply) ? reply.map(String) : [];
      const tenants = pairs.filter((_text, index) => index % 2 === 0);
      await Promise.all(tenants.map((tenant, index) => measure(tenant, Number(pairs[2 * index + 1]))));
      if (tenants.length < MEASURED_AT_ONCE) break;
    }
    return {
      bytes: total.isWhole ? total.bytes : null,
      deliveries: total.deliveries,
      tenants: total.tenants,
      oldestAt: Number.isFinite(total.oldest) ? total.oldest : null,
    };
  }

  /** The oldest delivery of the tenant that is left was received then. */
  async setOldest(tenant: string, receivedAt: number): Promise<void> {
    await this.#store.send(TENANTS, 'ZADD', TENANTS, String(receivedAt), tenant);
  }
}

/** All gateways that start at the same time get the same seed. Rejects where this gateway must not use the log. */
const readSeed = async (store: Store): Promise<Buffer> => {
  await checkFormat(store);
  const made = await store.sendReplacing(SEED, 'SET', SEED, randomBytes(SEED_BYTES), 'NX', 'GET');
  const seed = Buffer.isBuffer(made) ? made : await store.get(SEED);
  if (seed === null) throw new Error('Redis has lost the seed of the delivery log');
  checkFence(seed);
  return seed;
};

/** Throws LogUnavailableError where a copy of the log closes it to gateways. The fence is behind the seed. */
export const checkFence = (seed: Buffer): void => {
  const fence = readFence(seed.toString('utf8', SEED_BYTES));
  if (fence !== null) throw new LogUnavailableError(describeFence(fence));
};

/**
 * The format of the log's keys. A change that earlier gateways would not understand is a higher number, and comes with a way
 * to upgrade.
 */
const CURRENT_FORMAT = 1;

/** A log of before formats were recorded has the first one. */
const checkFormat = async (store: Store): Promise<void> => {
  const reply = await store.sendReplacing(FORMAT, 'SET', FORMAT, String(CURRENT_FORMAT), 'NX', 'GET');
  const format = Number(reply ?? CURRENT_FORMAT);
  if (format !== CURRENT_FORMAT)
    throw new LogUnavailableError(
      `expected a log in format ${CURRENT_FORMAT}, got format ${format}: a later version of the gateway has written it, so start that one`,
    );
};
