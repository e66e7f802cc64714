import type { DatabaseSync } from 'node:sqlite';
import { type Indexed, termsOf } from '../log/log.ts';
import { type Row, readAddresses } from './rows.ts';

/**
 * A tenant's newest deliveries become a segment once there are this many. Until then a filter reads them one by one, which
 * takes as long as a search of a few hundred segments. A tenant with fewer deliveries has no segment at all.
 */
const SEGMENT_DELIVERIES = 2048;

/** A segment with this many postings ends early, since they are in memory while the segment is built. */
const SEGMENT_POSTINGS = 32_768;

/** A delivery with this many terms gets a segment at once, since a search of its addresses takes long. */
const MANY_TERMS = 256;

/** Rows are read in small portions, since a row may have megabytes of addresses. */
const ROWS_AT_ONCE = 32;

type UnsegmentedRange = { readonly head: number; readonly first: number };

/**
 * Builds the inverted index of filter terms. A segment is consecutive deliveries of one tenant; it has one posting list
 * for each term of its deliveries. Posting lists are inserted in the table's order, a few in each transaction.
 *
 * All of a tenant's deliveries up to `tenant.indexed` are in segments. A segment that was not finished is built again,
 * over the posting lists that it left.
 *
 * SQLite's own FTS5 stores deliveries in 0.73 times the CPU time while the log grows, but single ones in 1.5 times, and its
 * merges have no pauses. It has 0.8 times the size, and finds a page of 50 several times as fast. This index stays: its
 * searches pause and end at any segment.
 */
export class SegmentBuilder {
  readonly #range;
  readonly #rows;
  readonly #insertSegment;
  readonly #insertPosting;
  readonly #raiseIndexed;
  /** The tenants that have enough deliveries for a segment. */
  readonly #due: Set<number>;
  /** The segment that is being built. Each step reads a delivery or inserts a posting list. */
  #building: Iterator<void> | null = null;

  constructor(database: DatabaseSync) {
    this.#range = database.prepare('SELECT head, max(indexed, floor) + 1 AS first FROM tenant WHERE id = ?');
    this.#rows = database.prepare(
      `SELECT sequence, webhook, type, chain, addresses FROM delivery
       WHERE id >= (?1 << 40 | ?2) AND id <= (?1 << 40 | ?3) ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
    );
    this.#insertSegment = database.prepare('INSERT OR REPLACE INTO segment VALUES (?, ?, ?)');
    this.#insertPosting = database.prepare('INSERT OR REPLACE INTO posting VALUES (?, ?, ?, ?)');
    this.#raiseIndexed = database.prepare('UPDATE tenant SET indexed = ? WHERE id = ?');
    const due = database
      .prepare(`SELECT id FROM tenant WHERE head - max(indexed, floor) >= ${SEGMENT_DELIVERIES}`)
      .all();
    this.#due = new Set(due.map(({ id }) => Number(id)));
  }

  /** Must be called for each new delivery. `unsegmented` of its tenant are in no segment; it has at most `terms` terms. */
  added(tenant: number, unsegmented: number, terms: number): void {
    if (unsegmented >= SEGMENT_DELIVERIES || terms >= MANY_TERMS) this.#due.add(tenant);
  }

  /** Whether any tenant has enough deliveries for a segment. */
  get isDue(): boolean {
    return this.#building !== null || this.#due.size > 0;
  }

  /** Does at most `steps` steps of the segments that are due. Must run in a transaction. */
  write(steps: number): void {
    for (let done = 0; done < steps; done += 1) {
      this.#building ??= this.#next();
      if (this.#building === null) return;
      if (this.#building.next().done) this.#building = null;
    }
  }

  #next(): Iterator<void> | null {
    const [tenant] = this.#due;
    if (tenant === undefined) return null;
    this.#due.delete(tenant);
    return this.#build(tenant);
  }

  *#build(tenant: number): Generator<void> {
    const { first } = this.#rangeOf(tenant);
    const postings = new Map<string, number[]>();
    let [last, count] = [first - 1, 0];
    for (const row of this.#rowsFrom(tenant, first)) {
      last = Number(row.sequence);
      const terms = termsOf(indexedColumns(row));
      for (const term of terms) {
        const sequences = postings.get(term);
        if (sequences === undefined) postings.set(term, [last]);
        else sequences.push(last);
      }
      count += terms.size;
      if (count >= SEGMENT_POSTINGS) break;
      yield;
    }
    if (last < first) return;
    // Inserted first, so that retention drops the posting lists even if they are never finished. Searches stop at `indexed`.
    this.#insertSegment.run(tenant, first, last);
    for (const term of [...postings.keys()].sort()) {
      this.#insertPosting.run(tenant, first, term, packPostings(postings.get(term) ?? [], first));
      yield;
    }
    this.#raiseIndexed.run(last, tenant);
    if (this.#rangeOf(tenant).head - last >= SEGMENT_DELIVERIES) this.#due.add(tenant);
  }

  /** Reads the deliveries of one segment in portions, since other transactions write in between. */
  *#rowsFrom(tenant: number, first: number): Iterable<Row> {
    const last = Math.min(this.#rangeOf(tenant).head, first + SEGMENT_DELIVERIES - 1);
    for (let next = first; next <= last; ) {
      const rows = this.#rows.all(tenant, next, last);
      yield* rows;
      if (rows.length < ROWS_AT_ONCE) return;
      next = Number(rows.at(-1)?.sequence) + 1;
    }
  }

  #rangeOf(tenant: number): UnsegmentedRange {
    const row = this.#range.get(tenant);
    return { head: Number(row?.head), first: Number(row?.first) };
  }
}

/** The columns of a delivery that a filter can ask for. */
const indexedColumns = ({ webhook, type, chain, addresses }: Row): Indexed => ({
  webhookId: webhook === null ? null : String(webhook),
  type: type === null ? null : String(type),
  chainId: chain === null ? null : Number(chain),
  addresses: readAddresses(String(addresses)).addresses,
});

const ADDRESS_LENGTH = '0x '.length + 40;

/** Returns an upper bound of the number of terms of a delivery with these addresses. */
export const maxTermsOf = (addresses: string): number => 3 + Math.ceil(addresses.length / ADDRESS_LENGTH);

const POSTING_BYTES = 4;

/** Encodes the posting list of one term: the distance of each sequence from its segment's first, in 4 bytes each. */
const packPostings = (sequences: readonly number[], first: number): Uint8Array => {
  const distances = new Uint32Array(sequences.length);
  for (let at = 0; at < distances.length; at += 1) distances[at] = (sequences[at] ?? first) - first;
  return new Uint8Array(distances.buffer);
};

/** Decodes a posting list: the distances from the segment's first sequence, in ascending order. */
export const unpackPostings = (bytes: Uint8Array): Uint32Array =>
  // A Uint32Array must begin at a multiple of 4, and SQLite's bytes may begin anywhere.
  bytes.byteOffset % POSTING_BYTES === 0
    ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / POSTING_BYTES)
    : new Uint32Array(bytes.slice().buffer);
