import { InvalidCursorError } from './errors.ts';

/**
 * The place of a delivery in one tenant's log: its sequence number and a 48-bit fingerprint. After a restored copy another
 * delivery may have the same number; its fingerprint differs. Null: only the number is compared. Sequence 0 is the place
 * before the first delivery.
 */
export type Place = { readonly sequence: number; readonly fingerprint: number | null };

/** A place in one tenant's log. */
export type Position = Place & { readonly epoch: Buffer };

export const EPOCH_BYTES = 8;

/** Without a fingerprint: clients still hold such cursors from an earlier release. */
const NUMBERED = 1;
const NAMED = 2;
const NUMBER_BYTES = 6;
const EPOCH_END = 1 + EPOCH_BYTES;
const LENGTHS = {
  [NUMBERED]: EPOCH_END + NUMBER_BYTES,
  [NAMED]: EPOCH_END + NUMBER_BYTES + NUMBER_BYTES,
};

const lengthOf = (version: number | undefined): number | null =>
  version === NUMBERED || version === NAMED ? LENGTHS[version] : null;

export const encodeCursor = ({ epoch, sequence, fingerprint }: Position): string => {
  const version = fingerprint === null ? NUMBERED : NAMED;
  const bytes = Buffer.allocUnsafe(LENGTHS[version]);
  bytes[0] = version;
  bytes.set(epoch, 1);
  if (fingerprint !== null) bytes.writeUIntBE(fingerprint, EPOCH_END, NUMBER_BYTES);
  bytes.writeUIntBE(sequence, bytes.length - NUMBER_BYTES, NUMBER_BYTES);
  return bytes.toString('base64url');
};

/** Throws InvalidCursorError for anything that `encodeCursor` has not made. */
export const decodeCursor = (cursor: string): Position => {
  const bytes = Buffer.from(cursor, 'base64url');
  // Decoding skips what is not base64url, so only a round trip shows that every character counted.
  if (bytes.length !== lengthOf(bytes[0]) || bytes.toString('base64url') !== cursor)
    throw new InvalidCursorError(cursor);
  return {
    epoch: bytes.subarray(1, EPOCH_END),
    sequence: bytes.readUIntBE(bytes.length - NUMBER_BYTES, NUMBER_BYTES),
    fingerprint: bytes[0] === NAMED ? bytes.readUIntBE(EPOCH_END, NUMBER_BYTES) : null,
  };
};

/** The sequence in a cursor; null when the text is no cursor. */
export const sequenceIn = (cursor: string): number | null => {
  try {
    return decodeCursor(cursor).sequence;
  } catch {
    return null;
  }
};
