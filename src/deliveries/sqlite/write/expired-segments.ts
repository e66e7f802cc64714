import type { DatabaseSync } from 'node:sqlite';

const DROPPED_AT_ONCE = 64;

/** Drops the index entries of segments of which all deliveries were trimmed; not of one that is still being made. */
export class ExpiredSegments {
  readonly #oldest;
  readonly #dropPostings;
  readonly #drop;

  constructor(database: DatabaseSync) {
    this.#oldest = database.prepare(
      `SELECT first, last <= (SELECT min(floor, indexed) FROM tenant WHERE id = segment.tenant) AS dead
       FROM segment WHERE tenant = ? ORDER BY first LIMIT 1`,
    );
    this.#dropPostings = database.prepare(
      `DELETE FROM posting WHERE tenant = ?1 AND segment = ?2 AND term IN
         (SELECT term FROM posting WHERE tenant = ?1 AND segment = ?2 LIMIT ${DROPPED_AT_ONCE})`,
    );
    this.#drop = database.prepare('DELETE FROM segment WHERE tenant = ? AND first = ?');
  }

  /** Drops a few entries, and says whether there may be more to drop. Belongs into a transaction. */
  step(tenant: number): boolean {
    const oldest = this.#oldest.get(tenant);
    if (!oldest?.dead) return false;
    const first = Number(oldest.first);
    if (Number(this.#dropPostings.run(tenant, first).changes) === 0) this.#drop.run(tenant, first);
    return true;
  }
}
