import type { DatabaseSync } from 'node:sqlite';
import { type Extent, fingerprintOf } from '../log/cursor.ts';
import { fairShare, isNear, isTimeDue, type KeptTime, type Retention } from '../log/retention.ts';
import type { Indexer } from './indexer.ts';
import { numberOrNull } from './rows.ts';

export type Trim = {
  readonly retention: Retention;
  /** Ages are measured to its `now`. */
  readonly time: KeptTime;
};

/** How long one step drops. Rows differ in cost, by their size and by what is in memory, so time bounds a step. */
const STEP_MS = 2;
const DELIVERIES_AT_ONCE = 16;
const POSTINGS_AT_ONCE = 64;
const TENANTS_AT_ONCE = 256;
/** Leaves nothing. */
const ALL: Trim = {
  retention: { maxAgeMs: 0, maxCount: 0, maxTotal: 0 },
  time: { now: 0, jump: null },
};
const MAX_KNOWN_OVERFULL = 1000;

/** Parameter: the time before which a delivery is too old. Exported for its test. */
export const TOO_OLD_SQL = 'SELECT id FROM tenant WHERE oldest < ? ORDER BY oldest LIMIT 1';

type Oldest = {
  readonly sequence: number;
  readonly received: number;
  /** The time by the clock of Redis, of a delivery that came from there while the two clocks were apart. */
  readonly stored: number | null;
  readonly identity: Buffer;
  readonly chainId: number | null;
};

/** When a delivery was stored: the later time, unless that has not come yet. One of the two clocks was wrong. */
const ageOf = ({ received, stored }: Oldest, now: number): number => {
  if (stored === null) return received;
  return received <= now || isNear(received, now) ? Math.max(received, stored) : stored;
};

/**
 * Applies the retention: drops the oldest deliveries, always from the front, so that the rest has no hole. It visits only
 * tenants that have something to drop: an index finds those with a delivery that is too old, `observeCount` those with too
 * many.
 */
export class SqliteTrimmer {
  readonly #indexer: Indexer;
  readonly #expiredSegments: ExpiredSegments;
  readonly #tooOld;
  readonly #tooMany;
  readonly #extent;
  readonly #oldest;
  readonly #dropDelivery;
  readonly #dropStored;
  readonly #raiseFloor;
  readonly #rememberTrimmed;
  readonly #setOldest;
  readonly #time;
  readonly #shares: Shares;
  readonly #overfull = new Set<number>();
  /** Whether tenants that `#overfull` lacks may have too many deliveries, as after the limit was lowered. */
  #hasMoreOverfull = true;
  #maxCount = Number.POSITIVE_INFINITY;

  constructor(database: DatabaseSync, indexer: Indexer) {
    this.#indexer = indexer;
    this.#expiredSegments = new ExpiredSegments(database);
    this.#tooOld = database.prepare(TOO_OLD_SQL);
    this.#tooMany = database.prepare(
      `SELECT id FROM tenant WHERE head - floor > ? LIMIT ${MAX_KNOWN_OVERFULL}`,
    );
    this.#extent = database.prepare('SELECT head, floor FROM tenant WHERE id = ?');
    this.#oldest = database.prepare(
      `SELECT sequence, received, identity, chain, (SELECT at FROM stored WHERE stored.id = delivery.id) AS stored FROM delivery
       WHERE id > (?1 << 40 | ?2) AND id <= (?1 << 40 | ?3) ORDER BY id LIMIT ${DELIVERIES_AT_ONCE}`,
    );
    this.#dropDelivery = database.prepare('DELETE FROM delivery WHERE id = (? << 40 | ?)');
    this.#dropStored = database.prepare('DELETE FROM stored WHERE id = (? << 40 | ?)');
    this.#raiseFloor = database.prepare('UPDATE tenant SET floor = ? WHERE id = ?');
    this.#rememberTrimmed = database.prepare('INSERT OR REPLACE INTO trimmed VALUES (?, ?, ?)');
    this.#setOldest = database.prepare('UPDATE tenant SET oldest = ? WHERE id = ?');
    this.#time = new TimeKeeper(database);
    this.#shares = new Shares(database);
  }

  /** Records when the tenant's only delivery was received. Must run in a transaction. */
  startedAt(tenant: number, received: number): void {
    this.#setOldest.run(received, tenant);
  }

  /** Records that the tenant now has `count` deliveries, `added` of them new. */
  observeCount(tenant: number, count: number, added: number): void {
    this.#shares.grew(added);
    if (count <= this.#maxCount) return;
    if (this.#overfull.size < MAX_KNOWN_OVERFULL) this.#overfull.add(tenant);
    else this.#hasMoreOverfull = true;
  }

  /** Whether there is anything to drop or to keep. Needs no transaction, so to ask costs no commit. */
  isDue(trim: Trim): boolean {
    return this.#time.isDue(trim.time) || this.#shares.isCounting(trim) || this.#next(trim) !== null;
  }

  /** Drops for a few milliseconds. Must run in a transaction. */
  step(trim: Trim): void {
    if (this.#time.isDue(trim.time)) this.#time.keep(trim.time);
    const end = performance.now() + STEP_MS;
    while (this.#shares.isCounting(trim)) {
      this.#shares.count(trim);
      if (performance.now() >= end) return;
    }
    do {
      const tenant = this.#next(trim);
      if (tenant === null) return;
      this.#trim(tenant, trim);
    } while (performance.now() < end);
  }

  /** Drops a few of a tenant's deliveries, whatever the retention. Returns whether some are left. Must run in a transaction. */
  dropSome(tenant: number): boolean {
    this.#trim(tenant, ALL);
    const { head, floor } = this.#extentOf(tenant);
    return floor < head || this.#expiredSegments.drop(tenant);
  }

  /** Records the time. Must run in a transaction. */
  keepTime(time: KeptTime): void {
    this.#time.keep(time);
  }

  #next(trim: Trim): number | null {
    const { retention, time } = trim;
    const maxCount = this.#shares.maxCount(trim);
    if (maxCount !== this.#maxCount) this.#hasMoreOverfull = true;
    this.#maxCount = maxCount;
    if (this.#overfull.size === 0 && this.#hasMoreOverfull) {
      const rows = this.#tooMany.all(maxCount);
      for (const { id } of rows) this.#overfull.add(Number(id));
      this.#hasMoreOverfull = rows.length === MAX_KNOWN_OVERFULL;
    }
    const [overfull] = this.#overfull;
    if (overfull !== undefined) return overfull;
    const old = this.#tooOld.get(time.now - retention.maxAgeMs);
    return old === undefined ? null : Number(old.id);
  }

  /** Drops a few deliveries and a few posting lists. When there is nothing left to drop, the tenant is no longer due. */
  #trim(tenant: number, trim: Trim): void {
    const { retention, time } = trim;
    const now = time.now;
    const maxCount = this.#shares.maxCount(trim);
    const extent = this.#extentOf(tenant);
    const rows = this.#oldestOf(tenant, extent);
    // Everything after the first delivery that stays is kept, even if it is older: the clock may have gone back.
    const firstKept = rows.findIndex(
      (row) => row.sequence > extent.head - maxCount && ageOf(row, now) >= now - retention.maxAgeMs,
    );
    const dropped = firstKept === -1 ? rows : rows.slice(0, firstKept);
    for (const { sequence, identity, chainId, stored } of dropped) {
      this.#indexer.drop({ tenant, identity, chainId });
      this.#dropDelivery.run(tenant, sequence);
      if (stored !== null) this.#dropStored.run(tenant, sequence);
    }
    this.#shares.grew(-dropped.length);
    const last = dropped.at(-1);
    if (last !== undefined) {
      this.#raiseFloor.run(last.sequence, tenant);
      this.#rememberTrimmed.run(tenant, last.sequence, fingerprintOf(last.identity, last.received));
    }
    if (this.#expiredSegments.drop(tenant) || dropped.length === DELIVERIES_AT_ONCE) return;
    this.#overfull.delete(tenant);
    const oldest = rows[firstKept];
    this.#setOldest.run(oldest === undefined ? null : ageOf(oldest, now), tenant);
  }

  #oldestOf(tenant: number, { head, floor }: Extent): Oldest[] {
    return this.#oldest.all(tenant, floor, head).map(
      ({ sequence, received, stored, identity, chain }): Oldest => ({
        sequence: Number(sequence),
        received: Number(received),
        stored: numberOrNull(stored),
        identity: identity instanceof Uint8Array ? Buffer.from(identity) : Buffer.alloc(0),
        chainId: numberOrNull(chain),
      }),
    );
  }

  #extentOf(tenant: number): Extent {
    const row = this.#extent.get(tenant);
    return { head: Number(row?.head), floor: Number(row?.floor) };
  }
}

/** How many deliveries each tenant may keep, where all together have more than their limit. */
class Shares {
  readonly #counts;
  #total: number;
  /** A trim counts the tenants once. */
  #trim: Trim | null = null;
  #after = 0;
  #found = new Map<number, number>();
  /** Null while the tenants are counted. */
  #share: number | null = null;

  constructor(database: DatabaseSync) {
    this.#counts = database.prepare(
      `SELECT id, head - floor AS count FROM tenant WHERE id > ? ORDER BY id LIMIT ${TENANTS_AT_ONCE}`,
    );
    this.#total = Number(database.prepare('SELECT sum(head - floor) AS total FROM tenant').get()?.total ?? 0);
  }

  grew(by: number): void {
    this.#total += by;
  }

  /** Whether the tenants have to be counted before `maxCount` knows their share. */
  isCounting(trim: Trim): boolean {
    if (this.#total <= trim.retention.maxTotal) return false;
    return this.#trim !== trim || this.#share === null;
  }

  /** Counts some tenants. */
  count(trim: Trim): void {
    if (this.#trim !== trim) [this.#trim, this.#after, this.#found, this.#share] = [trim, 0, new Map(), null];
    const rows = this.#counts.all(this.#after);
    for (const row of rows) {
      const count = Number(row.count);
      if (count > 0) this.#found.set(count, (this.#found.get(count) ?? 0) + 1);
      this.#after = Number(row.id);
    }
    if (rows.length < TENANTS_AT_ONCE) this.#share = fairShare(this.#found, trim.retention.maxTotal);
  }

  maxCount(trim: Trim): number {
    const { maxCount, maxTotal } = trim.retention;
    if (this.#total <= maxTotal || this.#trim !== trim) return maxCount;
    return Math.min(maxCount, this.#share ?? maxCount);
  }
}

/** Keeps the time by which deliveries are dropped. */
class TimeKeeper {
  readonly #keepNow;
  readonly #keepJump;
  readonly #dropJump;
  #kept: KeptTime | null;

  constructor(database: DatabaseSync) {
    this.#keepNow = database.prepare('INSERT OR REPLACE INTO time VALUES (1, ?)');
    this.#keepJump = database.prepare('INSERT OR REPLACE INTO time_jump VALUES (1, ?, ?, ?)');
    this.#dropJump = database.prepare('DELETE FROM time_jump');
    this.#kept = keptTime(database);
  }

  isDue(time: KeptTime): boolean {
    return isTimeDue(this.#kept, time);
  }

  /** Must run in a transaction. */
  keep(time: KeptTime): void {
    const { now, jump } = time;
    if (jump !== null)
      this.#keepJump.run(Math.round(jump.expected), Math.round(jump.wall), Math.round(jump.evenMs));
    else {
      this.#keepNow.run(Math.round(now));
      this.#dropJump.run();
    }
    this.#kept = time;
  }
}

/** What the log has kept of its time; null in a new log. */
export const keptTime = (database: DatabaseSync): KeptTime | null => {
  const kept = database.prepare('SELECT now FROM time').get()?.now;
  const jump = database.prepare('SELECT expected, wall, even FROM time_jump').get();
  if (jump === undefined) return kept === undefined ? null : { now: Number(kept), jump: null };
  const expected = Number(jump.expected);
  return {
    now: Number(kept ?? expected),
    jump: { expected, wall: Number(jump.wall), evenMs: Number(jump.even) },
  };
};

/** Drops the segments whose deliveries were all trimmed, with their posting lists; never a segment that is being built. */
class ExpiredSegments {
  readonly #oldest;
  readonly #dropPostings;
  readonly #dropSegment;

  constructor(database: DatabaseSync) {
    this.#oldest = database.prepare(
      `SELECT first, last <= (SELECT min(floor, indexed) FROM tenant WHERE id = segment.tenant) AS expired
       FROM segment WHERE tenant = ? ORDER BY first LIMIT 1`,
    );
    this.#dropPostings = database.prepare(
      `DELETE FROM posting WHERE tenant = ?1 AND segment = ?2 AND term IN
         (SELECT term FROM posting WHERE tenant = ?1 AND segment = ?2 LIMIT ${POSTINGS_AT_ONCE})`,
    );
    this.#dropSegment = database.prepare('DELETE FROM segment WHERE tenant = ? AND first = ?');
  }

  /** Drops a few posting lists. Returns whether there may be more to drop. Must run in a transaction. */
  drop(tenant: number): boolean {
    const oldest = this.#oldest.get(tenant);
    if (!oldest?.expired) return false;
    const first = Number(oldest.first);
    if (Number(this.#dropPostings.run(tenant, first).changes) === 0) this.#dropSegment.run(tenant, first);
    return true;
  }
}
