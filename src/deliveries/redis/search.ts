import { LRUCache } from 'lru-cache';
import { type DeliveryFilter, queryTerms } from '../log/log.ts';
import type { Found, SequenceRange } from '../log/page.ts';
import { BEGUN, BUCKETS, HASH_BYTES, LOST, SEGMENT_DELIVERIES, TOLD } from './layout.ts';
import { isRefusal, type Store } from './store.ts';

/** A tenant's log. Another one may have the same keys after the first was lost, but not the same epoch. */
type TenantLog = { readonly tenant: string; readonly prefix: string; readonly epoch: string };

type Select = (sequences: readonly number[]) => Promise<readonly number[]>;

type Part = Pick<SequenceRange, 'low' | 'high'> & { readonly segment: number };

/** To look at so few deliveries costs less than to read a common term's postings. */
const FEW = 32;

/** Segments whose postings are requested at the same time. */
const SEGMENTS_AT_ONCE = 8;
const CACHE_BYTES = 16 * 1024 * 1024;
const NO_POSTINGS = Buffer.alloc(0);

/** Finds the deliveries of a tenant that match a filter, by the postings alone. */
export class RedisSearch {
  readonly #store: Store;
  /** The postings of full segments, which change no more. */
  readonly #sealed = new LRUCache<string, Buffer>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + 128,
  });

  constructor(store: Store) {
    this.#store = store;
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
    let { sequences, scans } = await this.#postingsOf(log, segment, first, low, high);
    sequences = sequences.filter((sequence) => sequence > low && sequence < high);
    for (const terms of others) {
      if (sequences.length <= FEW) {
        const matches = await select(sequences);
        return { matches, scans: scans + sequences.length };
      }
      const postings = await this.#postingsOf(log, segment, terms, low, high);
      scans += postings.scans;
      const isIn = new Set(postings.sequences);
      sequences = sequences.filter((sequence) => isIn.has(sequence));
    }
    return { matches: sequences, scans };
  }

  /**
   * The deliveries of a segment that have one of the terms, in ascending order. When a part of the index is lost, it returns
   * all deliveries of the range that are in the segment: each may have a term.
   */
  async #postingsOf(
    log: TenantLog,
    segment: number,
    terms: readonly HashedTerm[],
    low: number,
    high: number,
  ): Promise<{ sequences: number[]; scans: number }> {
    const isSealed = high > (segment + 1) * SEGMENT_DELIVERIES;
    const index = new SegmentIndex(this.#store, `${log.prefix}index:${segment}:`);
    const buckets = await Promise.all(
      terms.map(({ bucket }) =>
        isSealed ? this.#sealedAt(index, bucket, log.epoch) : index.bucketAt(bucket),
      ),
    );
    const start = segment * SEGMENT_DELIVERIES;
    const offsets = new Set<number>();
    let scans = 0;
    for (const [at, { hash, bucket }] of terms.entries()) {
      const postings = buckets[at] ?? null;
      if (postings === null) {
        if (await index.isFirstToTell(bucket))
          this.#store.reportMended(
            log.tenant,
            `the index of deliveries from ${start} on is not whole: ${SLOWER}`,
          );
        const first = Math.max(low + 1, start);
        const count = Math.min(high, start + SEGMENT_DELIVERIES) - first;
        return { sequences: Array.from({ length: count }, (_, offset) => first + offset), scans: count };
      }
      scans += scansOf(postings);
      for (const offset of offsetsOf(postings, hash)) offsets.add(offset);
    }
    const ascending = [...offsets].sort((one, other) => one - other);
    return { sequences: ascending.map((offset) => start + offset), scans };
  }

  async #sealedAt(index: SegmentIndex, bucket: number, epoch: string): Promise<Buffer | null> {
    const name = `${epoch}${index.key}${bucket}`;
    const known = this.#sealed.get(name);
    if (known) return known;
    const postings = await index.bucketAt(bucket);
    if (postings !== null) this.#sealed.set(name, postings);
    return postings;
  }
}

const SLOWER = 'filters read these one by one';

/** The buckets of one segment, as they are in Redis. */
class SegmentIndex {
  readonly key: string;
  readonly #store: Store;
  #marks: Promise<Buffer | null> | null = null;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.key = key;
  }

  /** Returns null for a bucket that is not whole. */
  async bucketAt(bucket: number): Promise<Buffer | null> {
    // The marks are read first: a bucket may begin meanwhile.
    this.#marks ??= this.#read('marks');
    const [marks, postings] = await Promise.all([this.#marks, this.#read(String(bucket))]);
    if (postings === null || hasBit(marks, LOST + bucket)) return null;
    const isMissing = postings.length === 0 && hasBit(marks, BEGUN + bucket);
    // Retention may have dropped the segment meanwhile, with its marks.
    return isMissing && hasBit(await this.#read('marks'), BEGUN + bucket) ? null : postings;
  }

  /** Of all gateways, one tells of a bucket that is not whole. */
  async isFirstToTell(bucket: number): Promise<boolean> {
    const key = `${this.key}marks`;
    const before = await this.#store.send(key, 'SETBIT', key, String(TOLD + bucket), '1').catch(() => 1);
    return before === 0;
  }

  /** The bytes under a key, none when there is no such key; null when it has another type. */
  async #read(name: string): Promise<Buffer | null> {
    try {
      return (await this.#store.get(this.key + name)) ?? NO_POSTINGS;
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }
}

/** As SETBIT counts: the first bit is the highest one of the first byte. */
const hasBit = (bytes: Buffer | null, bit: number): boolean =>
  (((bytes?.[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1;

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

/**
 * Of the index (see layout.ts) a filter reads 1/256, and no delivery that it does not match: of a million deliveries with six
 * terms each, about 160 KB. A segment's marks (see `SegmentIndex`) tell a bucket that was lost from one that was never begun.
 */
const OFFSET_BYTES = 2;
const COUNT_BYTES = 1;
const MAX_COUNT = 255;

type HashedTerm = { readonly bucket: number; readonly hash: number };

const FNV_PRIME = 0x01000193;

/**
 * Two lanes of FNV-1a over the term's characters, each mixed at its end. A sender that makes terms collide only makes
 * searches of its own tenant slower.
 */
export const hashTerm = (term: string): HashedTerm => {
  let [one, two] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < term.length; at += 1) {
    const code = term.charCodeAt(at);
    one = Math.imul(one ^ code, FNV_PRIME);
    two = Math.imul(two ^ code, FNV_PRIME + 0x5a);
  }
  return { bucket: mix(two) % BUCKETS, hash: mix(one) };
};

/** The finalizer of MurmurHash3: each bit of the input changes half of the output. */
const mix = (bits: number): number => {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};

/** What the append script gets of a delivery's terms: for each record its bucket, its count and its hashes. */
export const packTerms = (terms: Iterable<string>): Buffer => {
  const buckets = new Map<number, number[]>();
  for (const term of terms) {
    const { bucket, hash } = hashTerm(term);
    const hashes = buckets.get(bucket);
    if (hashes === undefined) buckets.set(bucket, [hash]);
    else hashes.push(hash);
  }
  let size = 0;
  for (const { length } of buckets.values()) size += 2 * Math.ceil(length / MAX_COUNT) + HASH_BYTES * length;
  const packed = Buffer.allocUnsafe(size);
  let end = 0;
  for (const [bucket, hashes] of buckets)
    for (const [index, hash] of hashes.entries()) {
      if (index % MAX_COUNT === 0) {
        end = packed.writeUInt8(bucket, end);
        end = packed.writeUInt8(Math.min(MAX_COUNT, hashes.length - index), end);
      }
      end = packed.writeUInt32BE(hash, end);
    }
  return packed;
};

/**
 * Returns the offsets of the deliveries that have a term, in ascending order. Another term may have the same hash, which is
 * as good as never: the reader compares each delivery with the filter.
 */
const offsetsOf = (bucket: Buffer, term: number): number[] => {
  const offsets: number[] = [];
  for (let at = 0; at < bucket.length; ) {
    const offset = bucket.readUInt16BE(at);
    const count = bucket.readUInt8(at + OFFSET_BYTES);
    at += OFFSET_BYTES + COUNT_BYTES;
    for (const end = at + HASH_BYTES * count; at < end; at += HASH_BYTES)
      if (bucket.readUInt32BE(at) === term) offsets.push(offset);
  }
  return offsets;
};

/** Looking at this many bytes takes about as long as looking up a term. */
const BYTES_PER_SCAN = 2048;

/** What a bucket counts against `maxScanned`. */
const scansOf = (bucket: Buffer): number => 1 + Math.floor(bucket.length / BYTES_PER_SCAN);
