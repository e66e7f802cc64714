import type { DatabaseSync } from 'node:sqlite';
import { UnstorableError } from '../../log/errors.ts';
import { Fingerprints, fingerprintOf } from '../fingerprint.ts';
import { identityOf } from '../identity.ts';
import { mostTermsOf } from '../index/index-terms.ts';
import type { Indexer } from '../index/indexer.ts';
import { MAX_SEQUENCE, MAX_TENANT } from '../schema.ts';
import { isRowFault } from '../worker/errors.ts';
import type { UnpackedRow } from '../worker/packing.ts';
import type { Placed } from '../worker/protocol.ts';
import type { RetentionTrimmer } from './retention.ts';

type End = {
  readonly id: number;
  head: number;
  /** Deliveries up to here are in segments, or trimmed. */
  readonly segmented: number;
  readonly floor: number;
};

const END = 'id, head, floor, max(indexed, floor) AS segmented';

/** Puts deliveries at the end of their tenants' sequences. Belongs into a transaction. */
export class Appender {
  readonly #indexer: Indexer;
  readonly #fingerprints: Fingerprints;
  readonly #trimming: RetentionTrimmer;
  readonly #tenant;
  readonly #addTenant;
  readonly #insert;
  readonly #raiseHead;

  constructor(database: DatabaseSync, indexer: Indexer, trimming: RetentionTrimmer) {
    this.#indexer = indexer;
    this.#trimming = trimming;
    this.#fingerprints = new Fingerprints(database);
    this.#tenant = database.prepare(`SELECT ${END} FROM tenant WHERE name = ?`);
    this.#addTenant = database.prepare(
      `INSERT INTO tenant (name) SELECT ? WHERE (SELECT ifnull(max(id), 0) FROM tenant) < ${MAX_TENANT}
       RETURNING ${END}`,
    );
    this.#insert = database.prepare(
      `INSERT INTO delivery
         (id, webhook, type, chain, received, dispatched, attempt, identity, addresses, body)
       VALUES (? << 40 | ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#raiseHead = database.prepare('UPDATE tenant SET head = ? WHERE id = ?');
  }

  append(rows: readonly UnpackedRow[]): Placed {
    const ends = new Map<string, End>();
    const placed = { sequences: [] as (number | string)[], fingerprints: [] as (number | null)[] };
    for (const row of rows) {
      const { sequence, fingerprint } = this.#append(row, ends);
      placed.sequences.push(sequence);
      placed.fingerprints.push(fingerprint);
    }
    for (const { id, head, floor } of ends.values()) {
      this.#raiseHead.run(head, id);
      this.#trimming.observeCount(id, head - floor);
    }
    this.#indexer.step();
    return placed;
  }

  #append(
    row: UnpackedRow,
    ends: Map<string, End>,
  ): { sequence: number | string; fingerprint: number | null } {
    const identity = identityOf(row.identity);
    try {
      const end = this.#endOf(row.tenant, ends);
      const first = this.#indexer.find(end.id, identity);
      if (first !== null) return { sequence: -first, fingerprint: this.#fingerprints.at(end.id, first) };
      this.#insertAt(end, row, identity);
      return { sequence: end.head, fingerprint: fingerprintOf(identity, row.receivedAt) };
    } catch (error) {
      if (isRowFault(error)) return { sequence: error.message, fingerprint: null };
      throw error;
    }
  }

  #insertAt(end: End, row: UnpackedRow, identity: Buffer): void {
    const { webhookId, type, chainId, addresses } = row;
    const sequence = end.head + 1;
    if (sequence > MAX_SEQUENCE)
      throw new UnstorableError(`a tenant has room for ${MAX_SEQUENCE} deliveries`);
    this.#insert.run(
      end.id,
      sequence,
      webhookId,
      type,
      chainId,
      row.receivedAt,
      row.dispatchedAt,
      row.attempt,
      identity,
      addresses,
      row.body,
    );
    end.head = sequence;
    if (sequence === end.floor + 1) this.#trimming.begun(end.id, row.receivedAt);
    this.#indexer.add({
      tenant: end.id,
      sequence,
      identity,
      unsegmented: sequence - end.segmented,
      terms: mostTermsOf(addresses),
    });
  }

  /** Read once a transaction and written once: a statement costs more than a row. */
  #endOf(tenant: string, ends: Map<string, End>): End {
    const known = ends.get(tenant);
    if (known) return known;
    const row = this.#tenant.get(tenant) ?? this.#addTenant.get(tenant);
    if (row === undefined) throw new UnstorableError(`the log has room for ${MAX_TENANT} tenants`);
    const { id, head, floor, segmented } = row;
    const end = { id: Number(id), head: Number(head), floor: Number(floor), segmented: Number(segmented) };
    ends.set(tenant, end);
    return end;
  }
}
