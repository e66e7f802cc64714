import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CursorExpiredError } from '../errors.ts';
import type { DeliveryFilter, DeliveryPage, DeliveryRange, StoredDelivery } from '../log.ts';
import { Cursors } from './cursors.ts';
import { epochSeed, openForReading } from './database.ts';
import { Fingerprints } from './fingerprint.ts';
import { fingerprintIn, type Row, storedDelivery } from './row.ts';
import { isFiltering, Search } from './search.ts';
import type { Span } from './span.ts';
import { Tenants } from './tenants.ts';

const FIRST_WINDOW = 64;
const MAX_WINDOW = 65_536;

/** Reads a log over a connection of its own, while the writer writes. */
export class Reading {
  readonly #database: DatabaseSync;
  readonly #cursors: Cursors;
  readonly #tenants: Tenants;
  readonly #fingerprints: Fingerprints;
  readonly #search: Search;
  readonly #row;
  readonly #rows;

  /** Throws LogOpenError. */
  constructor(path: string) {
    this.#database = openForReading(path);
    this.#cursors = new Cursors(epochSeed(this.#database));
    this.#tenants = new Tenants(this.#database);
    this.#fingerprints = new Fingerprints(this.#database);
    this.#search = new Search(this.#database);
    this.#row = this.#database.prepare(`${ROW} WHERE id = (? << 40 | ?)`);
    this.#rows = this.#database.prepare(
      `${ROW} WHERE id BETWEEN (?1 << 40 | ?2) AND (?1 << 40 | ?3) ORDER BY id`,
    );
  }

  /** Null when the log does not hold it (any more). Throws InvalidCursorError. */
  get(tenant: string, cursor: string): StoredDelivery | null {
    const place = this.#cursors.find(tenant, cursor);
    const { id } = this.#tenants.extent(tenant);
    if (place === null || id === null) return null;
    const row = this.#row.get(id, place.sequence);
    if (row === undefined) return null;
    const isAnother = place.fingerprint !== null && place.fingerprint !== fingerprintIn(row);
    return isAnother ? null : storedDelivery(row, tenant, cursor);
  }

  /** Rejects with InvalidCursorError or CursorExpiredError. */
  async page(tenant: string, range: DeliveryRange): Promise<DeliveryPage> {
    const { take = 'oldest', filter = {}, limit } = range;
    const oldest = take === 'oldest';
    const { id, indexed, ...extent } = this.#tenants.extent(tenant);
    const fingerprintAt = (sequence: number) => this.#fingerprints.at(id, sequence);
    const cursorAt = (sequence: number) =>
      this.#cursors.cursor(tenant, { sequence, fingerprint: fingerprintAt(sequence) });
    const placeOf = (cursor: string) => this.#cursors.sequence(tenant, cursor, extent, fingerprintAt);
    const low = range.after === undefined ? extent.floor : placeOf(range.after);
    const high = range.before === undefined ? extent.head + 1 : placeOf(range.before);

    // One more than is wanted, so as to know whether there is more.
    const found = await this.#find(id, indexed, filter, { low, high, limit: limit + 1, take });
    const maxBytes = range.maxBytes ?? Number.POSITIVE_INFINITY;
    const deliveries = this.#load(tenant, id, found.slice(0, limit), maxBytes);
    // Trimming goes on while a page is read. Who goes on from a cursor must get all that follows it.
    const left = this.#tenants.extent(tenant);
    if (range.after !== undefined && low < left.floor) throw new CursorExpiredError('trimmed');

    const hasMore = found.length > deliveries.length;
    const furthest = deliveries.at(-1)?.cursor;
    const start = oldest ? Math.max(low, left.floor) : high;
    const end = oldest ? Math.max(start, high - 1) : low;
    const head = cursorAt(extent.head);
    return {
      deliveries: oldest ? deliveries : deliveries.reverse(),
      hasMore,
      reached: hasMore ? (furthest ?? cursorAt(start)) : end === extent.head ? head : cursorAt(end),
      head,
    };
  }

  close(): void {
    this.#database.close();
  }

  /** Windows grow while they find too little: a frequent match costs a short look, a rare one few looks. */
  async #find(id: number | null, indexed: number, filter: DeliveryFilter, span: Span): Promise<number[]> {
    if (id === null) return [];
    if (!isFiltering(filter)) return contiguous(span);
    const found: number[] = [];
    let { low, high } = span;
    for (
      let window = Math.max(FIRST_WINDOW, span.limit);
      high - low > 1;
      window = Math.min(window * 4, MAX_WINDOW)
    ) {
      const part =
        span.take === 'oldest'
          ? { low, high: Math.min(high, low + window + 1) }
          : { low: Math.max(low, high - window - 1), high };
      const limit = span.limit - found.length;
      found.push(...this.#search.find(id, indexed, filter, { ...part, take: span.take, limit }));
      if (found.length === span.limit) break;
      if (span.take === 'oldest') low = part.high - 1;
      else high = part.low + 1;
      if (window > FIRST_WINDOW) await nextTurn();
    }
    return found;
  }

  /** Stops after the body with which `maxBytes` is passed, and leaves out what was trimmed since it was found. */
  #load(tenant: string, id: number | null, sequences: readonly number[], maxBytes: number): StoredDelivery[] {
    const deliveries: StoredDelivery[] = [];
    let bytes = 0;
    for (const row of this.#rowsOf(id, sequences)) {
      const place = { sequence: Number(row.sequence), fingerprint: fingerprintIn(row) };
      const delivery = storedDelivery(row, tenant, this.#cursors.cursor(tenant, place));
      deliveries.push(delivery);
      bytes += delivery.body.byteLength;
      if (bytes >= maxBytes) break;
    }
    return deliveries;
  }

  /** Where nothing lies between them, one statement reads them all. */
  *#rowsOf(id: number | null, sequences: readonly number[]): Iterable<Row> {
    const [first, last] = [sequences[0], sequences.at(-1)];
    if (id === null || first === undefined || last === undefined) return;
    if (last - first === sequences.length - 1) return yield* this.#rows.iterate(id, first, last);
    for (const sequence of sequences) {
      const row = this.#row.get(id, sequence);
      if (row !== undefined) yield row;
    }
  }
}

const ROW = `SELECT sequence, webhook, type, chain, received, dispatched, attempt, identity, addresses, body FROM delivery`;

function contiguous({ low, high, limit, take }: Span): number[] {
  const length = Math.max(0, Math.min(limit, high - low - 1));
  return Array.from({ length }, (_, index) => (take === 'oldest' ? low + 1 + index : high - 1 - index));
}
