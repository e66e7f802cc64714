import type { DatabaseSync } from 'node:sqlite';

const BYTES = 6;
const LIMIT = 2 ** (8 * BYTES);

/** The fingerprint of the place before a tenant's first delivery. */
export const BEFORE_FIRST = 0;

/**
 * 48 bits, made of a delivery's identity and the time when it was received. After a restored copy, another delivery may
 * have the same number: its fingerprint differs. So does that of the same body sent again, since the deliveries before it
 * may be others.
 */
export const fingerprintOf = (identity: Uint8Array, receivedAt: number): number => {
  let bits = 0;
  for (let at = 0; at < BYTES; at += 1) bits = bits * 256 + (identity[at] ?? 0);
  return (((bits + receivedAt) % LIMIT) + LIMIT) % LIMIT;
};

/** Looks fingerprints up. */
export class Fingerprints {
  readonly #stored;
  readonly #trimmed;

  constructor(database: DatabaseSync) {
    this.#stored = database.prepare('SELECT identity, received FROM delivery WHERE id = (? << 40 | ?)');
    this.#trimmed = database.prepare('SELECT fingerprint FROM trimmed WHERE tenant = ? AND sequence = ?');
  }

  /** The fingerprint of a tenant's delivery, also of the last trimmed one; null when it is not known. */
  at(tenant: number | null, sequence: number): number | null {
    if (sequence === 0) return BEFORE_FIRST;
    if (tenant === null) return null;
    const row = this.#stored.get(tenant, sequence);
    if (row?.identity instanceof Uint8Array) return fingerprintOf(row.identity, Number(row.received));
    const trimmed = this.#trimmed.get(tenant, sequence);
    return trimmed === undefined ? null : Number(trimmed.fingerprint);
  }
}
