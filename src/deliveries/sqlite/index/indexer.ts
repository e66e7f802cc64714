import type { DatabaseSync } from 'node:sqlite';
import { IdentityIndex } from './identity-index.ts';
import { SegmentBuilder } from './segment-builder.ts';

/** A delivery that was just inserted. */
export type Added = {
  readonly tenant: number;
  readonly sequence: number;
  readonly identity: Buffer;
  /** How many of the tenant's deliveries are in no segment. */
  readonly unsegmented: number;
  /** An upper bound of the number of its terms. */
  readonly terms: number;
};

const MIN_WRITES = 64;
/** A delivery may have tens of thousands of terms: one transaction writes no more than this. */
const MAX_WRITES = 8192;
const CATCH_UP_WRITES = 1024;

/**
 * Keeps both indexes, of identities and of filter terms, in step with the deliveries. Each transaction writes a few
 * entries of both, in the order of their tables. The work does not depend on the number of tenants.
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

  /** Returns the sequence of the tenant's delivery that has this identity. */
  find(tenant: number, identity: Buffer): number | null {
    return this.#identities.find(tenant, identity);
  }

  /** Each sequence is one above the tenant's last. */
  add({ tenant, sequence, identity, unsegmented, terms }: Added): void {
    this.#identities.add(tenant, sequence, identity);
    this.#segmentBuilder.added(tenant, unsegmented, terms);
    this.#owedIdentities += 1;
    // One step more than there are terms, since the builder reads the delivery.
    this.#owedTerms += terms + 1;
  }

  /** Removes an identity. Must run in a transaction. */
  drop(tenant: number, identity: Buffer): void {
    this.#identities.drop(tenant, identity);
  }

  /** Writes about as many entries as were added since the last step. Must run in the transaction that added them. */
  step(): void {
    this.#identities.write(this.#owedIdentities + MIN_WRITES);
    this.#owedIdentities = 0;
    const due = Math.min(this.#owedTerms, MAX_WRITES);
    this.#segmentBuilder.write(due + MIN_WRITES);
    this.#owedTerms -= due;
  }

  /** Whether a segment is due. If no more deliveries arrive, only `catchUp` builds it. */
  get isBehind(): boolean {
    return this.#segmentBuilder.isDue;
  }

  /** Builds a part of the segments that are due. Must run in a transaction. */
  catchUp(): void {
    this.#segmentBuilder.write(CATCH_UP_WRITES);
  }
}
