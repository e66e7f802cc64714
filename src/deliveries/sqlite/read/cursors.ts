import { createHmac } from 'node:crypto';
import { decodeCursor, EPOCH_BYTES, encodeCursor, type Place } from '../../log/cursor.ts';
import { CursorExpiredError } from '../../log/errors.ts';

/** Epochs are quick to derive again, so the cache is emptied when it is full. */
const MAX_EPOCHS = 10_000;

/** The range of a tenant's log: it holds the sequences floor + 1 … head. */
export type Extent = { readonly head: number; readonly floor: number };

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

  /**
   * Returns the sequence to resume after. `fingerprintAt` returns the fingerprint of the delivery that now has a sequence,
   * null when it is not known. Throws InvalidCursorError, or CursorExpiredError when deliveries after the cursor are gone
   * or were replaced.
   */
  sequence(
    tenant: string,
    cursor: string,
    { head, floor }: Extent,
    fingerprintAt: (sequence: number) => number | null,
  ): number {
    const { epoch, sequence, fingerprint } = decodeCursor(cursor);
    if (!epoch.equals(this.#epoch(tenant))) throw new CursorExpiredError('foreign');
    if (sequence > head) throw new CursorExpiredError('ahead');
    if (sequence < floor) throw new CursorExpiredError('trimmed');
    const current = fingerprint === null ? null : fingerprintAt(sequence);
    if (current !== null && current !== fingerprint) throw new CursorExpiredError('replaced');
    return sequence;
  }

  /** Returns null when the cursor belongs to another tenant or another log. Throws InvalidCursorError. */
  find(tenant: string, cursor: string): Place | null {
    const { epoch, ...place } = decodeCursor(cursor);
    return epoch.equals(this.#epoch(tenant)) ? place : null;
  }

  /** Derived from the seed and not stored: a tenant without deliveries has cursors too, and a read must not write. */
  #epoch(tenant: string): Buffer {
    const known = this.#epochs.get(tenant);
    if (known) return known;
    const epoch = createHmac('sha256', this.#seed).update(tenant).digest().subarray(0, EPOCH_BYTES);
    if (this.#epochs.size >= MAX_EPOCHS) this.#epochs.clear();
    this.#epochs.set(tenant, epoch);
    return epoch;
  }
}
