import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/**
 * The index: for each delivery and each of its terms it has a posting of 6 bytes, 4 of the term's hash and 2 of the
 * delivery's offset in its segment. A segment is 16,384 consecutive deliveries. Its postings are in 256 strings, which the
 * term's hash chooses and to which an append only adds. So a filter reads 1/256 of the index, and no delivery that it does
 * not match: of a million deliveries with seven terms each, about 160 KB.
 *
 * The scripts append.lua and trim.lua know these numbers, too.
 */
export const SEGMENT_DELIVERIES = 16_384;
const POSTING_BYTES = 6;
const HASH_BYTES = 4;

/** The bucket, then the hash: what the append script gets of each term. */
const TERM_BYTES = 1 + HASH_BYTES;

/** Most terms are in many deliveries: a hash costs ten times as much as a look-up. */
const packedTerms = new LRUCache<string, Buffer>({ max: 10_000 });

const packTerm = (term: string): Buffer => {
  const known = packedTerms.get(term);
  if (known) return known;
  const packed = hash('sha256', term, 'buffer').subarray(0, TERM_BYTES);
  packedTerms.set(term, packed);
  return packed;
};

export const packTerms = (terms: Iterable<string>): Buffer => Buffer.concat([...terms].map(packTerm));

export type PackedTerm = { readonly bucket: number; readonly hash: number };

export const termAt = (term: string): PackedTerm => {
  const packed = packTerm(term);
  return { bucket: packed[0] ?? 0, hash: packed.readUInt32BE(1) };
};

/**
 * Returns the offsets of the deliveries that have a term, in ascending order. Another term may have the same hash, which is
 * as good as never: the reader compares each delivery with the filter.
 */
export const offsetsOf = (bucket: Buffer, term: number): number[] => {
  const offsets: number[] = [];
  for (let at = 0; at + POSTING_BYTES <= bucket.length; at += POSTING_BYTES)
    if (bucket.readUInt32BE(at) === term) offsets.push(bucket.readUInt16BE(at + HASH_BYTES));
  return offsets;
};

/** To look at this many postings takes about as long as to look up a term. */
const POSTINGS_PER_SCAN = 256;

/** What a bucket counts against `maxScanned`. */
export const scansOf = (bucket: Buffer): number =>
  1 + Math.floor(bucket.length / POSTING_BYTES / POSTINGS_PER_SCAN);
