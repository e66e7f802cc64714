import type { DatabaseSync } from 'node:sqlite';
import { keysOf } from './address-key.ts';

/** Beyond either, the oldest deliveries of a tenant are dropped. */
export type Retention = { readonly maxAgeMs: number; readonly maxCount: number };

/** Rows differ in what they cost to drop, by their addresses and by what is in memory: so a step is bounded by time. */
const STEP_MS = 2;
const READ_AT_ONCE = 16;

/** Drops the oldest deliveries, always from the front, so that what is kept has no hole. */
export class Trimming {
  readonly #tenants;
  readonly #head;
  readonly #oldest;
  readonly #dropDelivery;
  readonly #dropAddress;
  readonly #raiseFloor;

  constructor(database: DatabaseSync) {
    this.#tenants = database.prepare('SELECT id FROM tenant WHERE head > floor');
    this.#head = database.prepare('SELECT head FROM tenant WHERE id = ?');
    this.#oldest = database.prepare(
      'SELECT sequence, received, addresses FROM delivery WHERE tenant = ? ORDER BY sequence LIMIT ?',
    );
    this.#dropDelivery = database.prepare('DELETE FROM delivery WHERE tenant = ? AND sequence = ?');
    this.#dropAddress = database.prepare(
      'DELETE FROM address WHERE tenant = ? AND address = ? AND sequence = ?',
    );
    this.#raiseFloor = database.prepare('UPDATE tenant SET floor = ? WHERE id = ?');
  }

  tenants(): number[] {
    return this.#tenants.all().map((row) => Number(row.id));
  }

  /** Whether there is anything to drop. Needs no transaction, so that looking in vain costs no commit. */
  isDue(tenant: number, retention: Retention, now: number): boolean {
    return this.#expired(tenant, retention, now, 1).length > 0;
  }

  /** Drops for a few milliseconds, and says whether there may be more to drop. Belongs into a transaction. */
  step(tenant: number, retention: Retention, now: number): boolean {
    const end = performance.now() + STEP_MS;
    do {
      const dropped = this.#expired(tenant, retention, now, READ_AT_ONCE);
      for (const { sequence, addresses } of dropped) {
        for (const address of keysOf(addresses)) this.#dropAddress.run(tenant, address, sequence);
        this.#dropDelivery.run(tenant, sequence);
      }
      const floor = dropped.at(-1)?.sequence;
      if (floor !== undefined) this.#raiseFloor.run(floor, tenant);
      if (dropped.length < READ_AT_ONCE) return false;
    } while (performance.now() < end);
    return true;
  }

  /** The clock may have gone back: what follows a delivery that stays, stays. */
  #expired(tenant: number, { maxAgeMs, maxCount }: Retention, now: number, limit: number): Oldest[] {
    const newestTooMany = Number(this.#head.get(tenant)?.head) - maxCount;
    const rows = this.#oldest.all(tenant, limit);
    const kept = rows.findIndex(
      ({ sequence, received }) => Number(sequence) > newestTooMany && Number(received) >= now - maxAgeMs,
    );
    return (kept === -1 ? rows : rows.slice(0, kept)).map(({ sequence, addresses }) => ({
      sequence: Number(sequence),
      addresses: String(addresses),
    }));
  }
}

type Oldest = { readonly sequence: number; readonly addresses: string };
