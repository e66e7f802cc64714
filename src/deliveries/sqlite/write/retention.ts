import type { DatabaseSync } from 'node:sqlite';
import { fingerprintOf } from '../fingerprint.ts';
import type { Indexer } from '../index/indexer.ts';
import type { Extent } from '../read/cursors.ts';
import { ExpiredSegments } from './expired-segments.ts';

/** Beyond either, the oldest deliveries of a tenant are dropped. */
export type Retention = { readonly maxAgeMs: number; readonly maxCount: number };

/** Rows differ in what they cost to drop, by their size and by what is in memory: so a step is bounded by time. */
const STEP_MS = 2;
const READ_AT_ONCE = 16;
const KNOWN_OVERFULL = 1000;

/** Takes the time before which a delivery is too old. */
export const TOO_OLD_SQL = 'SELECT id FROM tenant WHERE oldest < ? ORDER BY oldest LIMIT 1';

/**
 * Drops the oldest deliveries, always from the front, so that what is kept has no hole. It visits only tenants with
 * something to drop: an index finds those with a delivery that is too old, `observeCount` those beyond the count.
 */
export class RetentionTrimmer {
  readonly #indexer: Indexer;
  readonly #expiredSegments: ExpiredSegments;
  readonly #tooOld;
  readonly #tooMany;
  readonly #extent;
  readonly #oldest;
  readonly #dropDelivery;
  readonly #raiseFloor;
  readonly #remember;
  readonly #setOldest;
  readonly #overfull = new Set<number>();
  /** Whether more tenants than `#overfull` knows may be beyond the count, as after the count was lowered. */
  #hasMoreOverfull = true;
  #maxCount = Number.POSITIVE_INFINITY;

  constructor(database: DatabaseSync, indexer: Indexer) {
    this.#indexer = indexer;
    this.#expiredSegments = new ExpiredSegments(database);
    this.#tooOld = database.prepare(TOO_OLD_SQL);
    this.#tooMany = database.prepare(`SELECT id FROM tenant WHERE head - floor > ? LIMIT ${KNOWN_OVERFULL}`);
    this.#extent = database.prepare('SELECT head, floor FROM tenant WHERE id = ?');
    this.#oldest = database.prepare(
      `SELECT sequence, received, identity FROM delivery
       WHERE id > (?1 << 40 | ?2) AND id <= (?1 << 40 | ?3) ORDER BY id LIMIT ?4`,
    );
    this.#dropDelivery = database.prepare('DELETE FROM delivery WHERE id = (? << 40 | ?)');
    this.#raiseFloor = database.prepare('UPDATE tenant SET floor = ? WHERE id = ?');
    this.#remember = database.prepare('INSERT OR REPLACE INTO trimmed VALUES (?, ?, ?)');
    this.#setOldest = database.prepare('UPDATE tenant SET oldest = ? WHERE id = ?');
  }

  /** The tenant's only delivery was received at `received`. Belongs into a transaction. */
  begun(tenant: number, received: number): void {
    this.#setOldest.run(received, tenant);
  }

  /** The tenant has `count` deliveries now. */
  observeCount(tenant: number, count: number): void {
    if (count <= this.#maxCount) return;
    if (this.#overfull.size < KNOWN_OVERFULL) this.#overfull.add(tenant);
    else this.#hasMoreOverfull = true;
  }

  /** Whether there is anything to drop. Needs no transaction, so that looking in vain costs no commit. */
  isDue(retention: Retention, now: number): boolean {
    return this.#next(retention, now) !== null;
  }

  /** Drops for a few milliseconds. Belongs into a transaction. */
  step(retention: Retention, now: number): void {
    const end = performance.now() + STEP_MS;
    do {
      const tenant = this.#next(retention, now);
      if (tenant === null) return;
      this.#trim(tenant, retention, now);
    } while (performance.now() < end);
  }

  #next({ maxAgeMs, maxCount }: Retention, now: number): number | null {
    if (maxCount !== this.#maxCount) this.#hasMoreOverfull = true;
    this.#maxCount = maxCount;
    if (this.#overfull.size === 0 && this.#hasMoreOverfull) {
      const rows = this.#tooMany.all(maxCount);
      for (const { id } of rows) this.#overfull.add(Number(id));
      this.#hasMoreOverfull = rows.length === KNOWN_OVERFULL;
    }
    const [overfull] = this.#overfull;
    if (overfull !== undefined) return overfull;
    const old = this.#tooOld.get(now - maxAgeMs);
    return old === undefined ? null : Number(old.id);
  }

  /** Drops a few deliveries, then a few index entries. Once neither are left to drop, the tenant is not due any more. */
  #trim(tenant: number, retention: Retention, now: number): void {
    const extent = this.#extentOf(tenant);
    const rows = this.#oldestOf(tenant, extent);
    // All after the first one that stays are kept, also older ones: the clock may have gone back.
    const kept = rows.findIndex(
      ({ sequence, received }) =>
        sequence > extent.head - retention.maxCount && received >= now - retention.maxAgeMs,
    );
    const dropped = kept === -1 ? rows : rows.slice(0, kept);
    for (const { sequence, identity } of dropped) {
      this.#indexer.drop(tenant, identity);
      this.#dropDelivery.run(tenant, sequence);
    }
    const last = dropped.at(-1);
    if (last !== undefined) {
      this.#raiseFloor.run(last.sequence, tenant);
      this.#remember.run(tenant, last.sequence, fingerprintOf(last.identity, last.received));
    }
    if (this.#expiredSegments.step(tenant) || dropped.length === READ_AT_ONCE) return;
    this.#overfull.delete(tenant);
    this.#setOldest.run(rows[kept]?.received ?? null, tenant);
  }

  #oldestOf(tenant: number, { head, floor }: Extent): Oldest[] {
    return this.#oldest.all(tenant, floor, head, READ_AT_ONCE).map(
      ({ sequence, received, identity }): Oldest => ({
        sequence: Number(sequence),
        received: Number(received),
        identity: identity instanceof Uint8Array ? Buffer.from(identity) : Buffer.alloc(0),
      }),
    );
  }

  #extentOf(tenant: number): Extent {
    const row = this.#extent.get(tenant);
    return { head: Number(row?.head), floor: Number(row?.floor) };
  }
}

type Oldest = { readonly sequence: number; readonly received: number; readonly identity: Buffer };
