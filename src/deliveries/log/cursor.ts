import { createHmac, hash } from 'node:crypto';
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

/** Bytes of SHA-256. A collision takes 2^64 tries, and only makes one of the sender's own deliveries a duplicate. */
export const IDENTITY_BYTES = 16;

/** Precedes the body in what is hashed. A webhook's id is a UUID or empty, so it is clear where the prefix ends. */
export const identityPrefix = (webhookId: string | null): string => `${webhookId ?? ''}\n`;

/**
 * Returns the identity of a delivery, from its prefix and its body in one. Deliveries of a tenant with the same identity
 * are duplicates.
 */
export const identityOf = (prefixAndBody: Uint8Array): Buffer =>
  hash('sha256', prefixAndBody, 'buffer').subarray(0, IDENTITY_BYTES);

const FINGERPRINT_BYTES = 6;
const FINGERPRINT_LIMIT = 2 ** (8 * FINGERPRINT_BYTES);

/** The fingerprint of the place before a tenant's first delivery. */
export const BEFORE_FIRST = 0;

/**
 * Returns 48 bits of a delivery's identity and the time when it was received. After a restored copy, another delivery may
 * have the same number, but its fingerprint differs. The time makes the fingerprints of the same body differ, too, if it
 * is sent again: the deliveries before it may be others.
 */
export const fingerprintOf = (identity: Uint8Array, receivedAt: number): number => {
  let bits = 0;
  for (let at = 0; at < FINGERPRINT_BYTES; at += 1) bits = bits * 256 + (identity[at] ?? 0);
  return (((bits + receivedAt) % FINGERPRINT_LIMIT) + FINGERPRINT_LIMIT) % FINGERPRINT_LIMIT;
};

/** Epochs are quick to derive again, so the cache is emptied when it is full. */
const MAX_EPOCHS = 10_000;

/** Encodes and decodes the cursors of one log, and decides which cursors can be resumed. */
export class Cursors {
  readonly #seed: Uint8Array;
  readonly #epochs = new Map<string, Buffer>();

  /** `seed` is the log's own: the cursors of another log are foreign here. */
  constructor(seed: Uint8Array) {
    this.#seed = seed;
  }

  cursor(tenant: string, { sequence, fingerprint }: Place): string {
    return encodeCursor({ epoch: this.#epoch(tenant), sequence, fingerprint });
  }

  /** See `sequenceToResume`. Throws InvalidCursorError, too. */
  sequence(
    tenant: string,
    cursor: string,
    extent: Extent,
    fingerprintAt: (sequence: number) => number | null,
  ): number {
    return sequenceToResume(decodeCursor(cursor), this.#epoch(tenant), extent, fingerprintAt);
  }

  /** Returns null when the cursor belongs to another tenant or another log. Throws InvalidCursorError. */
  find(tenant: string, cursor: string): Place | null {
    const { epoch, ...place } = decodeCursor(cursor);
    return epoch.equals(this.#epoch(tenant)) ? place : null;
  }

  #epoch(tenant: string): Buffer {
    const known = this.#epochs.get(tenant);
    if (known) return known;
    const epoch = epochOf(this.#seed, tenant);
    if (this.#epochs.size >= MAX_EPOCHS) this.#epochs.clear();
    this.#epochs.set(tenant, epoch);
    return epoch;
  }
}
