import type { Extent } from './cursor.ts';
import { CursorExpiredError, LogDamagedError } from './errors.ts';
import {
  type DeliveryFilter,
  type DeliveryPage,
  type DeliveryRange,
  isFiltering,
  type StoredDelivery,
} from './log.ts';

/** The sequences above `low` and below `high`, of which at most `limit` are wanted, from the end that `take` names. */
export type SequenceRange = {
  readonly low: number;
  readonly high: number;
  readonly limit: number;
  readonly take: 'oldest' | 'newest';
};

export const isEmpty = ({ low, high }: SequenceRange): boolean => high - low < 2;

/**
 * The wanted sequences in the order of `take`. A tenant's sequences have no hole, so without a filter nothing needs to be
 * read to find them.
 */
export const sequencesIn = ({ low, high, limit, take }: SequenceRange): number[] =>
  Array.from({ length: Math.max(0, Math.min(limit, high - low - 1)) }, (_, index) =>
    take === 'oldest' ? low + 1 + index : high - 1 - index,
  );

export type Found = {
  /** The matches in the order of `take`. */
  readonly sequences: readonly number[];
  /** The sequence up to which the range was searched when `maxScanned` was used up; null if the search was completed. */
  readonly cutAt: number | null;
  /** The number of index entries and deliveries that were scanned. */
  readonly scanned: number;
};

/** What a page needs to know of a delivery. */
type Loaded = Pick<StoredDelivery, 'sequence' | 'body'>;

/** What a store does for a page of one tenant's log. */
export type PageSource<Delivery> = {
  /** The log when the read began. Pages end at `head`. */
  readonly extent: Extent;
  /** Returns the sequence of a cursor. Throws InvalidCursorError or CursorExpiredError. */
  resume(cursor: string): number;
  /** Searches a range that is not empty. Once about `maxScanned` are scanned, it ends early. */
  find(filter: DeliveryFilter, range: SequenceRange, maxScanned: number): Promise<Found>;
  /**
   * Loads deliveries in the order of `sequences`, until their bodies have `maxBytes`. It leaves out those that are no longer
   * stored. `floor` is read after the search and the deliveries.
   */
  load(
    sequences: readonly number[],
    maxBytes: number,
  ): Promise<{ readonly deliveries: readonly Delivery[]; readonly floor: number }>;
  /** The cursor of a sequence from `floor` to `head`. */
  cursorAt(sequence: number): string | Promise<string>;
};

/**
 * Reads a page: the same for every store. Rejects with InvalidCursorError or CursorExpiredError, and with LogDamagedError
 * when a delivery is missing.
 */
export const readPage = async <Delivery extends Loaded>(
  source: PageSource<Delivery>,
  range: DeliveryRange,
): Promise<DeliveryPage<Delivery>> => {
  const { after, before, filter = {}, take = 'oldest', limit } = range;
  const { maxBytes = Number.POSITIVE_INFINITY, maxScanned = Number.POSITIVE_INFINITY } = range;
  const { extent } = source;
  const low = after === undefined ? extent.floor : source.resume(after);
  const end = extent.head + 1;
  const high = before === undefined ? end : Math.min(end, source.resume(before));

  // One more than the caller wants shows whether there are more.
  const sequences = { low, high, limit: limit + 1, take };
  const found =
    isEmpty(sequences) || !isFiltering(filter)
      ? { sequences: sequencesIn(sequences), cutAt: null, scanned: 0 }
      : await source.find(filter, sequences, maxScanned);
  const wanted = found.sequences.slice(0, limit);
  const { deliveries, floor } = await source.load(wanted, maxBytes);
  // Retention may trim while a page is read. A page after a cursor must hold all that follows the cursor.
  if (after !== undefined && low < floor) throw new CursorExpiredError('trimmed');
  checkComplete(wanted, deliveries, floor, maxBytes);

  const oldest = take === 'oldest';
  const leavesOut = found.sequences.length > deliveries.length;
  const start = oldest ? Math.max(low, floor) : high;
  const searchedTo = oldest ? Math.max(start, found.cutAt ?? high - 1) : (found.cutAt ?? low);
  const scannedTo = leavesOut ? (deliveries.at(-1)?.sequence ?? start) : searchedTo;
  // A log that was restored from an older copy, or a replica of it, may show less than a client has seen.
  const newest = Math.max(low, extent.head);
  const head = await source.cursorAt(newest);
  return {
    deliveries: oldest ? deliveries : deliveries.toReversed(),
    hasMore: leavesOut || found.cutAt !== null,
    isCut: found.cutAt !== null,
    scanned: found.scanned,
    scannedTo: scannedTo === newest ? head : await source.cursorAt(scannedTo),
    head,
  };
};

/**
 * Throws LogDamagedError when a delivery is missing that was found. It may be missing if it was trimmed meanwhile, that is
 * up to `floor`, or if the page ended before it by `maxBytes`.
 */
const checkComplete = (
  wanted: readonly number[],
  deliveries: readonly Loaded[],
  floor: number,
  maxBytes: number,
): void => {
  if (deliveries.length === wanted.length) return;
  const bytes = deliveries.reduce((sum, { body }) => sum + body.byteLength, 0);
  const last = bytes >= maxBytes ? deliveries.at(-1)?.sequence : undefined;
  const loaded = new Set(deliveries.map(({ sequence }) => sequence));
  for (const sequence of wanted) {
    if (sequence > floor && !loaded.has(sequence))
      throw new LogDamagedError(`delivery ${sequence} is missing`);
    if (sequence === last) return;
  }
};
