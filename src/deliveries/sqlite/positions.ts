import { createHmac } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { decodeCursor, EPOCH_BYTES, encodeCursor } from '../cursor.ts';
import { CursorExpiredError } from '../errors.ts';

/** What a tenant's log holds: the sequences floor + 1 … head. */
export type Extent = { readonly id: number | null; readonly head: number; readonly floor: number };

const NOTHING: Extent = { id: null, head: 0, floor: 0 };

/** Tells cursors and sequences into each other, and judges which can be gone on from. */
export class Positions {
  readonly #seed: Uint8Array;
  readonly #find;

  constructor(database: DatabaseSync) {
    const seed = database.prepare('SELECT epoch_seed FROM log').get()?.epoch_seed;
    if (!(seed instanceof Uint8Array)) throw new Error('the delivery log has lost its epoch');
    this.#seed = seed;
    this.#find = database.prepare('SELECT id, head, floor FROM tenant WHERE name = ?');
  }

  extent(tenant: string): Extent {
    const row = this.#find.get(tenant);
    return row === undefined
      ? NOTHING
      : { id: Number(row.id), head: Number(row.head), floor: Number(row.floor) };
  }

  cursor(tenant: string, sequence: number): string {
    return encodeCursor({ epoch: this.#epoch(tenant), sequence });
  }

  /** Throws InvalidCursorError, or CursorExpiredError when what follows the cursor is not all there. */
  sequence(tenant: string, cursor: string, { head, floor }: Extent): number {
    const { epoch, sequence } = decodeCursor(cursor);
    if (!epoch.equals(this.#epoch(tenant))) throw new CursorExpiredError('foreign');
    if (sequence > head) throw new CursorExpiredError('ahead');
    if (sequence < floor) throw new CursorExpiredError('trimmed');
    return sequence;
  }

  /** Null when the cursor is of no delivery of this tenant's log. Throws InvalidCursorError. */
  find(tenant: string, cursor: string): number | null {
    const { epoch, sequence } = decodeCursor(cursor);
    return epoch.equals(this.#epoch(tenant)) ? sequence : null;
  }

  /** Derived, not stored: a tenant without deliveries has cursors too, and reading must not write. */
  #epoch(tenant: string): Buffer {
    return createHmac('sha256', this.#seed).update(tenant).digest().subarray(0, EPOCH_BYTES);
  }
}
