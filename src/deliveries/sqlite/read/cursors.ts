import { createHmac } from 'node:crypto';
import { decodeCursor, EPOCH_BYTES, encodeCursor, type Place } from '../../log/cursor.ts';
import { CursorExpiredError } from '../../log/errors.ts';

/** What a tenant's log holds: the sequences floor + 1 … head. */
export type Extent = { readonly head: number; readonly floor: number };

/** Makes cursors of places and places of cursors, and decides which cursors can be resumed. */
export class Cursors {
  readonly #seed: Uint8Array;
  readonly #epochs = new Map<string, Buffer>();

  /** `seed` is the log's own: another log's cursors are foreign here. */
  constructor(seed: Uint8Array) {
    this.#seed = seed;
  }

  cursor(tenant: string, { sequence, fingerprint }: Place): string {
    return encodeCursor({ epoch: this.#epoch(tenant), sequence, fingerprint });
  }

  /**
   * The sequence to resume after. `fingerprintAt` is the fingerprint of the delivery that is there now, null when it is not
   * known. Throws InvalidCursorError, or CursorExpiredError when deliveries after the cursor are gone or others.
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
    const there = fingerprint === null ? null : fingerprintAt(sequence);
    if (there !== null && there !== fingerprint) throw new CursorExpiredError('replaced');
    return sequence;
  }

  /** Null when the cursor is of no delivery of this tenant's log. Throws InvalidCursorError. */
  find(tenant: string, cursor: string): Place | null {
    const { epoch, ...place } = decodeCursor(cursor);
    return epoch.equals(this.#epoch(tenant)) ? place : null;
  }

  /** Derived, not stored: a tenant without deliveries has cursors too, and reading must not write. */
  #epoch(tenant: string): Buffer {
    const known = this.#epochs.get(tenant);
    if (known) return known;
    const epoch = createHmac('sha256', this.#seed).update(tenant).digest().subarray(0, EPOCH_BYTES);
    if (this.#epochs.size >= MAX_EPOCHS) this.#epochs.clear();
    this.#epochs.set(tenant, epoch);
    return epoch;
  }
}

/** They are quick to make again. */
const MAX_EPOCHS = 10_000;
