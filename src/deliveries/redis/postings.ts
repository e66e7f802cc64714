/**
 * The index. A segment is 16,384 consecutive deliveries. The postings of its terms are in 256 strings, the buckets, which a
 * term's hash chooses and to which an append only adds. A delivery with terms in a bucket adds one record to it: its offset
 * in the segment (2 bytes), how many terms follow (1 byte), and 32 bits of the hash of each.
 *
 * So a filter reads 1/256 of the index, and no delivery that it does not match: of a million deliveries with six terms
 * each, about 160 KB. A segment's marks (see `SegmentIndex`) tell a bucket that was lost from one that was never begun. The
 * scripts know these numbers, too.
 */
export const SEGMENT_DELIVERIES = 16_384;
const BUCKETS = 256;
const OFFSET_BYTES = 2;
const COUNT_BYTES = 1;
const HASH_BYTES = 4;
const MAX_COUNT = 255;

export type HashedTerm = { readonly bucket: number; readonly hash: number };

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
export const offsetsOf = (bucket: Buffer, term: number): number[] => {
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

/** To look at so many bytes takes about as long as to look up a term. */
const BYTES_PER_SCAN = 2048;

/** What a bucket counts against `maxScanned`. */
export const scansOf = (bucket: Buffer): number => 1 + Math.floor(bucket.length / BYTES_PER_SCAN);
