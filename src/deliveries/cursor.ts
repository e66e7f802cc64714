import { InvalidCursorError } from './errors.ts';

/** A place in one tenant's log. Sequence 0 is the place before the first delivery. */
export type Position = { readonly epoch: Buffer; readonly sequence: number };

export const EPOCH_BYTES = 8;

const VERSION = 1;
const SEQUENCE_BYTES = 6;
const SEQUENCE_AT = 1 + EPOCH_BYTES;
const LENGTH = SEQUENCE_AT + SEQUENCE_BYTES;

export function encodeCursor({ epoch, sequence }: Position): string {
  const bytes = Buffer.alloc(LENGTH);
  bytes.writeUInt8(VERSION);
  epoch.copy(bytes, 1);
  bytes.writeUIntBE(sequence, SEQUENCE_AT, SEQUENCE_BYTES);
  return bytes.toString('base64url');
}

/** Throws InvalidCursorError for anything that `encodeCursor` has not made. */
export function decodeCursor(cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  // Decoding skips what is not base64url, so only a round trip shows that every character counted.
  if (bytes.length !== LENGTH || bytes[0] !== VERSION || bytes.toString('base64url') !== cursor) {
    throw new InvalidCursorError(cursor);
  }
  return {
    epoch: bytes.subarray(1, SEQUENCE_AT),
    sequence: bytes.readUIntBE(SEQUENCE_AT, SEQUENCE_BYTES),
  };
}

/** The place that a cursor tells of; null for what is no cursor. */
export const sequenceIn = (cursor: string): number | null => {
  try {
    return decodeCursor(cursor).sequence;
  } catch {
    return null;
  }
};
