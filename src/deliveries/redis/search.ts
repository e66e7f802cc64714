import { LRUCache } from 'lru-cache';
import type { DeliveryFilter } from '../log/log.ts';
import { queryTerms } from '../log/terms.ts';
import { type HashedTerm, hashTerm, offsetsOf, SEGMENT_DELIVERIES, scansOf } from './postings.ts';

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

/** A tenant's log. Another one may have the same keys after the first was lost, but not the same epoch. */
type TenantLog = { readonly prefix: string; readonly epoch: string };

type Select = (sequences: readonly number[]) => Promise<readonly number[]>;

type Part = Pick<SequenceRange, 'low' | 'high'> & { readonly segment: number };

/** To look at so few deliveries costs less than to read a common term's postings. */
const FEW = 32;

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

  /** `select` returns those of a few sequences that match the filter, in their order. */
  async find(
    log: TenantLog,
    filter: DeliveryFilter,
    { low, high, limit, take }: SequenceRange,
    maxScanned: number,
    select: Select,
  ): Promise<Found> {
    // The list with the fewest terms comes first: it is the one that most likely has little in a segment.
    const lists = queryTerms(filter)
      .sort((one, other) => one.length - other.length)
      .map((terms) => terms.map(hashTerm));
    const segments = segmentsOf(low + 1, high - 1, take);
    const sequences: number[] = [];
    let scanned = 0;
    for (let at = 0; at < segments.length; at += SEGMENTS_AT_ONCE) {
      const some = segments.slice(at, at + SEGMENTS_AT_ONCE);
      const found = await Promise.all(
        some.map((segment) => this.#matchesIn(log, { segment, low, high }, lists, select)),
      );
      for (const [index, segment] of some.entries()) {
        const { matches, scans } = found[index] ?? { matches: [], scans: 0 };
        scanned += scans;
        sequences.push(...(take === 'oldest' ? matches : matches.toReversed()));
        if (sequences.length >= limit) return { sequences: sequences.slice(0, limit), cutAt: null, scanned };
        const isLast = at + index === segments.length - 1;
        if (scanned >= maxScanned && !isLast) return { sequences, cutAt: endOf(segment, take), scanned };
      }
    }
    return { sequences, cutAt: null, scanned };
  }

  /** In ascending order. */
  async #matchesIn(
    log: TenantLog,
    { segment, low, high }: Part,
    lists: readonly (readonly HashedTerm[])[],
    select: Select,
  ): Promise<{ readonly matches: readonly number[]; readonly scans: number }> {
    const [first = [], ...others] = lists;
    let { sequences, scans } = await this.#postingsOf(log, segment, first, high);
    sequences = sequences.filter((sequence) => sequence > low && sequence < high);
    for (const terms of others) {
      if (sequences.length <= FEW) {
        const matches = await select(sequences);
        return { matches, scans: scans + sequences.length };
      }
      const postings = await this.#postingsOf(log, segment, terms, high);
      scans += postings.scans;
      const isIn = new Set(postings.sequences);
      sequences = sequences.filter((sequence) => isIn.has(sequence));
    }
    return { matches: sequences, scans };
  }

  /** The deliveries of a segment that have one of the terms, in ascending order. */
  async #postingsOf(
    { prefix, epoch }: TenantLog,
    segment: number,
    terms: readonly HashedTerm[],
    high: number,
  ): Promise<{ sequences: number[]; scans: number }> {
    const isSealed = high > (segment + 1) * SEGMENT_DELIVERIES;
    const buckets = await Promise.all(
      terms.map(({ bucket }) => {
        const key = `${prefix}index:${segment}:${bucket}`;
        return isSealed ? this.#sealedAt(key, epoch) : this.#at(key);
      }),
    );
    const offsets = new Set<number>();
    let scans = 0;
    for (const [index, { hash }] of terms.entries()) {
      const bucket = buckets[index] ?? NO_POSTINGS;
      scans += scansOf(bucket);
      for (const offset of offsetsOf(bucket, hash)) offsets.add(offset);
    }
    const ascending = [...offsets].sort((one, other) => one - other);
    return { sequences: ascending.map((offset) => segment * SEGMENT_DELIVERIES + offset), scans };
  }

  async #at(key: string): Promise<Buffer> {
    return (await this.#get(key)) ?? NO_POSTINGS;
  }

  async #sealedAt(key: string, epoch: string): Promise<Buffer> {
    const known = this.#sealed.get(epoch + key);
    if (known) return known;
    const bucket = await this.#at(key);
    this.#sealed.set(epoch + key, bucket);
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
