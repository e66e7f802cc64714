import { LRUCache } from 'lru-cache';
import type { DeliveryFilter } from '../log/log.ts';
import { queryTerms } from '../log/terms.ts';
import { offsetsOf, type PackedTerm, SEGMENT_DELIVERIES, scansOf, termAt } from './postings.ts';

/** The sequences above `low` and below `high`. A search wants at most `limit` of them, from the end that `take` names. */
export type SequenceRange = {
  readonly low: number;
  readonly high: number;
  readonly limit: number;
  readonly take: 'oldest' | 'newest';
};

/**
 * The matches in the order of `take`. `cutAt` is the sequence up to which the range was searched when `maxScanned` was used
 * up; null when it was searched to its end, or to the last match that was wanted.
 */
export type Found = {
  readonly sequences: readonly number[];
  readonly cutAt: number | null;
  readonly scanned: number;
};

/** Reads the value of a key; null when there is none. */
type GetString = (key: string) => Promise<Buffer | null>;

/** Segments whose postings are requested at the same time. */
const SEGMENTS_AT_ONCE = 8;
const CACHE_BYTES = 16 * 1024 * 1024;
const NO_POSTINGS = Buffer.alloc(0);

/** Finds the deliveries of a tenant that match a filter, by the postings alone. */
export class Search {
  readonly #get: GetString;
  /** The postings of full segments, which change no more. */
  readonly #sealed = new LRUCache<string, Buffer>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + 128,
  });

  constructor(get: GetString) {
    this.#get = get;
  }

  /** Must be called when Redis may have been restored from an older copy: it then fills the segments after that anew. */
  clear(): void {
    this.#sealed.clear();
  }

  /** `log` identifies the tenant's log: another one may have the same keys after the first was lost. */
  async find(
    prefix: string,
    log: string,
    filter: DeliveryFilter,
    { low, high, limit, take }: SequenceRange,
    maxScanned: number,
  ): Promise<Found> {
    // The list with the fewest terms comes first: it is the one that most likely has nothing in a segment.
    const lists = queryTerms(filter)
      .sort((one, other) => one.length - other.length)
      .map((terms) => terms.map(termAt));
    const head = high - 1;
    const segments = segmentsOf(low + 1, head, take);
    const sequences: number[] = [];
    let scanned = 0;
    for (let at = 0; at < segments.length; at += SEGMENTS_AT_ONCE) {
      const some = segments.slice(at, at + SEGMENTS_AT_ONCE);
      const found = await Promise.all(
        some.map((segment) => this.#matchesIn(prefix, log, segment, head, lists)),
      );
      for (const [index, segment] of some.entries()) {
        const { offsets, scans } = found[index] ?? { offsets: [], scans: 0 };
        scanned += scans;
        const matches = offsets
          .map((offset) => segment * SEGMENT_DELIVERIES + offset)
          .filter((sequence) => sequence > low && sequence < high);
        sequences.push(...(take === 'oldest' ? matches : matches.reverse()));
        if (sequences.length >= limit) return { sequences: sequences.slice(0, limit), cutAt: null, scanned };
        const isLast = at + index === segments.length - 1;
        if (scanned >= maxScanned && !isLast) return { sequences, cutAt: endOf(segment, take), scanned };
      }
    }
    return { sequences, cutAt: null, scanned };
  }

  async #matchesIn(
    prefix: string,
    log: string,
    segment: number,
    head: number,
    lists: readonly (readonly PackedTerm[])[],
  ): Promise<{ offsets: number[]; scans: number }> {
    const isSealed = head >= (segment + 1) * SEGMENT_DELIVERIES;
    let scans = 0;
    const postingsOf = async (terms: readonly PackedTerm[]): Promise<number[]> => {
      const buckets = await Promise.all(
        terms.map(({ bucket }) => {
          const key = `${prefix}index:${segment}:${bucket}`;
          return isSealed ? this.#sealedAt(key, log) : this.#at(key);
        }),
      );
      const offsets = new Set<number>();
      for (const [index, { hash }] of terms.entries()) {
        const bucket = buckets[index] ?? NO_POSTINGS;
        scans += scansOf(bucket);
        for (const offset of offsetsOf(bucket, hash)) offsets.add(offset);
      }
      return [...offsets].sort((one, other) => one - other);
    };
    const [first = [], ...others] = lists;
    let offsets = await postingsOf(first);
    for (const terms of others) {
      // Where one list has nothing, the others are not needed.
      if (offsets.length === 0) break;
      const isIn = new Set(await postingsOf(terms));
      offsets = offsets.filter((offset) => isIn.has(offset));
    }
    return { offsets, scans };
  }

  async #at(key: string): Promise<Buffer> {
    return (await this.#get(key)) ?? NO_POSTINGS;
  }

  async #sealedAt(key: string, log: string): Promise<Buffer> {
    const known = this.#sealed.get(log + key);
    if (known) return known;
    const bucket = await this.#at(key);
    this.#sealed.set(log + key, bucket);
    return bucket;
  }
}

/** The segments from the first sequence to the last, in the order of `take`. */
const segmentsOf = (first: number, last: number, take: SequenceRange['take']): number[] => {
  if (last < first) return [];
  const from = Math.floor(first / SEGMENT_DELIVERIES);
  const count = Math.floor(last / SEGMENT_DELIVERIES) - from + 1;
  const segments = Array.from({ length: count }, (_, index) => from + index);
  return take === 'oldest' ? segments : segments.reverse();
};

/** The outermost sequence of a segment that was searched from the end that `take` names. */
const endOf = (segment: number, take: SequenceRange['take']): number =>
  take === 'oldest' ? (segment + 1) * SEGMENT_DELIVERIES - 1 : segment * SEGMENT_DELIVERIES;
