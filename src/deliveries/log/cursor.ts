import { createHmac } from 'node:crypto';
import { CursorExpiredError, InvalidCursorError } from './errors.ts';

/**
 * A delivery's place in one tenant's log: its sequence number and a 48-bit fingerprint. After the log was restored from an
 * older copy, another delivery may have the same number, but its fingerprint differs. If the fingerprint is null, only the
 * number is compared. Sequence 0 is the place before the first delivery.
 */
export type Place = { readonly sequence: number; readonly fingerprint: number | null };

/** The content of a cursor. `epoch` identifies the tenant's log: a cursor of another log has another one. */
export type Position = Place & { readonly epoch: Buffer };

const EPOCH_BYTES = 8;

/** Cursors without a fingerprint, which clients still have from an earlier release. */
const NUMBERED = 1;
const FINGERPRINTED = 2;
const NUMBER_BYTES = 6;
const EPOCH_END = 1 + EPOCH_BYTES;
const LENGTHS = {
  [NUMBERED]: EPOCH_END + NUMBER_BYTES,
  [FINGERPRINTED]: EPOCH_END + NUMBER_BYTES + NUMBER_BYTES,
};

const lengthOf = (version: number | undefined): number | null =>
  version === NUMBERED || version === FINGERPRINTED ? LENGTHS[version] : null;

/** Encodes as base64url: a version byte, the epoch, the fingerprint (48 bits, if any) and the sequence number (48 bits). */
export const encodeCursor = ({ epoch, sequence, fingerprint }: Position): string => {
  const version = fingerprint === null ? NUMBERED : FINGERPRINTED;
  const bytes = Buffer.allocUnsafe(LENGTHS[version]);
  bytes[0] = version;
  bytes.set(epoch, 1);
  if (fingerprint !== null) bytes.writeUIntBE(fingerprint, EPOCH_END, NUMBER_BYTES);
  bytes.writeUIntBE(sequence, bytes.length - NUMBER_BYTES, NUMBER_BYTES);
  return bytes.toString('base64url');
};

/** Throws InvalidCursorError for any text that is not an encoded cursor. */
export const decodeCursor = (cursor: string): Position => {
  const bytes = Buffer.from(cursor, 'base64url');
  // Node's decoder skips characters that are not base64url: encoding the result again finds them.
  if (bytes.length !== lengthOf(bytes[0]) || bytes.toString('base64url') !== cursor)
    throw new InvalidCursorError(cursor);
  return {
    epoch: bytes.subarray(1, EPOCH_END),
    sequence: bytes.readUIntBE(bytes.length - NUMBER_BYTES, NUMBER_BYTES),
    fingerprint: bytes[0] === FINGERPRINTED ? bytes.readUIntBE(EPOCH_END, NUMBER_BYTES) : null,
  };
};

/** The sequence number in a cursor; null when the text is not a cursor. */
export const sequenceIn = (cursor: string): number | null => {
  try {
    return decodeCursor(cursor).sequence;
  } catch {
    return null;
  }
};

/** The range of a tenant's log: it holds the sequences floor + 1 … head. */
export type Extent = { readonly head: number; readonly floor: number };

/** Derived from the log's seed: a tenant without deliveries has cursors too, and a read must not write. */
export const epochOf = (seed: Uint8Array, tenant: string): Buffer =>
  createHmac('sha256', seed).update(tenant).digest().subarray(0, EPOCH_BYTES);

/**
 * Returns the sequence to resume after. `fingerprintAt` returns the fingerprint of the delivery that now has a sequence,
 * null when it is not known. Throws CursorExpiredError when deliveries after the position are gone or were replaced.
 */
export const sequenceToResume = (
  position: Position,
  epoch: Buffer,
  { head, floor }: Extent,
  fingerprintAt: (sequence: number) => number | null,
): number => {
  const { sequence, fingerprint } = position;
  if (!position.epoch.equals(epoch)) throw new CursorExpiredError('foreign');
  if (sequence > head) throw new CursorExpiredError('ahead');
  if (sequence < floor) throw new CursorExpiredError('trimmed');
  const current = fingerprint === null ? null : fingerprintAt(sequence);
  if (current !== null && current !== fingerprint) throw new CursorExpiredError('replaced');
  return sequence;
};
