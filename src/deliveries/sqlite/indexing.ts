import type { DatabaseSync } from 'node:sqlite';
import { Identities } from './identities.ts';
import { Segmenting } from './segmenting.ts';

/** A delivery that was stored just now. */
export type Added = {
  readonly tenant: number;
  readonly sequence: number;
  readonly identity: Buffer;
  /** Of all of the tenant's, how many are in no segment. */
  readonly unsegmented: number;
  /** How many terms find it, at most. */
  readonly terms: number;
};

const LEAST_WRITES = 64;
const CAUGHT_UP_AT_ONCE = 1024;
/** What one transaction writes at most, so that none waits long: a delivery may have tens of thousands of terms. */
const MOST_WRITES = 8192;

/**
 * Keeps the indexes, in pace with what is added: of identities, and of what deliveries are filtered by. Both write pages
 * in their order, many entries at a time, a few in each transaction: neither depends on how many tenants there are.
 */
export class Indexing {
  readonly #identities: Identities;
  readonly #segmenting: Segmenting;
  #owedIdentities = 0;
  #owedTerms = 0;

  constructor(database: DatabaseSync) {
    this.#identities = new Identities(database);
    this.#segmenting = new Segmenting(database);
  }

  /** The sequence of the tenant's delivery that has this identity. */
  find(tenant: number, identity: Buffer): number | null {
    return this.#identities.find(tenant, identity);
  }

  /** Each sequence is one above the tenant's last. */
  add({ tenant, sequence, identity, unsegmented, terms }: Added): void {
    this.#identities.add(tenant, sequence, identity);
    this.#segmenting.added(tenant, unsegmented, terms);
    this.#owedIdentities += 1;
    // It is read, too.
    this.#owedTerms += terms + 1;
  }

  /** Takes an identity out again. Belongs into a transaction. */
  drop(tenant: number, identity: Buffer): void {
    this.#identities.drop(tenant, identity);
  }

  /** Writes about as much as was added since the last step. Belongs into the transaction of what was added. */
  step(): void {
    this.#identities.write(this.#owedIdentities + LEAST_WRITES);
    this.#owedIdentities = 0;
    const due = Math.min(this.#owedTerms, MOST_WRITES);
    this.#segmenting.write(due + LEAST_WRITES);
    this.#owedTerms -= due;
  }

  /** Whether deliveries wait for a segment that nothing is added to any more. */
  get isBehind(): boolean {
    return this.#segmenting.isDue;
  }

  /** Writes a part of it. Belongs into a transaction. */
  catchUp(): void {
    this.#segmenting.write(CAUGHT_UP_AT_ONCE);
  }
}
