import type { DatabaseSync } from 'node:sqlite';
import type { Row } from '../read/row.ts';
import { indexedOf, termsOf } from './index-terms.ts';
import { packPostings } from './postings.ts';

/**
 * A tenant's newest deliveries become a segment once there are so many. Until then a filter looks at them one by one, which
 * takes as long as searching a few hundred segments. A tenant with fewer has no segment at all.
 */
const SEGMENT_DELIVERIES = 2048;

/** A segment with so many entries ends early, since they are in memory while it is made. */
const SEGMENT_ENTRIES = 32_768;

/** A delivery with so many terms gets a segment at once, since looking through its addresses takes long. */
const MANY_TERMS = 256;

/** A row may have megabytes of addresses. */
const READ_AT_ONCE = 32;

type Extent = { readonly head: number; readonly first: number };

/**
 * Makes the index of filter terms. A segment is consecutive deliveries of one tenant; those that share a term share an
 * entry. Entries are written in the table's order, a few in each transaction.
 *
 * All of a tenant's deliveries up to `tenant.indexed` are in segments. Entries of an unfinished segment are written over.
 */
export class SegmentBuilder {
  readonly #extent;
  readonly #rows;
  readonly #insertSegment;
  readonly #insertPosting;
  readonly #raiseIndexed;
  /** The tenants that have enough for a segment. */
  readonly #due: Set<number>;
  /** Reads a delivery or writes an entry each time it is asked for more. */
  #making: Iterator<void> | null = null;

  constructor(database: DatabaseSync) {
    this.#extent = database.prepare('SELECT head, max(indexed, floor) + 1 AS first FROM tenant WHERE id = ?');
    this.#rows = database.prepare(
      `SELECT sequence, webhook, type, chain, addresses FROM delivery
       WHERE id >= (?1 << 40 | ?2) AND id <= (?1 << 40 | ?3) ORDER BY id LIMIT ${READ_AT_ONCE}`,
    );
    this.#insertSegment = database.prepare('INSERT OR REPLACE INTO segment VALUES (?, ?, ?)');
    this.#insertPosting = database.prepare('INSERT OR REPLACE INTO posting VALUES (?, ?, ?, ?)');
    this.#raiseIndexed = database.prepare('UPDATE tenant SET indexed = ? WHERE id = ?');
    const due = database
      .prepare(`SELECT id FROM tenant WHERE head - max(indexed, floor) >= ${SEGMENT_DELIVERIES}`)
      .all();
    this.#due = new Set(due.map(({ id }) => Number(id)));
  }

  /** To be called for each new delivery: `deliveries` of its tenant are in no segment, and it has `terms` terms. */
  added(tenant: number, deliveries: number, terms: number): void {
    if (deliveries >= SEGMENT_DELIVERIES || terms >= MANY_TERMS) this.#due.add(tenant);
  }

  /** Whether any tenant has enough for a segment. */
  get isDue(): boolean {
    return this.#making !== null || this.#due.size > 0;
  }

  /** Reads or writes so many, if any tenant has enough for a segment. Belongs into a transaction. */
  write(count: number): void {
    for (let written = 0; written < count; written += 1) {
      this.#making ??= this.#next();
      if (this.#making === null) return;
      if (this.#making.next().done) this.#making = null;
    }
  }

  #next(): Iterator<void> | null {
    const [tenant] = this.#due;
    if (tenant === undefined) return null;
    this.#due.delete(tenant);
    return this.#make(tenant);
  }

  *#make(tenant: number): Generator<void> {
    const { first } = this.#extentOf(tenant);
    const postings = new Map<string, number[]>();
    let [last, entries] = [first - 1, 0];
    for (const row of this.#rowsFrom(tenant, first)) {
      last = Number(row.sequence);
      const terms = termsOf(indexedOf(row));
      for (const term of terms) {
        const sequences = postings.get(term);
        if (sequences === undefined) postings.set(term, [last]);
        else sequences.push(last);
      }
      entries += terms.size;
      if (entries >= SEGMENT_ENTRIES) break;
      yield;
    }
    if (last < first) return;
    // Written first, so that trimming drops its entries also when it is never finished. Searches stop at `indexed`.
    this.#insertSegment.run(tenant, first, last);
    for (const term of [...postings.keys()].sort()) {
      this.#insertPosting.run(tenant, first, term, packPostings(postings.get(term) ?? [], first));
      yield;
    }
    this.#raiseIndexed.run(last, tenant);
    if (this.#extentOf(tenant).head - last >= SEGMENT_DELIVERIES) this.#due.add(tenant);
  }

  /** The deliveries of one segment, read a few at a time, since others write in between. */
  *#rowsFrom(tenant: number, first: number): Iterable<Row> {
    const last = Math.min(this.#extentOf(tenant).head, first + SEGMENT_DELIVERIES - 1);
    for (let next = first; next <= last; ) {
      const rows = this.#rows.all(tenant, next, last);
      yield* rows;
      if (rows.length < READ_AT_ONCE) return;
      next = Number(rows.at(-1)?.sequence) + 1;
    }
  }

  #extentOf(tenant: number): Extent {
    const row = this.#extent.get(tenant);
    return { head: Number(row?.head), first: Number(row?.first) };
  }
}
