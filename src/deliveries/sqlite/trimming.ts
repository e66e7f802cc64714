import type { DatabaseSync } from 'node:sqlite';
import { DeadSegments } from './dead-segments.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Indexing } from './indexing.ts';

/** Beyond either, the oldest deliveries of a tenant are dropped. */
export type Retention = { readonly maxAgeMs: number; readonly maxCount: number };

/** Rows differ in what they cost to drop, by their size and by what is in memory: so a step is bounded by time. */
const STEP_MS = 2;
const READ_AT_ONCE = 16;

/** Drops the oldest deliveries, always from the front, so that what is kept has no hole. */
export class Trimming {
  readonly #indexing: Indexing;
  readonly #deadSegments: DeadSegments;
  readonly #tenants;
  readonly #extent;
  readonly #oldest;
  readonly #dropDelivery;
  readonly #dropIdentity;
  readonly #raiseFloor;
  readonly #remember;

  constructor(database: DatabaseSync, indexing: Indexing) {
    this.#indexing = indexing;
    this.#deadSegments = new DeadSegments(database);
    this.#tenants = database.prepare('SELECT id FROM tenant WHERE head > floor');
    this.#extent = database.prepare('SELECT head, floor, indexed FROM tenant WHERE id = ?');
    this.#oldest = database.prepare(
      `SELECT sequence, received, identity FROM delivery
       WHERE id > (?1 << 40 | ?2) AND id <= (?1 << 40 | ?3) ORDER BY id LIMIT ?4`,
    );
    this.#dropDelivery = database.prepare('DELETE FROM delivery WHERE id = (? << 40 | ?)');
    this.#dropIdentity = database.prepare('DELETE FROM identity WHERE tenant = ? AND identity = ?');
    this.#raiseFloor = database.prepare('UPDATE tenant SET floor = ? WHERE id = ?');
    this.#remember = database.prepare('INSERT OR REPLACE INTO trimmed VALUES (?, ?, ?)');
  }

  tenants(): number[] {
    return this.#tenants.all().map((row) => Number(row.id));
  }

  /** Whether there is anything to drop. Needs no transaction, so that looking in vain costs no commit. */
  isDue(tenant: number, retention: Retention, now: number): boolean {
    const extent = this.#extentOf(tenant);
    return this.#expired(tenant, extent, retention, now, 1).length > 0;
  }

  /** Drops for a few milliseconds, and says whether there may be more to drop. Belongs into a transaction. */
  step(tenant: number, retention: Retention, now: number): boolean {
    const end = performance.now() + STEP_MS;
    do {
      const extent = this.#extentOf(tenant);
      const dropped = this.#expired(tenant, extent, retention, now, READ_AT_ONCE);
      const floor = dropped.at(-1)?.sequence ?? extent.floor;
      // What is not in the indexes can't be taken out of them: the indexes first.
      if (floor > extent.indexed) this.#indexing.catchUp(tenant);
      else if (!this.#drop(tenant, dropped, floor)) return false;
    } while (performance.now() < end);
    return true;
  }

  #drop(tenant: number, dropped: readonly Oldest[], floor: number): boolean {
    for (const { sequence, identity } of dropped) {
      this.#dropIdentity.run(tenant, identity);
      this.#dropDelivery.run(tenant, sequence);
    }
    const last = dropped.at(-1);
    if (last !== undefined) {
      this.#raiseFloor.run(floor, tenant);
      this.#remember.run(tenant, floor, fingerprintOf(last.identity, last.received));
    }
    const hasMore = this.#deadSegments.step(tenant);
    return hasMore || dropped.length === READ_AT_ONCE;
  }

  /** The clock may have gone back: what follows a delivery that stays, stays. */
  #expired(
    tenant: number,
    { head, floor }: Extent,
    { maxAgeMs, maxCount }: Retention,
    now: number,
    limit: number,
  ): Oldest[] {
    const rows = this.#oldest.all(tenant, floor, head, limit).map((row): Oldest => {
      const { sequence, received, identity } = row;
      return {
        sequence: Number(sequence),
        received: Number(received),
        identity: identity instanceof Uint8Array ? identity : new Uint8Array(),
      };
    });
    const kept = rows.findIndex(
      ({ sequence, received }) => sequence > head - maxCount && received >= now - maxAgeMs,
    );
    return kept === -1 ? rows : rows.slice(0, kept);
  }

  #extentOf(tenant: number): Extent {
    const row = this.#extent.get(tenant);
    return { head: Number(row?.head), floor: Number(row?.floor), indexed: Number(row?.indexed) };
  }
}

type Extent = { readonly head: number; readonly floor: number; readonly indexed: number };

type Oldest = { readonly sequence: number; readonly received: number; readonly identity: Uint8Array };
