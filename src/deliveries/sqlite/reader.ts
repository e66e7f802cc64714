import type { DatabaseSync } from 'node:sqlite';
import type { Steps } from '../../lib/fair-slices.ts';
import { messageOf } from '../../lib/values.ts';
import { Cursors } from '../log/cursor.ts';
import { CursorExpiredError, LogOpenError } from '../log/errors.ts';
import { type DeliveryPage, type DeliveryRange, isFiltering, type StoredDelivery } from '../log/log.ts';
import { epochSeed, openForReading } from './database.ts';
import { type Found, ScanBudget, Search, type SequenceRange, TailSearch } from './index/search.ts';
import { SegmentSearch } from './index/segment-search.ts';
import { LogFile, verify } from './log-file.ts';
import { checkComplete, Fingerprints, fingerprintIn, Rows, storedDelivery } from './rows.ts';

const NOTHING: Found = { sequences: [], cutAt: null };

/** Reads a log over a connection of its own, while the writer writes. */
export class LogReader {
  readonly file: LogFile;
  readonly #database: DatabaseSync;
  readonly #cursors: Cursors;
  readonly #rows: Rows;
  readonly #fingerprints: Fingerprints;
  readonly #search: Search;
  readonly #probe;

  /** Throws LogOpenError. */
  constructor(path: string) {
    this.#database = openForReading(path);
    try {
      this.file = new LogFile(path);
      this.#cursors = new Cursors(epochSeed(this.#database));
      this.#rows = new Rows(this.#database);
      this.#fingerprints = new Fingerprints(this.#database);
      this.#search = new Search(new SegmentSearch(this.#database), new TailSearch(this.#database));
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

  /** Returns null when the log does not hold the delivery, or no longer. Throws InvalidCursorError. */
  get(tenant: string, cursor: string): StoredDelivery | null {
    this.file.check();
    const place = this.#cursors.find(tenant, cursor);
    const { id } = this.#rows.extent(tenant);
    if (place === null || id === null) return null;
    const row = this.#rows.get(id, place.sequence);
    if (row === undefined) return null;
    const isAnother = place.fingerprint !== null && place.fingerprint !== fingerprintIn(row);
    return isAnother ? null : storedDelivery(row, tenant, cursor);
  }

  /** Reads a page, in short steps. Throws InvalidCursorError or CursorExpiredError. */
  *page(tenant: string, range: DeliveryRange): Steps<DeliveryPage> {
    this.file.check();
    const { take = 'oldest', limit, maxBytes = Number.POSITIVE_INFINITY } = range;
    const oldest = take === 'oldest';
    const { id, indexed, ...extent } = this.#rows.extent(tenant);
    const fingerprintAt = (sequence: number) => this.#fingerprints.at(id, sequence);
    const cursorAt = (sequence: number) =>
      this.#cursors.cursor(tenant, { sequence, fingerprint: fingerprintAt(sequence) });
    const sequenceOf = (cursor: string) => this.#cursors.sequence(tenant, cursor, extent, fingerprintAt);
    const low = range.after === undefined ? extent.floor : sequenceOf(range.after);
    const high = range.before === undefined ? extent.head + 1 : sequenceOf(range.before);

    const budget = new ScanBudget(range.maxScanned ?? Number.POSITIVE_INFINITY);
    // One more than the caller wants shows whether there are more.
    const sequences = { low, high, limit: limit + 1, take };
    const found = id === null ? NOTHING : yield* this.#find(id, indexed, range, sequences, budget);
    const wanted = found.sequences.slice(0, limit);
    const deliveries = id === null ? [] : yield* this.#load(tenant, id, wanted, maxBytes);
    // Retention may trim while a page is read. A page after a cursor must hold all that follows the cursor.
    const { floor } = this.#rows.extent(tenant);
    if (range.after !== undefined && low < floor) throw new CursorExpiredError('trimmed');
    checkComplete(wanted, deliveries, floor, maxBytes);

    const leavesOut = found.sequences.length > deliveries.length;
    const furthest = deliveries.at(-1)?.cursor;
    const start = oldest ? Math.max(low, floor) : high;
    const end = oldest ? Math.max(start, found.cutAt ?? high - 1) : (found.cutAt ?? low);
    const head = cursorAt(extent.head);
    return {
      deliveries: oldest ? deliveries : deliveries.reverse(),
      hasMore: leavesOut || found.cutAt !== null,
      isCut: found.cutAt !== null,
      scanned: budget.spent,
      scannedTo: leavesOut ? (furthest ?? cursorAt(start)) : end === extent.head ? head : cursorAt(end),
      head,
    };
  }

  /** See `verify` in integrity.ts. */
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
    sequences: SequenceRange,
    budget: ScanBudget,
  ): Steps<Found> {
    return isFiltering(filter)
      ? this.#search.find(id, indexed, filter, sequences, budget)
      : unfiltered(sequences);
  }

  #load(tenant: string, id: number, sequences: readonly number[], maxBytes: number): Steps<StoredDelivery[]> {
    return this.#rows.load(id, sequences, maxBytes, (row) => {
      const place = { sequence: Number(row.sequence), fingerprint: fingerprintIn(row) };
      return storedDelivery(row, tenant, this.#cursors.cursor(tenant, place));
    });
  }
}

/** A tenant's sequences have no hole, so without a filter nothing needs to be read to find them. */
function* unfiltered({ low, high, limit, take }: SequenceRange): Steps<Found> {
  const length = Math.max(0, Math.min(limit, high - low - 1));
  const sequences = Array.from({ length }, (_, index) =>
    take === 'oldest' ? low + 1 + index : high - 1 - index,
  );
  return { sequences, cutAt: null };
}
