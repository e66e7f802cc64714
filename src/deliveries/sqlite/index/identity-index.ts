import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../transaction.ts';

/** A delivery whose identity is in memory. */
type Entry = {
  readonly tenant: number;
  readonly sequence: number;
  readonly identity: Buffer;
  /** The first bytes of its identity, which are quick to compare. */
  readonly order: number;
  isDropped: boolean;
};

/**
 * How many identities are merged into the table together, of all tenants. More take more memory, about 300 bytes each;
 * fewer share fewer of the table's pages.
 */
const MERGED_TOGETHER = 8192;

/**
 * The index of all tenants' identities. Inserting each with its delivery would touch a random page. So the newest are in
 * memory, and are merged into the table in its order, a few in each transaction. About twice MERGED_TOGETHER are in memory
 * at most, however many tenants there are.
 *
 * All of a tenant's identities up to `tenant.identified` are in the table.
 */
export class IdentityIndex {
  readonly #database: DatabaseSync;
  readonly #find;
  readonly #insert;
  readonly #drop;
  readonly #raiseIdentified;
  /** Those that wait for the next merge. */
  #added: Entry[] = [];
  /** All in memory that were not dropped, by `keyOf`. */
  readonly #byHashPrefix = new Map<number, Entry[]>();
  /** Writes one entry each time it is asked for more. */
  #merge: Iterator<void> | null = null;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#find = database.prepare('SELECT sequence FROM identity WHERE tenant = ? AND identity = ?');
    this.#insert = database.prepare('INSERT OR REPLACE INTO identity VALUES (?, ?, ?)');
    this.#drop = database.prepare('DELETE FROM identity WHERE tenant = ? AND identity = ?');
    this.#raiseIdentified = database.prepare('UPDATE tenant SET identified = ? WHERE id = ?');
    this.#load();
  }

  /** The sequence of the tenant's delivery that has this identity. */
  find(tenant: number, identity: Buffer): number | null {
    const alike = this.#byHashPrefix.get(keyOf(tenant, identity));
    const recent = alike?.find((one) => one.tenant === tenant && one.identity.equals(identity));
    if (recent !== undefined) return recent.sequence;
    const row = this.#find.get(tenant, identity);
    return row === undefined ? null : Number(row.sequence);
  }

  /** Each sequence is above the tenant's last. */
  add(tenant: number, sequence: number, identity: Buffer): void {
    const order = identity.readUIntBE(0, 6);
    const entry = { tenant, sequence, identity, order, isDropped: false };
    this.#added.push(entry);
    const key = keyOf(tenant, identity);
    const alike = this.#byHashPrefix.get(key);
    if (alike === undefined) this.#byHashPrefix.set(key, [entry]);
    else alike.push(entry);
  }

  /** From memory and from the table. Belongs into a transaction. */
  drop(tenant: number, identity: Buffer): void {
    const alike = this.#byHashPrefix.get(keyOf(tenant, identity));
    const recent = alike?.find((one) => one.tenant === tenant && one.identity.equals(identity));
    if (recent !== undefined) {
      recent.isDropped = true;
      this.#forget(recent);
    }
    this.#drop.run(tenant, identity);
  }

  /** Merges at most `count`, once MERGED_TOGETHER wait. Belongs into a transaction. */
  write(count: number): void {
    if (this.#merge === null && this.#added.length >= MERGED_TOGETHER) this.#merge = this.#merging();
    for (let written = 0; this.#merge !== null && written < count; written += 1) {
      if (this.#merge.next().done) this.#merge = null;
    }
  }

  *#merging(): Generator<void> {
    const entries = this.#added.sort((a, b) => a.tenant - b.tenant || a.order - b.order);
    this.#added = [];
    let highest = 0;
    for (const [index, entry] of entries.entries()) {
      const { tenant, identity, sequence } = entry;
      if (!entry.isDropped) {
        this.#insert.run(tenant, identity, sequence);
        this.#forget(entry);
      }
      highest = Math.max(highest, sequence);
      if (entries[index + 1]?.tenant !== tenant) {
        this.#raiseIdentified.run(highest, tenant);
        highest = 0;
      }
      yield;
    }
  }

  #forget(entry: Entry): void {
    const key = keyOf(entry.tenant, entry.identity);
    const others = this.#byHashPrefix.get(key)?.filter((one) => one !== entry) ?? [];
    if (others.length === 0) this.#byHashPrefix.delete(key);
    else this.#byHashPrefix.set(key, others);
  }

  /** Reads what the table lacks. Where that is more than memory is to hold, as after an upgrade, the table gets it at once. */
  #load(): void {
    const rows = this.#database
      .prepare(`SELECT tenant.id AS tenant, sequence, identity ${LACKING}
         ORDER BY tenant.id, delivery.id LIMIT ${2 * MERGED_TOGETHER}`)
      .all();
    if (rows.length < 2 * MERGED_TOGETHER) {
      for (const { tenant, sequence, identity } of rows)
        if (identity instanceof Uint8Array) this.add(Number(tenant), Number(sequence), Buffer.from(identity));
    } else
      inTransaction(this.#database, () =>
        this.#database.exec(
          `INSERT OR REPLACE INTO identity SELECT tenant.id, identity, sequence ${LACKING}
             ORDER BY tenant.id, identity;
           UPDATE tenant SET identified = head WHERE identified < head`,
        ),
      );
  }
}

const LACKING = `
  FROM tenant CROSS JOIN delivery
  WHERE head > identified AND delivery.id > (tenant.id << 40 | identified) AND delivery.id <= (tenant.id << 40 | head)`;

/**
 * A hash that few identities share, also when many tenants get the same body. A text as the key would cost more, since a
 * map interns each text that it is asked for.
 */
const keyOf = (tenant: number, identity: Buffer): number =>
  identity.readInt32LE() ^ Math.imul(tenant, 0x9e3779b1);
