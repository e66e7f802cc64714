import type { DatabaseSync } from 'node:sqlite';
import type { Steps } from '../../../lib/round-robin-scheduler.ts';
import { CursorExpiredError, LogDamagedError, LogOpenError, messageOf } from '../../log/errors.ts';
import type { DeliveryPage, DeliveryRange, StoredDelivery } from '../../log/log.ts';
import { Fingerprints } from '../fingerprint.ts';
import { ScanBudget } from '../index/scan-budget.ts';
import { type Found, isFiltering, Search } from '../index/search.ts';
import type { SequenceRange } from '../index/sequence-range.ts';
import { LogFile } from '../log-file.ts';
import { epochSeed, openForReading } from '../schema.ts';
import { Cursors } from './cursors.ts';
import { fingerprintIn, type Row, storedDelivery } from './row.ts';
import { Tenants } from './tenants.ts';
import { verify } from './verification.ts';

/** Reads a log over a connection of its own, while the writer writes. */
export class LogReader {
  readonly #database: DatabaseSync;
  readonly file: LogFile;
  readonly #cursors: Cursors;
  readonly #tenants: Tenants;
  readonly #fingerprints: Fingerprints;
  readonly #search: Search;
  readonly #row;
  readonly #rows;
  readonly #probe;

  /** Throws LogOpenError. */
  constructor(path: string) {
    this.#database = openForReading(path);
    try {
      this.file = new LogFile(path);
      this.#cursors = new Cursors(epochSeed(this.#database));
      this.#tenants = new Tenants(this.#database);
      this.#fingerprints = new Fingerprints(this.#database);
      this.#search = new Search(this.#database);
      this.#row = this.#database.prepare(`${ROW} WHERE id = (? << 40 | ?)`);
      this.#rows = this.#database.prepare(
        `${ROW} WHERE id BETWEEN (?1 << 40 | ?2) AND (?1 << 40 | ?3) ORDER BY id`,
      );
      this.#probe = this.#database.prepare('SELECT 1 FROM delivery ORDER BY id DESC LIMIT 1');
    } catch (error) {
      this.#database.close();
      throw new LogOpenError(path, messageOf(error), error);
    }
  }

  /** Throws when the log can't be read. */
  checkReadable(): void {
    this.file.check();
    this.#probe.get();
  }

  /** Null when the log does not hold it (any more). Throws InvalidCursorError. */
  get(tenant: string, cursor: string): StoredDelivery | null {
    this.file.check();
    const place = this.#cursors.find(tenant, cursor);
    const { id } = this.#tenants.extent(tenant);
    if (place === null || id === null) return null;
    const row = this.#row.get(id, place.sequence);
    if (row === undefined) return null;
    const isAnother = place.fingerprint !== null && place.fingerprint !== fingerprintIn(row);
    return isAnother ? null : storedDelivery(row, tenant, cursor);
  }

  /** Throws InvalidCursorError or CursorExpiredError. */
  *page(tenant: string, range: DeliveryRange): Steps<DeliveryPage> {
    this.file.check();
    const { take = 'oldest', limit } = range;
    const oldest = take === 'oldest';
    const { id, indexed, ...extent } = this.#tenants.extent(tenant);
    const fingerprintAt = (sequence: number) => this.#fingerprints.at(id, sequence);
    const cursorAt = (sequence: number) =>
      this.#cursors.cursor(tenant, { sequence, fingerprint: fingerprintAt(sequence) });
    const placeOf = (cursor: string) => this.#cursors.sequence(tenant, cursor, extent, fingerprintAt);
    const low = range.after === undefined ? extent.floor : placeOf(range.after);
    const high = range.before === undefined ? extent.head + 1 : placeOf(range.before);

    const scanBudget = new ScanBudget(range.maxScanned ?? Number.POSITIVE_INFINITY);
    // One more than is wanted, so as to know whether there is more.
    const span = { low, high, limit: limit + 1, take };
    const found = id === null ? NOTHING : yield* this.#find(id, indexed, range, span, scanBudget);
    const maxBytes = range.maxBytes ?? Number.POSITIVE_INFINITY;
    const wanted = found.sequences.slice(0, limit);
    const deliveries = yield* this.#load(tenant, id, wanted, maxBytes);
    // Trimming goes on while a page is read. A page after a cursor must hold all that follows the cursor.
    const left = this.#tenants.extent(tenant);
    if (range.after !== undefined && low < left.floor) throw new CursorExpiredError('trimmed');
    checkWhole(wanted, deliveries, left.floor, maxBytes);

    const hasLeftOut = found.sequences.length > deliveries.length;
    const furthest = deliveries.at(-1)?.cursor;
    const start = oldest ? Math.max(low, left.floor) : high;
    const end = oldest ? Math.max(start, found.cutAt ?? high - 1) : (found.cutAt ?? low);
    const head = cursorAt(extent.head);
    return {
      deliveries: oldest ? deliveries : deliveries.reverse(),
      hasMore: hasLeftOut || found.cutAt !== null,
      isCut: found.cutAt !== null,
      scanned: scanBudget.taken,
      scannedTo: hasLeftOut ? (furthest ?? cursorAt(start)) : end === extent.head ? head : cursorAt(end),
      head,
    };
  }

  /** See `verify`. */
  verify(): Steps<void> {
    return verify(this.#database);
  }

  close(): void {
    this.#database.close();
  }

  #find(
    id: number,
    indexed: number,
    { filter = {} }: DeliveryRange,
    span: SequenceRange,
    scanBudget: ScanBudget,
  ): Steps<Found> {
    return isFiltering(filter) ? this.#search.find(id, indexed, filter, span, scanBudget) : contiguous(span);
  }

  /** Stops after the body with which `maxBytes` is passed, and leaves out what was trimmed since it was found. */
  *#load(
    tenant: string,
    id: number | null,
    sequences: readonly number[],
    maxBytes: number,
  ): Steps<StoredDelivery[]> {
    const deliveries: StoredDelivery[] = [];
    let bytes = 0;
    for (let at = 0; at < sequences.length; at += LOADED_AT_ONCE) {
      for (const row of this.#rowsOf(id, sequences.slice(at, at + LOADED_AT_ONCE))) {
        const place = { sequence: Number(row.sequence), fingerprint: fingerprintIn(row) };
        const delivery = storedDelivery(row, tenant, this.#cursors.cursor(tenant, place));
        deliveries.push(delivery);
        bytes += delivery.body.byteLength;
        if (bytes >= maxBytes) return deliveries;
      }
      yield;
    }
    return deliveries;
  }

  /** Sequences without a gap are read by one statement. */
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

const NOTHING: Found = { sequences: [], cutAt: null };

/** A body may have five megabytes. */
const LOADED_AT_ONCE = 16;

/**
 * A delivery that was found may have been trimmed since, and the page may end early by `maxBytes`. Throws LogDamagedError
 * when any other one is missing.
 */
const checkWhole = (
  wanted: readonly number[],
  deliveries: readonly StoredDelivery[],
  floor: number,
  maxBytes: number,
): void => {
  if (deliveries.length === wanted.length) return;
  const bytes = deliveries.reduce((sum, { body }) => sum + body.byteLength, 0);
  const end = bytes >= maxBytes ? deliveries.at(-1)?.sequence : undefined;
  const there = new Set(deliveries.map(({ sequence }) => sequence));
  for (const sequence of wanted) {
    if (sequence > floor && !there.has(sequence))
      throw new LogDamagedError(`delivery ${sequence} is missing`);
    if (sequence === end) break;
  }
};

function* contiguous({ low, high, limit, take }: SequenceRange): Steps<Found> {
  const length = Math.max(0, Math.min(limit, high - low - 1));
  const sequences = Array.from({ length }, (_, index) =>
    take === 'oldest' ? low + 1 + index : high - 1 - index,
  );
  return { sequences, cutAt: null };
}
