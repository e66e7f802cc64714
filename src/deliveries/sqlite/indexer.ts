import type { DatabaseSync } from 'node:sqlite';
import { IDENTITY_BYTES } from '../log/cursor.ts';
import { numberOrNull } from './rows.ts';
import { SegmentBuilder } from './segment-builder.ts';

/** What a delivery's repeat is found by. */
export type Identified = {
  readonly tenant: number;
  readonly identity: Buffer;
  readonly chainId: number | null;
};

/** A delivery that was just inserted. */
export type Added = Identified & {
  readonly sequence: number;
  /** How many of the tenant's deliveries are in no segment. */
  readonly unsegmented: number;
  /** An upper bound of the number of its terms. */
  readonly terms: number;
};

const MIN_WRITES = 64;
/** A delivery may have tens of thousands of terms: one transaction writes no more than this. */
const MAX_WRITES = 8192;
const CATCH_UP_WRITES = 1024;

/**
 * Keeps both indexes, of identities and of filter terms, in step with the deliveries. Each transaction writes a few
 * entries of both, in the order of their tables. The work does not depend on the number of tenants.
 */
export class Indexer {
  readonly #identities: IdentityIndex;
  readonly #segmentBuilder: SegmentBuilder;
  #owedIdentities = 0;
  #owedTerms = 0;

  constructor(database: DatabaseSync) {
    this.#identities = new IdentityIndex(database);
    this.#segmentBuilder = new SegmentBuilder(database);
  }

  /** Returns the sequence of the tenant's delivery that has this identity and chain. */
  find(wanted: Identified): number | null {
    return this.#identities.find(wanted);
  }

  /** Each sequence is one above the tenant's last. */
  add(added: Added): void {
    const { tenant, unsegmented, terms } = added;
    this.#identities.add(added);
    this.#segmentBuilder.added(tenant, unsegmented, terms);
    this.#owedIdentities += 1;
    // One step more than there are terms, since the builder reads the delivery.
    this.#owedTerms += terms + 1;
  }

  /** Removes an identity. Must run in a transaction. */
  drop(dropped: Identified): void {
    this.#identities.drop(dropped);
  }

  /** Writes about as many entries as were added since the last step. Must run in the transaction that added them. */
  step(): void {
    this.#identities.write(this.#owedIdentities + MIN_WRITES);
    this.#owedIdentities = 0;
    const due = Math.min(this.#owedTerms, MAX_WRITES);
    this.#segmentBuilder.write(due + MIN_WRITES);
    this.#owedTerms -= due;
  }

  /** Whether a segment is due. If no more deliveries arrive, only `catchUp` builds it. */
  get isBehind(): boolean {
    return this.#segmentBuilder.isDue;
  }

  /** Builds a part of the segments that are due. Must run in a transaction. */
  catchUp(): void {
    this.#segmentBuilder.write(CATCH_UP_WRITES);
  }
}

/** A delivery whose identity is in memory. */
type IdentityEntry = Identified & {
  readonly sequence: number;
  /** The first 6 bytes of the identity, which are quick to compare. */
  readonly order: number;
  isDropped: boolean;
};

/**
 * How many identities one merge inserts into the table, of all tenants together. A bigger merge takes more memory, about
 * 300 bytes an identity; in a smaller one, fewer identities share a page of the table.
 */
const MERGE_ENTRIES = 8192;

/** The deliveries whose identities are not in the table. */
const MISSING = `
  SELECT tenant.id AS tenant, sequence, identity, chain FROM tenant CROSS JOIN delivery
  WHERE head > identified AND delivery.id > (tenant.id << 40 | identified) AND delivery.id <= (tenant.id << 40 | head)
  ORDER BY tenant.id, delivery.id`;

/**
 * The index of all tenants' identities, as a log-structured merge: identities are random, so an insert with each delivery
 * would write a random page. The newest are in memory (the memtable), and are merged into the table in its order, a few in
 * each transaction. At most about twice MERGE_ENTRIES are in memory, however many tenants there are.
 *
 * All of a tenant's identities up to `tenant.identified` are in the table.
 */
class IdentityIndex {
  readonly #find;
  readonly #insert;
  readonly #drop;
  readonly #raiseIdentified;
  /** The identities that wait for the next merge. */
  #added: IdentityEntry[] = [];
  /** All identities in memory that were not dropped, by `hashKey`. */
  readonly #memtable = new Map<number, IdentityEntry[]>();
  /** The merge in progress. Each step inserts one identity. */
  #merge: Iterator<void> | null = null;

  constructor(database: DatabaseSync) {
    const one = 'tenant = ? AND identity = ? AND chain = ?';
    this.#find = database.prepare(`SELECT sequence FROM identity WHERE ${one}`);
    this.#insert = database.prepare('INSERT OR REPLACE INTO identity VALUES (?, ?, ?, ?)');
    this.#drop = database.prepare(`DELETE FROM identity WHERE ${one}`);
    this.#raiseIdentified = database.prepare('UPDATE tenant SET identified = ? WHERE id = ?');
    this.#load(database);
  }

  /** Returns the sequence of the tenant's delivery that has this identity and chain. */
  find(wanted: Identified): number | null {
    const recent = this.#inMemory(wanted);
    if (recent !== undefined) return recent.sequence;
    const row = this.#find.get(...keyOf(wanted));
    return row === undefined ? null : Number(row.sequence);
  }

  /** Each sequence is above the tenant's last. */
  add({ tenant, sequence, identity, chainId }: Identified & { readonly sequence: number }): void {
    const order = identity.readUIntBE(0, 6);
    const entry = { tenant, sequence, identity, chainId, order, isDropped: false };
    this.#added.push(entry);
    const key = hashKey(tenant, identity);
    const sameKey = this.#memtable.get(key);
    if (sameKey === undefined) this.#memtable.set(key, [entry]);
    else sameKey.push(entry);
  }

  /** Removes an identity from memory and from the table. One that is malformed is in neither. Must run in a transaction. */
  drop(dropped: Identified): void {
    if (dropped.identity.length !== IDENTITY_BYTES) return;
    const recent = this.#inMemory(dropped);
    if (recent !== undefined) {
      recent.isDropped = true;
      this.#remove(recent);
    }
    this.#drop.run(...keyOf(dropped));
  }

  /** Merges at most `count` identities, once MERGE_ENTRIES wait. Must run in a transaction. */
  write(count: number): void {
    if (this.#merge === null && this.#added.length >= MERGE_ENTRIES) this.#merge = this.#merging();
    for (let written = 0; this.#merge !== null && written < count; written += 1) {
      if (this.#merge.next().done) this.#merge = null;
    }
  }

  *#merging(): Generator<void> {
    const byTenant = Map.groupBy(this.#added, ({ tenant }) => tenant);
    this.#added = [];
    for (const tenant of Float64Array.from(byTenant.keys()).sort()) {
      const entries = byTenant.get(tenant) ?? [];
      for (const entry of inOrder(entries)) {
        if (!entry.isDropped) {
          this.#insert.run(...keyOf(entry), entry.sequence);
          this.#remove(entry);
        }
        yield;
      }
      this.#raiseIdentified.run(entries.at(-1)?.sequence ?? 0, tenant);
    }
  }

  #inMemory({ tenant, identity, chainId }: Identified): IdentityEntry | undefined {
    const sameKey = this.#memtable.get(hashKey(tenant, identity));
    return sameKey?.find(
      (entry) => entry.tenant === tenant && entry.chainId === chainId && entry.identity.equals(identity),
    );
  }

  #remove(entry: IdentityEntry): void {
    const key = hashKey(entry.tenant, entry.identity);
    const sameKey = this.#memtable.get(key);
    if (sameKey === undefined || sameKey.length === 1) this.#memtable.delete(key);
    else sameKey.splice(sameKey.indexOf(entry), 1);
  }

  /**
   * Reads the identities that the table lacks: about 3 ms for each 1,000. It runs whenever the file is opened, also after
   * a failed commit, since only the file says what was committed.
   */
  #load(database: DatabaseSync): void {
    for (const { tenant, sequence, identity, chain } of database.prepare(MISSING).iterate())
      if (identity instanceof Uint8Array && identity.length === IDENTITY_BYTES)
        this.add({
          tenant: Number(tenant),
          sequence: Number(sequence),
          identity: Buffer.from(identity),
          chainId: numberOrNull(chain),
        });
  }
}

/** The key of the table. */
const keyOf = ({ tenant, identity, chainId }: Identified): [number, Buffer, number] => [
  tenant,
  identity,
  chainId ?? UNKNOWN_CHAIN,
];

const UNKNOWN_CHAIN = -1;

/**
 * Yields a tenant's entries in the order of their identities. It sorts those with the same first byte when their turn comes:
 * all at once would delay a commit by several milliseconds.
 */
function* inOrder(entries: readonly IdentityEntry[]): Generator<IdentityEntry> {
  const buckets = Map.groupBy(entries, ({ identity }) => identity[0] ?? 0);
  for (const byte of Float64Array.from(buckets.keys()).sort())
    yield* (buckets.get(byte) ?? []).sort((a, b) => a.order - b.order);
}

/**
 * Returns a hash that few identities share, even if many tenants get the same body. A string key would cost more, since a
 * Map interns each string that it looks up.
 */
const hashKey = (tenant: number, identity: Buffer): number =>
  identity.readInt32LE() ^ Math.imul(tenant, 0x9e3779b1);
