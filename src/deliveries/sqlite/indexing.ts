import type { DatabaseSync } from 'node:sqlite';
import { packPostings } from './postings.ts';
import { termsOf } from './terms.ts';
import { type Unindexed, UnindexedRows } from './unindexed.ts';

/**
 * So many entries that are still to be made are made together: about 4,700 deliveries of three addresses. More costs
 * memory and makes the tail longer that a filter looks through delivery by delivery; fewer makes more writes of it.
 */
const MERGED_TOGETHER = 32_768;
const LEAST_WRITES = 64;

/**
 * Keeps the indexes: of identities, and of what deliveries are filtered by. An entry of its own for each would touch a
 * page at random, and cost several times what storing the delivery does. So the newest deliveries are in no index but
 * in memory, from which a tenant's are merged into the indexes in their order: a page is written once for many, and the
 * deliveries of a segment that share a term share an entry. A few are written in each transaction, so that none waits.
 *
 * `tenant.indexed` says up to where all are merged. What a merge that was cut off has written is written over.
 */
export class Indexing {
  readonly #unindexed: UnindexedRows;
  readonly #identity;
  readonly #insertIdentity;
  readonly #insertPosting;
  readonly #insertSegment;
  readonly #raiseIndexed;
  /** Writes one entry each time it is asked for more. */
  #merge: Iterator<void> | null = null;
  #owed = 0;

  constructor(database: DatabaseSync) {
    this.#unindexed = new UnindexedRows(database);
    this.#identity = database.prepare('SELECT sequence FROM identity WHERE tenant = ? AND identity = ?');
    this.#insertIdentity = database.prepare('INSERT OR REPLACE INTO identity VALUES (?, ?, ?)');
    this.#insertPosting = database.prepare('INSERT OR REPLACE INTO posting VALUES (?, ?, ?, ?)');
    this.#insertSegment = database.prepare('INSERT INTO segment VALUES (?, ?, ?)');
    this.#raiseIndexed = database.prepare('UPDATE tenant SET indexed = ? WHERE id = ?');
  }

  /** The sequence of the tenant's delivery that has this identity. */
  find(tenant: number, identity: Buffer): number | null {
    const recent = this.#unindexed.find(tenant, identity);
    if (recent !== undefined) return recent;
    const row = this.#identity.get(tenant, identity);
    return row === undefined ? null : Number(row.sequence);
  }

  /** Each sequence is one above the tenant's last. */
  add(delivery: Unindexed): void {
    this.#owed += this.#unindexed.add(delivery);
  }

  /** Writes about as much as was added since the last step. Belongs into the transaction of what was added. */
  step(): void {
    if (this.#merge === null && this.#unindexed.entries >= MERGED_TOGETHER)
      this.#merge = this.#merging(this.#unindexed.mostOwing());
    this.#write(this.#owed + LEAST_WRITES);
    this.#owed = 0;
  }

  /** Writes a little of what the tenant's deliveries lack, however few they are. Belongs into a transaction. */
  catchUp(tenant: number): void {
    this.#merge ??= this.#merging(tenant);
    this.#write(LEAST_WRITES);
  }

  #write(entries: number): void {
    for (let written = 0; this.#merge !== null && written < entries; written += 1) {
      if (this.#merge.next().done) this.#merge = null;
    }
  }

  *#merging(tenant: number): Generator<void> {
    const segment = this.#unindexed.take(tenant);
    const [first, last] = [segment[0]?.sequence, segment.at(-1)?.sequence];
    if (first === undefined || last === undefined) return;
    for (const { identity, sequence } of segment.toSorted((a, b) => a.identity.compare(b.identity))) {
      this.#insertIdentity.run(tenant, identity, sequence);
      yield;
    }
    const postings = postingsOf(segment);
    for (const term of [...postings.keys()].sort()) {
      this.#insertPosting.run(tenant, first, term, packPostings(postings.get(term) ?? [], first));
      yield;
    }
    this.#insertSegment.run(tenant, first, last);
    this.#raiseIndexed.run(last, tenant);
    this.#unindexed.forget(segment);
  }
}

function postingsOf(segment: readonly Unindexed[]): Map<string, number[]> {
  const postings = new Map<string, number[]>();
  for (const delivery of segment) {
    for (const term of termsOf(delivery)) {
      const sequences = postings.get(term);
      if (sequences === undefined) postings.set(term, [delivery.sequence]);
      else sequences.push(delivery.sequence);
    }
  }
  return postings;
}
