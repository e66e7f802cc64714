import { InvalidCursorError } from './errors.ts';

/**
 * A delivery of one tenant's log, by its number and its fingerprint: 48 bits by which another delivery with the same
 * number is told apart, as there is after a restored copy. Without a fingerprint (null) only the number counts. Sequence 0
 * is the place before the first delivery.
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

export function encodeCursor({ epoch, sequence, fingerprint }: Position): string {
  const version = fingerprint === null ? NUMBERED : NAMED;
  const bytes = Buffer.allocUnsafe(LENGTHS[version]);
  bytes[0] = version;
  bytes.set(epoch, 1);
  if (fingerprint !== null) bytes.writeUIntBE(fingerprint, EPOCH_END, NUMBER_BYTES);
  bytes.writeUIntBE(sequence, bytes.length - NUMBER_BYTES, NUMBER_BYTES);
  return bytes.toString('base64url');
}

/** Throws InvalidCursorError for anything that `encodeCursor` has not made. */
export function decodeCursor(cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  // Decoding skips what is not base64url, so only a round trip shows that every character counted.
  if (bytes.length !== lengthOf(bytes[0]) || bytes.toString('base64url') !== cursor) {
    throw new InvalidCursorError(cursor);
  }
  return {
    epoch: bytes.subarray(1, EPOCH_END),
    sequence: bytes.readUIntBE(bytes.length - NUMBER_BYTES, NUMBER_BYTES),
    fingerprint: bytes[0] === NAMED ? bytes.readUIntBE(EPOCH_END, NUMBER_BYTES) : null,
  };
}

/** The sequence in a cursor; null when the text is no cursor. */
export const sequenceIn = (cursor: string): number | null => {
  try {
    return decodeCursor(cursor).sequence;
  } catch {
    return null;
  }
};
