import type { Clock } from '../../lib/deadlines.ts';
import { messageOf } from '../../lib/errors.ts';
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
import { isRefusal, type Store, TIME, TIME_JUMP, TOTAL, TRIM, tenantKeys } from './store.ts';
import type { Tenants } from './tenants.ts';

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
