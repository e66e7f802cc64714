import type { DatabaseSync } from 'node:sqlite';

/** Beyond either, the oldest deliveries of a tenant are dropped. */
export type Retention = { readonly maxAgeMs: number; readonly maxCount: number };

const BATCH = 256;

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

  /** Drops up to a batch, and says whether it was a full one. Belongs into a transaction. */
  trimBatch(tenant: number, { maxAgeMs, maxCount }: Retention, now: number): boolean {
    const newestTooMany = Number(this.#head.get(tenant)?.head) - maxCount;
    const rows = this.#oldest.all(tenant, BATCH);
    // The clock may have gone back: what follows a delivery that stays, stays.
    const kept = rows.findIndex(
      ({ sequence, received }) => Number(sequence) > newestTooMany && Number(received) >= now - maxAgeMs,
    );
    const dropped = kept === -1 ? rows : rows.slice(0, kept);
    for (const { sequence, addresses } of dropped) {
      for (const address of String(addresses).split(' '))
        this.#dropAddress.run(tenant, address, Number(sequence));
      this.#dropDelivery.run(tenant, Number(sequence));
    }
    const floor = dropped.at(-1)?.sequence;
    if (floor !== undefined) this.#raiseFloor.run(Number(floor), tenant);
    return dropped.length === BATCH;
  }
}
