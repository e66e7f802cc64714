import type { DatabaseSync } from 'node:sqlite';
import { UnstorableError } from '../../log/errors.ts';
import { fingerprintOf, identityOf } from '../../log/identity.ts';
import { Fingerprints } from '../fingerprints.ts';
import type { Indexer } from '../index/indexer.ts';
import { maxTermsOf } from '../index/terms.ts';
import { MAX_SEQUENCE, MAX_TENANT } from '../schema.ts';
import { isRowFault } from '../worker/errors.ts';
import type { Placement, UnpackedDelivery } from '../worker/packing.ts';
import type { RetentionTrimmer } from './retention.ts';

type TenantState = {
  readonly id: number;
  head: number;
  readonly floor: number;
  /** Deliveries up to this sequence are in segments, or trimmed. */
  readonly segmented: number;
};

const TENANT_STATE = 'id, head, floor, max(indexed, floor) AS segmented';

/** Appends deliveries to their tenants' sequences. Must run in a transaction. */
export class Appender {
  readonly #indexer: Indexer;
  readonly #fingerprints: Fingerprints;
  readonly #trimmer: RetentionTrimmer;
  readonly #tenant;
  readonly #addTenant;
  readonly #insert;
  readonly #raiseHead;

  constructor(database: DatabaseSync, indexer: Indexer, trimmer: RetentionTrimmer) {
    this.#indexer = indexer;
    this.#trimmer = trimmer;
    this.#fingerprints = new Fingerprints(database);
    this.#tenant = database.prepare(`SELECT ${TENANT_STATE} FROM tenant WHERE name = ?`);
    this.#addTenant = database.prepare(
      `INSERT INTO tenant (name) SELECT ? WHERE (SELECT ifnull(max(id), 0) FROM tenant) < ${MAX_TENANT}
       RETURNING ${TENANT_STATE}`,
    );
    this.#insert = database.prepare(
      `INSERT INTO delivery
         (id, webhook, type, chain, received, dispatched, attempt, identity, addresses, body)
       VALUES (? << 40 | ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#raiseHead = database.prepare('UPDATE tenant SET head = ? WHERE id = ?');
  }

  /** Returns the placement of each delivery, in their order. */
  append(deliveries: readonly UnpackedDelivery[]): Placement[] {
    const tenants = new Map<string, TenantState>();
    const placements = deliveries.map((delivery) => this.#append(delivery, tenants));
    for (const { id, head, floor } of tenants.values()) {
      this.#raiseHead.run(head, id);
      this.#trimmer.observeCount(id, head - floor);
    }
    this.#indexer.step();
    return placements;
  }

  #append(delivery: UnpackedDelivery, tenants: Map<string, TenantState>): Placement {
    const identity = identityOf(delivery.identity);
    try {
      const tenant = this.#stateOf(delivery.tenant, tenants);
      const original = this.#indexer.find(tenant.id, identity);
      if (original !== null) {
        const fingerprint = this.#fingerprints.at(tenant.id, original);
        return { sequence: original, fingerprint, duplicate: true };
      }
      this.#insertAtHead(tenant, delivery, identity);
      const fingerprint = fingerprintOf(identity, delivery.receivedAt);
      return { sequence: tenant.head, fingerprint, duplicate: false };
    } catch (error) {
      if (isRowFault(error)) return { refusal: error.message };
      throw error;
    }
  }

  #insertAtHead(tenant: TenantState, delivery: UnpackedDelivery, identity: Buffer): void {
    const { webhookId, type, chainId, addresses, receivedAt } = delivery;
    const sequence = tenant.head + 1;
    if (sequence > MAX_SEQUENCE)
      throw new UnstorableError(`a tenant has room for ${MAX_SEQUENCE} deliveries`);
    this.#insert.run(
      tenant.id,
      sequence,
      webhookId,
      type,
      chainId,
      receivedAt,
      delivery.dispatchedAt,
      delivery.attempt,
      identity,
      addresses,
      delivery.body,
    );
    tenant.head = sequence;
    if (sequence === tenant.floor + 1) this.#trimmer.startedAt(tenant.id, receivedAt);
    this.#indexer.add({
      tenant: tenant.id,
      sequence,
      identity,
      unsegmented: sequence - tenant.segmented,
      terms: maxTermsOf(addresses),
    });
  }

  /** Reads a tenant once in a transaction, and `append` writes it once: a statement costs more than a row. */
  #stateOf(name: string, tenants: Map<string, TenantState>): TenantState {
    const known = tenants.get(name);
    if (known) return known;
    const row = this.#tenant.get(name) ?? this.#addTenant.get(name);
    if (row === undefined) throw new UnstorableError(`the log has room for ${MAX_TENANT} tenants`);
    const { id, head, floor, segmented } = row;
    const tenant = { id: Number(id), head: Number(head), floor: Number(floor), segmented: Number(segmented) };
    tenants.set(name, tenant);
    return tenant;
  }
}
