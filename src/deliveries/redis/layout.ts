/**
 * The bytes of the log in Redis that this program and its scripts both read and write. The scripts have the same numbers as
 * local variables: see `LAYOUT`. What is stored has them too, so none can change.
 */

/**
 * The header of an entry: the identity, when it was received, the size of the body before it was compressed, the flags; then
 * what the flags say that there is.
 */
export const IDENTITY_BYTES = 16;
export const RECEIVED_AT = 16;
/** A mark is the beginning of a header: the identity and the time. */
export const MARK_BYTES = 24;
export const SIZE_AT = 24;
export const FLAGS_AT = 28;
export const FIXED_BYTES = 29;
/** The first flags, and how much each of what they tell of takes. */
export const HAS_WEBHOOK = 1;
export const UUID_BYTES = 16;
export const HAS_CHAIN = 2;
export const DOUBLE_BYTES = 8;

/**
 * The index. A segment is 16,384 consecutive deliveries. The postings of its terms are in 256 strings, the buckets, which a
 * term's hash chooses and to which an append only adds. A delivery with terms in a bucket adds one record to it: its offset
 * in the segment (2 bytes), how many terms follow (1 byte), and 32 bits of the hash of each.
 */
export const SEGMENT_DELIVERIES = 16_384;
export const BUCKETS = 256;
export const HASH_BYTES = 4;

/** Bits of a segment's marks, for each bucket: whether it has begun, has lost its beginning, and that this was reported. */
export const BEGUN = 0;
export const LOST = BEGUN + BUCKETS;
export const TOLD = LOST + BUCKETS;

const SHARED = {
  IDENTITY_BYTES,
  RECEIVED_AT,
  MARK_BYTES,
  SIZE_AT,
  FLAGS_AT,
  FIXED_BYTES,
  HAS_WEBHOOK,
  UUID_BYTES,
  HAS_CHAIN,
  DOUBLE_BYTES,
  SEGMENT_DELIVERIES,
  BUCKETS,
  HASH_BYTES,
  BEGUN,
  LOST,
};

/** These numbers in Lua, in one line, so that the lines of a script keep their numbers. */
export const LAYOUT = `local ${Object.keys(SHARED).join(', ')} = ${Object.values(SHARED).join(', ')} `;
