import {
  decodeCursor,
  type Extent,
  encodeCursor,
  epochOf,
  type Place,
  sequenceToResume,
} from '../../log/cursor.ts';

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
