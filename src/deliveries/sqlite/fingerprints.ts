import type { DatabaseSync } from 'node:sqlite';
import { BEFORE_FIRST, fingerprintOf } from '../log/identity.ts';

/** Reads the fingerprints of stored deliveries. */
export class Fingerprints {
  readonly #stored;
  readonly #trimmed;

  constructor(database: DatabaseSync) {
    this.#stored = database.prepare('SELECT identity, received FROM delivery WHERE id = (? << 40 | ?)');
    this.#trimmed = database.prepare('SELECT fingerprint FROM trimmed WHERE tenant = ? AND sequence = ?');
  }

  /** Returns the fingerprint of a tenant's delivery, also of the last trimmed one. Null when it is not known. */
  at(tenant: number | null, sequence: number): number | null {
    if (sequence === 0) return BEFORE_FIRST;
    if (tenant === null) return null;
    const row = this.#stored.get(tenant, sequence);
    if (row?.identity instanceof Uint8Array) return fingerprintOf(row.identity, Number(row.received));
    const trimmed = this.#trimmed.get(tenant, sequence);
    return trimmed === undefined ? null : Number(trimmed.fingerprint);
  }
}
