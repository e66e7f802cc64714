import type { DatabaseSync } from 'node:sqlite';
import { IdentityIndex } from './identity-index.ts';
import { SegmentBuilder } from './segment-builder.ts';

/** A delivery that was stored just now. */
export type Added = {
  readonly tenant: number;
  readonly sequence: number;
  readonly identity: Buffer;
  /** How many of the tenant's deliveries are in no segment. */
  readonly unsegmented: number;
  /** At most how many terms it has. */
  readonly terms: number;
};

const LEAST_WRITES = 64;
const CAUGHT_UP_AT_ONCE = 1024;
/** The most that one transaction writes: a delivery may have tens of thousands of terms. */
const MOST_WRITES = 8192;

/**
 * Keeps both indexes, of identities and of filter terms, in pace with what is added. Both are written in their tables'
 * order, a few entries in each transaction. Neither's work depends on the number of tenants.
 */
export class Indexer {
  readonly #identities: IdentityIndex;
  readonly #segmentBuilder: SegmentBuilder;
  #owedIdentities = 0;
  #owedTerms = 0;

  constructor(database: DatabaseSync) {
    this.#identities = new IdentityIndex(database);
    this.#segmentBuilder = new SegmentBuilder(database);
  }

  /** The sequence of the tenant's delivery that has this identity. */
  find(tenant: number, identity: Buffer): number | null {
    return this.#identities.find(tenant, identity);
  }

  /** Each sequence is one above the tenant's last. */
  add({ tenant, sequence, identity, unsegmented, terms }: Added): void {
    this.#identities.add(tenant, sequence, identity);
    this.#segmentBuilder.added(tenant, unsegmented, terms);
    this.#owedIdentities += 1;
    // One more, since the delivery is read again.
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
    this.#segmentBuilder.write(due + LEAST_WRITES);
    this.#owedTerms -= due;
  }

  /** Whether a segment is to be made, also when no more deliveries come. */
  get isBehind(): boolean {
    return this.#segmentBuilder.isDue;
  }

  /** Writes a part of it. Belongs into a transaction. */
  catchUp(): void {
    this.#segmentBuilder.write(CAUGHT_UP_AT_ONCE);
  }
}
