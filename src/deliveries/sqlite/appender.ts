import { rmSync, writeFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../lib/errors.ts';
import { fingerprintOf, identityOf, UNKNOWN } from '../log/cursor.ts';
import { LogOpenError, UnstorableError } from '../log/errors.ts';
import type { Fence } from '../log/fence.ts';
import type { KeptTime } from '../log/retention.ts';
import {
  type Checkpoint,
  checkIntegrity,
  checkpointOf,
  epochSeed,
  fenceOf,
  givenEpochs,
  inTransaction,
  LogFile,
  MAX_SEQUENCE,
  MAX_TENANT,
  openForWriting,
} from './database.ts';
import { upgrade } from './format.ts';
import { Indexer } from './indexer.ts';
import { keptTime, SqliteTrimmer } from './retention.ts';
import { Fingerprints } from './rows.ts';
import { maxTermsOf } from './segment-builder.ts';
import { Shrinker } from './shrinker.ts';
import type { Placement, UnpackedDelivery } from './threads/packing.ts';
import { type Head, isRowFault } from './threads/protocol.ts';

type TenantState = {
  readonly id: number;
  head: number;
  /** The head when the transaction began. */
  readonly before: number;
  readonly floor: number;
  /** Deliveries up to this sequence are in segments, or trimmed. */
  readonly segmented: number;
};

const TENANT_STATE = 'id, head, floor, max(indexed, floor) AS segmented';

/** A delivery of another log. `storedAt` is its time by that log's own clock, if that was far from the gateway's. */
export type CopiedRow = UnpackedDelivery & { readonly storedAt: number | null };

/** Appends deliveries to their tenants' sequences. Must run in a transaction. */
class Appender {
  readonly #indexer: Indexer;
  readonly #fingerprints: Fingerprints;
  readonly #trimmer: SqliteTrimmer;
  readonly #tenant;
  readonly #addTenant;
  readonly #insert;
  readonly #insertStored;
  readonly #raiseHead;

  constructor(database: DatabaseSync, indexer: Indexer, trimmer: SqliteTrimmer) {
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
    this.#insertStored = database.prepare('INSERT INTO stored VALUES (? << 40 | ?, ?)');
    this.#raiseHead = database.prepare('UPDATE tenant SET head = ? WHERE id = ?');
  }

  /** Returns the placement of each delivery, in their order. */
  append(deliveries: readonly UnpackedDelivery[]): Placement[] {
    const tenants = new Map<string, TenantState>();
    const placements = deliveries.map((delivery) => this.#append(delivery, tenants));
    this.#finish(tenants);
    return placements;
  }

  #finish(tenants: ReadonlyMap<string, TenantState>): void {
    for (const { id, head, floor, before } of tenants.values()) {
      this.#raiseHead.run(head, id);
      this.#trimmer.observeCount(id, head - floor, head - before);
    }
    this.#indexer.step();
  }

  #append(delivery: UnpackedDelivery, tenants: Map<string, TenantState>): Placement {
    const identity = identityOf(delivery.identity);
    try {
      const tenant = this.#stateOf(delivery.tenant, tenants);
      const original = this.#indexer.find({ tenant: tenant.id, identity, chainId: delivery.chainId });
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

  /** Appends deliveries of another log as they are, even if two have the same body. Returns their tenant's head. */
  copy(tenantName: string, deliveries: readonly CopiedRow[]): number {
    const tenants = new Map<string, TenantState>();
    const tenant = this.#stateOf(tenantName, tenants);
    for (const delivery of deliveries)
      this.#insertAtHead(tenant, delivery, identityOf(delivery.identity), delivery.storedAt);
    this.#finish(tenants);
    return tenant.head;
  }

  #insertAtHead(
    tenant: TenantState,
    delivery: UnpackedDelivery,
    identity: Buffer,
    storedAt: number | null = null,
  ): void {
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
    if (storedAt !== null) this.#insertStored.run(tenant.id, sequence, storedAt);
    tenant.head = sequence;
    if (sequence === tenant.floor + 1)
      this.#trimmer.startedAt(tenant.id, Math.min(receivedAt, storedAt ?? receivedAt));
    this.#indexer.add({
      tenant: tenant.id,
      sequence,
      identity,
      chainId,
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
    const tenant = {
      id: Number(id),
      head: Number(head),
      before: Number(head),
      floor: Number(floor),
      segmented: Number(segmented),
    };
    tenants.set(name, tenant);
    return tenant;
  }
}

/** Reads each tenant with its newest delivery, or with its last trimmed one if retention has dropped all. */
const HEADS = `
  SELECT name, head, identity, received, fingerprint
  FROM tenant
  LEFT JOIN delivery ON delivery.id = (tenant.id << 40 | head)
  LEFT JOIN trimmed ON trimmed.tenant = tenant.id AND trimmed.sequence = head`;

/** No delivery has the id 0: tenants and sequences begin with 1. */
const INSERT_CHECK =
  "INSERT INTO delivery (id, received, identity, addresses, body) VALUES (0, 0, x'', '', x'')";
/** As large as a page of the log's file. */
const CHECK_CONTENT = Buffer.alloc(4096);

/** When the newest delivery was received, of the newest of each tenant. */
const NEWEST =
  'SELECT max(received) AS received FROM tenant JOIN delivery ON delivery.id = (tenant.id << 40 | head)';

/** The writer's connection to the log's file, with everything that writes over it. */
export class WriteStore {
  readonly seed: Uint8Array;
  readonly epochs: ReadonlyMap<string, Uint8Array>;
  readonly fence: Fence | null;
  readonly indexer: Indexer;
  readonly appender: Appender;
  readonly trimmer: SqliteTrimmer;
  readonly shrinker: Shrinker;
  readonly checkpoint: () => Checkpoint;
  readonly file: LogFile;
  readonly database: DatabaseSync;
  readonly #path: string;

  /** Throws LogOpenError. With `check`, it refuses a damaged log before it reads or writes anything else. */
  constructor(path: string, { create, check }: { readonly create: boolean; readonly check: boolean }) {
    this.database = openForWriting(path, create);
    this.#path = path;
    try {
      if (check) checkIntegrity(this.database, path);
      upgrade(this.database);
      this.seed = epochSeed(this.database);
      this.epochs = givenEpochs(this.database);
      this.fence = fenceOf(this.database);
      this.indexer = new Indexer(this.database);
      this.trimmer = new SqliteTrimmer(this.database, this.indexer);
      this.appender = new Appender(this.database, this.indexer, this.trimmer);
      this.shrinker = new Shrinker(this.database);
      this.checkpoint = checkpointOf(this.database, 'RESTART');
      this.file = new LogFile(path, this.database);
    } catch (error) {
      this.database.close();
      throw new LogOpenError(path, messageOf(error), error);
    }
  }

  /** Returns the head of every tenant. One statement reads them all, however many tenants there are. */
  heads(): Head[] {
    const rows = this.database.prepare(HEADS).all();
    return rows.map(({ name, head, identity, received, fingerprint }): Head => {
      const isStored = identity instanceof Uint8Array;
      const known = isStored ? fingerprintOf(identity, Number(received)) : Number(fingerprint ?? UNKNOWN);
      return [String(name), Number(head), known];
    });
  }

  /**
   * A time that has come for certain: the one that the log has kept, or when its newest delivery was received; null without
   * either.
   */
  time(): KeptTime | null {
    const kept = keptTime(this.database);
    if (kept !== null) return kept;
    const newest = this.database.prepare(NEWEST).get()?.received;
    return newest === null || newest === undefined ? null : { now: Number(newest), jump: null };
  }

  /** Runs `work` in a transaction. Throws LogDamagedError when the log's file was deleted, replaced or cut. */
  readonly transaction = <Result>(work: () => Result): Result => {
    this.file.check();
    const result = inTransaction(this.database, work);
    this.file.check();
    return result;
  };

  /**
   * Throws when a delivery can't be stored. Nothing is committed: the `-wal` file would have something to be written for as
   * long as readiness is asked, see `checkBeforeReopening`. So a file beside the log shows whether the disk takes more.
   */
  checkWritable(): void {
    this.file.check();
    this.database.exec('BEGIN IMMEDIATE');
    try {
      this.database.exec(INSERT_CHECK);
    } finally {
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
    }
    const path = `${this.#path}-check`;
    writeFileSync(path, CHECK_CONTENT, { flush: true, mode: 0o600 });
    rmSync(path);
  }

  close(): void {
    this.database.close();
  }
}
