import { randomBytes } from 'node:crypto';
import type { Clock } from '../../lib/deadlines.ts';
import { messageOf } from '../../lib/values.ts';
import { epochOf } from '../log/cursor.ts';
import { LogUnavailableError } from '../log/errors.ts';
import { describeFence, readFence } from '../log/fence.ts';
import type { LogSize } from '../log/log.ts';
import {
  fairShare,
  isNear,
  isTimeDue,
  type Jump,
  type KeptTime,
  type Retention,
  RetentionClock,
  type RetentionObserver,
} from '../log/retention.ts';
import {
  FORMAT,
  isRefusal,
  SEED,
  type Store,
  TENANTS,
  TIME,
  TIME_JUMP,
  TOTAL,
  TRIM,
  tenantKeys,
} from './store.ts';

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

type Options = {
  readonly store: Store;
  readonly tenants: Tenants;
  readonly retention: Retention;
};

/** Deliveries that one call drops at most: Redis serves nothing else meanwhile. */
const DROPPED_AT_ONCE = 256;
const TENANTS_AT_ONCE = 100;

/** Counting takes Redis about 10 µs a tenant, so it gets a thirtieth of its time at most. */
const COUNTING_PAUSE_PER_TENANT_MS = 0.3;
const MIN_COUNTING_PAUSE_MS = 2000;
/** A gateway that ends while it counts lets another one begin after this time. */
const MAX_COUNTING_MS = 60_000;

/** The logs of some tenants could not be trimmed; all others were. The message names some of them. */
class TenantsNotTrimmedError extends Error {
  constructor(failures: ReadonlyMap<string, unknown>) {
    const named = [...failures].slice(0, 3).map(([tenant, error]) => `${tenant} (${messageOf(error)})`);
    const others = failures.size - named.length;
    super(`of tenant ${named.join(', ')}${others === 0 ? '' : `, and of ${others} others`}`);
    this.name = 'TenantsNotTrimmedError';
  }
}

/**
 * Drops the oldest deliveries that are beyond the retention. A set that is sorted by the age of each tenant's oldest
 * delivery names those with too old ones, `observeCount` those with too many. Gateways may trim at the same time.
 */
export class RedisTrimmer {
  readonly #options: Options;
  readonly #overfull = new Set<string>();
  /** Tenants that had too many before this gateway started are found once. */
  #hasSeenAll = false;

  constructor(options: Options) {
    this.#options = options;
  }

  observeCount(tenant: string, count: number): void {
    if (count > this.#options.retention.maxCount) this.#overfull.add(tenant);
  }

  /**
   * `now` is the time that ages are measured to. Rejects with TenantsNotTrimmedError when Redis has refused to trim some
   * tenants; the next call tries them again.
   */
  async trim(now: number): Promise<void> {
    const { tenants, retention } = this.#options;
    const tooOld = now - retention.maxAgeMs;
    await this.#seeAll();
    const shares = await this.#shares();
    const failures = new Map<string, unknown>();
    for (const tenant of this.#overfull)
      if (await this.#hasTrimmed(tenant, now, failures)) this.#overfull.delete(tenant);
    for (const [tenant, share] of shares) await this.#hasTrimmed(tenant, now, failures, share);
    // Each of them leaves the front of the set, unless it fails.
    for (let failed = 0; ; ) {
      const due = await tenants.due(tooOld, failed, TENANTS_AT_ONCE);
      for (const tenant of due) if (!(await this.#hasTrimmed(tenant, now, failures))) failed += 1;
      if (due.length < TENANTS_AT_ONCE) break;
    }
    if (failures.size > 0) throw new TenantsNotTrimmedError(failures);
  }

  /**
   * What tenants may keep that have more than their share, where all together have more than their limit. Of all gateways, one
   * looks at a time, and less often the more tenants there are.
   */
  async #shares(): Promise<ReadonlyMap<string, number>> {
    const { store, tenants, retention } = this.#options;
    const { maxCount, maxTotal } = retention;
    if (maxTotal === Number.POSITIVE_INFINITY) return new Map();
    const leased = await store.send(TOTAL, 'SET', TOTAL, '', 'NX', 'PX', String(MAX_COUNTING_MS));
    if (leased === null) return new Map();
    const counts = new Map<string, number>();
    for (let offset = 0; ; offset += TENANTS_AT_ONCE) {
      const some = await tenants.due(null, offset, TENANTS_AT_ONCE);
      await Promise.all(some.map(async (tenant) => counts.set(tenant, await this.#countOf(tenant))));
      if (some.length < TENANTS_AT_ONCE) break;
    }
    const pauseMs = Math.max(MIN_COUNTING_PAUSE_MS, counts.size * COUNTING_PAUSE_PER_TENANT_MS);
    await store.send(TOTAL, 'PEXPIRE', TOTAL, String(Math.ceil(pauseMs)));
    const sizes = Map.groupBy(counts.values(), (count) => count);
    const share = fairShare(new Map([...sizes].map(([count, all]) => [count, all.length])), maxTotal);
    const least = Math.min(maxCount, share);
    return new Map([...counts].filter(([, count]) => count > least).map(([tenant]) => [tenant, least]));
  }

  async #countOf(tenant: string): Promise<number> {
    const [, key] = tenantKeys(tenant).entries;
    const reply = await this.#options.store.send(key, 'HMGET', key, 'head', 'floor').catch((error) => {
      // The next append or read of this tenant mends it.
      if (isRefusal(error)) return [];
      throw error;
    });
    const [head, floor] = Array.isArray(reply) ? reply : [];
    return Math.max(0, Number(head ?? 0) - Number(floor ?? 0));
  }

  async #seeAll(): Promise<void> {
    for (let offset = 0; !this.#hasSeenAll; offset += TENANTS_AT_ONCE) {
      const some = await this.#options.tenants.due(null, offset, TENANTS_AT_ONCE);
      for (const tenant of some) this.#overfull.add(tenant);
      this.#hasSeenAll = some.length < TENANTS_AT_ONCE;
    }
  }

  /** Adds the tenant to `failures` when Redis refuses to trim its log. Rejects when Redis can't be reached. */
  async #hasTrimmed(
    tenant: string,
    now: number,
    failures: Map<string, unknown>,
    maxCount = this.#options.retention.maxCount,
  ): Promise<boolean> {
    try {
      await this.#trimTenant(tenant, now, maxCount);
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      failures.set(tenant, error);
      return false;
    }
  }

  async #trimTenant(tenant: string, now: number, maxCount: number): Promise<void> {
    const { store, tenants, retention } = this.#options;
    const { prefix, entries } = tenantKeys(tenant);
    const tooOld = now - retention.maxAgeMs;
    const limits = [maxCount, now, retention.maxAgeMs, DROPPED_AT_ONCE];
    const args = [prefix, ...limits.map(String)];
    for (;;) {
      const [hasMore, storedAt, mended] = await store.run(TRIM, entries, args);
      store.reportMended(tenant, mended);
      if (hasMore === 1) continue;
      const left = String(storedAt ?? '');
      // Without a delivery, the next one can't be older than now.
      await tenants.setOldest(tenant, left === '' ? now : Math.max(Number(left), tooOld));
      return;
    }
  }
}

type ClockOptions = {
  readonly store: Store;
  /** Takes the place of the clock of Redis. */
  readonly now: (() => number) | undefined;
  readonly monotonic: Clock;
  readonly observer: RetentionObserver;
};

/**
 * The time by which all gateways drop deliveries: that of Redis, so that no gateway's own clock can drop anything. The last
 * one that was believed is kept in Redis, so a gateway that starts can tell whether the clock of Redis has jumped. A
 * jump that is not confirmed is kept beside it.
 */
export class RedisTime {
  readonly #options: ClockOptions;
  readonly #clock: RetentionClock;
  #kept: KeptTime | null;
  #differs = false;

  private constructor(options: ClockOptions, clock: RetentionClock, kept: KeptTime | null) {
    this.#options = options;
    this.#clock = clock;
    this.#kept = kept;
  }

  static async open(options: ClockOptions): Promise<RedisTime> {
    const { store, now: given, monotonic, observer } = options;
    const kept = await keptTime(store);
    // Without a time that is kept, as in a new log, the two clocks at hand have to agree.
    const wall = given?.() ?? Math.min(await readTime(store), Date.now());
    const clock = new RetentionClock(kept ?? { now: wall, jump: null }, monotonic, observer);
    return new RedisTime(options, clock, kept);
  }

  /** Returns the time that has come for certain. */
  async read(): Promise<number> {
    const { store, now: given } = this.#options;
    const wall = given?.() ?? (await readTime(store));
    if (given === undefined) this.#compare(Date.now() - wall);
    const time = this.#clock.read(wall);
    if (isTimeDue(this.#kept, time)) await this.#keep(time);
    return time.now;
  }

  async #keep(time: KeptTime): Promise<void> {
    await keepTime(this.#options.store, time);
    this.#kept = time;
  }

  #compare(aheadMs: number): void {
    const differs = !isNear(aheadMs, 0);
    if (differs !== this.#differs) this.#options.observer.differs?.(differs ? aheadMs : null);
    this.#differs = differs;
  }
}

/** The time that gateways have kept in Redis; null where there is none. */
export const keptTime = async (store: Store): Promise<KeptTime | null> => {
  const time = Number((await store.get(TIME)) ?? Number.NaN);
  const jump = jumpIn(await store.get(TIME_JUMP));
  const now = Number.isFinite(time) ? time : jump?.expected;
  return now === undefined ? null : { now, jump };
};

export const keepTime = async (store: Store, { now, jump }: KeptTime): Promise<void> => {
  if (jump !== null) {
    const text = `${jump.expected} ${jump.wall} ${jump.evenMs}`;
    await store.send(TIME_JUMP, 'SET', TIME_JUMP, text);
  } else {
    await store.send(TIME, 'SET', TIME, String(now));
    await store.send(TIME_JUMP, 'UNLINK', TIME_JUMP);
  }
};

/** Returns null if there is no jump, or a malformed one. */
const jumpIn = (kept: Buffer | null): Jump | null => {
  const [expected, wall, evenMs] = String(kept ?? '')
    .split(' ')
    .map(Number);
  if (expected === undefined || wall === undefined || evenMs === undefined) return null;
  return Number.isFinite(expected + wall + evenMs) ? { expected, wall, evenMs } : null;
};

const readTime = async (store: Store): Promise<number> => {
  const reply = await store.send(TIME, 'TIME');
  const [seconds, microseconds] = Array.isArray(reply) ? reply : [];
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
};
