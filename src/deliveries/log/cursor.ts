import { createHmac, hash } from 'node:crypto';
import { CursorExpiredError, InvalidCursorError } from './errors.ts';

/**
 * A delivery's place in one tenant's log: its sequence number and a 48-bit fingerprint. After the log was restored from an
 * older copy, another delivery may have the same number, but its fingerprint differs. Sequence 0 is the place before the
 * first delivery.
 */
export type Place = { readonly sequence: number; readonly fingerprint: number };

/**
 * The fingerprint of a place without a known delivery: the one before the first, or one whose delivery was dropped while it
 * was read. Of such a place only the number is compared.
 */
export const UNKNOWN = 0;

/** The place before a tenant's first delivery. */
export const START: Place = { sequence: 0, fingerprint: UNKNOWN };

/** The content of a cursor. `epoch` identifies the tenant's log: a cursor of another log has another one. */
export type Position = Place & { readonly epoch: Buffer };

const VERSION = 2;
const EPOCH_BYTES = 8;
const NUMBER_BYTES = 6;
const FINGERPRINT_AT = 1 + EPOCH_BYTES;
const SEQUENCE_AT = FINGERPRINT_AT + NUMBER_BYTES;
const CURSOR_BYTES = SEQUENCE_AT + NUMBER_BYTES;

/** Encodes as base64url: a version byte, the epoch, the fingerprint (48 bits) and the sequence number (48 bits). */
export const encodeCursor = ({ epoch, sequence, fingerprint }: Position): string => {
  const bytes = Buffer.allocUnsafe(CURSOR_BYTES);
  bytes[0] = VERSION;
  bytes.set(epoch, 1);
  bytes.writeUIntBE(fingerprint, FINGERPRINT_AT, NUMBER_BYTES);
  bytes.writeUIntBE(sequence, SEQUENCE_AT, NUMBER_BYTES);
  return bytes.toString('base64url');
};

/** Throws InvalidCursorError for any text that is not an encoded cursor. */
export const decodeCursor = (cursor: string): Position => {
  const bytes = Buffer.from(cursor, 'base64url');
  // Node's decoder skips characters that are not base64url: encoding the result again finds them.
  if (bytes.length !== CURSOR_BYTES || bytes[0] !== VERSION || bytes.toString('base64url') !== cursor)
    throw new InvalidCursorError(cursor);
  return {
    epoch: bytes.subarray(1, FINGERPRINT_AT),
    sequence: bytes.readUIntBE(SEQUENCE_AT, NUMBER_BYTES),
    fingerprint: bytes.readUIntBE(FINGERPRINT_AT, NUMBER_BYTES),
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

/** Whether the fingerprints are those of two deliveries. */
export const areDifferent = (one: number, other: number): boolean =>
  one !== other && one !== UNKNOWN && other !== UNKNOWN;

/**
 * Returns the sequence to resume after. `fingerprintAt` returns the fingerprint of the delivery that now has a sequence,
 * or UNKNOWN. Throws CursorExpiredError when deliveries after the position are gone or were replaced.
 */
export const sequenceToResume = (
  position: Position,
  epoch: Buffer,
  { head, floor }: Extent,
  fingerprintAt: (sequence: number) => number,
): number => {
  const { sequence, fingerprint } = position;
  if (!position.epoch.equals(epoch)) throw new CursorExpiredError('foreign');
  if (sequence > head) throw new CursorExpiredError('ahead');
  if (sequence < floor) throw new CursorExpiredError('trimmed');
  if (areDifferent(fingerprint, fingerprintAt(sequence))) throw new CursorExpiredError('replaced');
  return sequence;
};

/** Bytes of SHA-256. A collision takes 2^64 tries, and only makes one of the sender's own deliveries a duplicate. */
export const IDENTITY_BYTES = 16;

/** Precedes the body in what is hashed. A webhook's id is a UUID or empty, so it is clear where the prefix ends. */
export const identityPrefix = (webhookId: string | null): string => `${webhookId ?? ''}\n`;

/**
 * Returns the identity of a delivery, from its prefix and its body in one. Deliveries of a tenant with the same identity
 * and the same chain are duplicates: of balances, only a header says the chain.
 *
 * Node hands a hash over as a text in half the time that a buffer of its own takes.
 */
export const identityOf = (prefixAndBody: Uint8Array): Buffer =>
  Buffer.from(hash('sha256', prefixAndBody, 'latin1').slice(0, IDENTITY_BYTES), 'latin1');

const FINGERPRINT_BYTES = 6;
const FINGERPRINT_LIMIT = 2 ** (8 * FINGERPRINT_BYTES);

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
  readonly #given: ReadonlyMap<string, Uint8Array>;
  readonly #epochs = new Map<string, Buffer>();

  /** `seed` is the log's own: the cursors of another log are foreign here. `given` are epochs that are not made from it. */
  constructor(seed: Uint8Array, given: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.#seed = seed;
    this.#given = given;
  }

  cursor(tenant: string, { sequence, fingerprint }: Place): string {
    return encodeCursor({ epoch: this.#epoch(tenant), sequence, fingerprint });
  }

  /** See `sequenceToResume`. Throws InvalidCursorError, too. */
  sequence(
    tenant: string,
    cursor: string,
    extent: Extent,
    fingerprintAt: (sequence: number) => number,
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
    const given = this.#given.get(tenant);
    const epoch = given === undefined ? epochOf(this.#seed, tenant) : Buffer.from(given);
    if (this.#epochs.size >= MAX_EPOCHS) this.#epochs.clear();
    this.#epochs.set(tenant, epoch);
    return epoch;
  }
}
