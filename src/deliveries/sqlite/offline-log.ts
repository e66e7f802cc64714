import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync, StatementResultingChanges } from 'node:sqlite';
import { messageOf } from '../../lib/errors.ts';
import { makeFolder } from '../../lib/folders.ts';
import { epochOf, identityPrefix, UNKNOWN } from '../log/cursor.ts';
import { LogOpenError } from '../log/errors.ts';
import { type Fence, writeFence } from '../log/fence.ts';
import type { OfflineLog, TenantLog, TenantReader, WholeDelivery } from '../log/offline-log.ts';
import type { KeptTime } from '../log/retention.ts';
import { type CopiedRow, WriteStore } from './appender.ts';
import {
  epochSeed,
  fenceOf,
  inTransaction,
  lockDirectory,
  MAX_SEQUENCE,
  MAX_TENANT,
  openBeside,
} from './database.ts';
import { checkCurrent } from './format.ts';
import { type Row, storedDelivery, writeAddresses } from './rows.ts';

/** What one call of `deliveries` reads at most. A body may have megabytes. */
const DELIVERIES_AT_ONCE = 256;
const BYTES_AT_ONCE = 4 * 1024 * 1024;

/**
 * Opens the log in a folder for work on all of it, and locks it against gateways until it is closed. The folder may be empty,
 * or missing where `create` is set. Rejects with LogOpenError, also while a gateway uses it.
 */
export const openOfflineSqliteLog = async (dataDir: string, create: boolean): Promise<OfflineLog> => {
  const path = join(dataDir, 'deliveries.db');
  try {
    if (create) await makeFolder(dataDir);
    else await access(path);
  } catch (error) {
    throw new LogOpenError(create ? dataDir : path, messageOf(error), error);
  }
  const unlock = lockDirectory(dataDir);
  try {
    return new OfflineSqliteLog(dataDir, new WriteStore(path, { create, check: true }), unlock);
  } catch (error) {
    unlock();
    throw error;
  }
};

/**
 * Opens the log in a folder to read tenants' deliveries, while a gateway may use it. Rejects with LogOpenError, also for a log in
 * an earlier format.
 */
export const readOfflineSqliteLog = async (dataDir: string): Promise<TenantReader> => {
  const path = join(dataDir, 'deliveries.db');
  const database = openBeside(path);
  try {
    checkCurrent(database);
    return new SqliteTenantReader(dataDir, database);
  } catch (error) {
    database.close();
    throw new LogOpenError(path, messageOf(error), error);
  }
};

class SqliteTenantReader implements TenantReader {
  readonly name: string;
  readonly #database: DatabaseSync;
  readonly #tenant;
  readonly #rows;

  constructor(name: string, database: DatabaseSync) {
    this.name = name;
    this.#database = database;
    this.#tenant = this.#database.prepare(
      `SELECT id, head, floor, epoch,
         (SELECT fingerprint FROM trimmed WHERE trimmed.tenant = tenant.id AND sequence = floor) AS trimmed
       FROM tenant LEFT JOIN epoch ON epoch.tenant = tenant.id WHERE name = ?`,
    );
    this.#rows = this.#database.prepare(
      `SELECT delivery.*, stored.at FROM delivery LEFT JOIN stored ON stored.id = delivery.id
       WHERE delivery.id > (?1 << 40 | ?2) AND delivery.id <= (?1 << 40 | ${MAX_SEQUENCE})
       ORDER BY delivery.id LIMIT ${DELIVERIES_AT_ONCE}`,
    );
  }

  async tenant(tenant: string): Promise<TenantLog | null> {
    const row = this.#tenant.get(tenant);
    if (row === undefined) return null;
    const { head, floor, epoch, trimmed } = row;
    return {
      head: Number(head),
      floor: Number(floor),
      epoch: epoch instanceof Uint8Array ? Buffer.from(epoch) : epochOf(epochSeed(this.#database), tenant),
      trimmed: Number(trimmed ?? UNKNOWN),
    };
  }

  async deliveries(tenant: string, after: number): Promise<readonly WholeDelivery[]> {
    const id = this.#tenant.get(tenant)?.id ?? 0;
    const deliveries: WholeDelivery[] = [];
    let bytes = 0;
    for (const row of this.#rows.iterate(id, after)) {
      const delivery = deliveryOf(tenant, row);
      deliveries.push(delivery);
      bytes += delivery.body.byteLength;
      if (bytes >= BYTES_AT_ONCE) break;
    }
    return deliveries;
  }

  /** The tenant's id; null where it never had a delivery. */
  idOf(tenant: string): number | null {
    const id = this.#tenant.get(tenant)?.id;
    return id === undefined ? null : Number(id);
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

class OfflineSqliteLog extends SqliteTenantReader implements OfflineLog {
  readonly #store: WriteStore;
  readonly #database: DatabaseSync;
  readonly #unlock: () => void;

  constructor(name: string, store: WriteStore, unlock: () => void) {
    super(name, store.database);
    this.#store = store;
    this.#database = store.database;
    this.#unlock = unlock;
    // A copy that a power cut shortens stays fenced: it need not be synced before `flush`. What is deleted is overwritten.
    this.#database.exec('PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON');
  }

  async seed(): Promise<Buffer> {
    return Buffer.from(epochSeed(this.#database));
  }

  async fence(): Promise<Fence | null> {
    return fenceOf(this.#database);
  }

  async replaceFence(before: Fence | null, after: Fence | null): Promise<boolean> {
    const [from, to] = [before, after].map((fence) => fence && writeFence(fence));
    const replaced = this.#durably('UPDATE log SET fence = ? WHERE fence IS ?', to ?? null, from ?? null);
    return Number(replaced.changes) === 1;
  }

  async create(seed: Buffer, fence: Fence): Promise<void> {
    this.#durably('UPDATE log SET epoch_seed = ?, fence = ?', seed, writeFence(fence));
  }

  async renewEpochs(): Promise<void> {
    this.#transaction(() => {
      this.#run('UPDATE log SET epoch_seed = randomblob(32)');
      this.#run('DELETE FROM epoch');
    });
  }

  async *tenants(): AsyncGenerator<string> {
    const next = this.#database.prepare(
      'SELECT id, name FROM tenant WHERE id > ? AND head > 0 ORDER BY id LIMIT 1',
    );
    for (let row = next.get(0); row !== undefined; row = next.get(row.id ?? 0)) yield String(row.name);
  }

  /** The lock of the folder holds all tenants. */
  hold(tenant: string): Promise<TenantLog | null> {
    return this.tenant(tenant);
  }

  async release(): Promise<void> {}

  async begin(tenant: string, { floor, epoch, trimmed }: TenantLog): Promise<void> {
    this.#transaction(() => {
      const id = this.idOf(tenant) ?? this.#addTenant(tenant);
      this.#run(
        'UPDATE tenant SET head = ?2, floor = ?2, indexed = ?2, identified = ?2 WHERE id = ?1',
        id,
        floor,
      );
      this.#run('DELETE FROM trimmed WHERE tenant = ?', id);
      if (trimmed !== UNKNOWN) this.#run('INSERT INTO trimmed VALUES (?, ?, ?)', id, floor, trimmed);
      this.#run('DELETE FROM epoch WHERE tenant = ?', id);
      if (!epochOf(epochSeed(this.#database), tenant).equals(epoch))
        this.#run('INSERT INTO epoch VALUES (?, ?)', id, epoch);
    });
  }

  #addTenant(tenant: string): number | bigint {
    const id = this.#database.prepare('SELECT ifnull(max(id), 0) + 1 AS id FROM tenant').get()?.id;
    if (typeof id !== 'bigint' || id > MAX_TENANT)
      throw new LogOpenError(this.name, `the log has room for ${MAX_TENANT} tenants`);
    this.#run('INSERT INTO tenant (id, name) VALUES (?, ?)', id, tenant);
    return id;
  }

  async append(tenant: string, after: number, deliveries: readonly WholeDelivery[]): Promise<number> {
    const head = (await this.tenant(tenant))?.head ?? 0;
    if (head !== after) return head;
    return this.#transaction(() => this.#store.appender.copy(tenant, deliveries.map(rowOf)));
  }

  async drop(tenant: string): Promise<number> {
    const [id, log] = [this.idOf(tenant), await this.tenant(tenant)];
    if (id === null || log === null) return 0;
    while (this.#transaction(() => this.#store.trimmer.dropSome(id)));
    return log.head - log.floor;
  }

  async time(): Promise<KeptTime | null> {
    return this.#store.time();
  }

  async keepTime(time: KeptTime): Promise<void> {
    this.#transaction(() => this.#store.trimmer.keepTime(time));
  }

  async flush(): Promise<void> {
    while (this.#store.indexer.isBehind) this.#transaction(() => this.#store.indexer.catchUp());
    while (this.#store.shrinker.isDue) this.#transaction(() => this.#store.shrinker.step());
    this.#durably('UPDATE log SET fence = fence');
  }

  override async close(): Promise<void> {
    await super.close();
    this.#unlock();
  }

  /** What was written before is durable then, too: it is in the same `-wal` file. */
  #durably(sql: string, ...values: (string | Uint8Array | null)[]): StatementResultingChanges {
    this.#database.exec('PRAGMA synchronous = FULL');
    const result = this.#run(sql, ...values);
    this.#database.exec('PRAGMA synchronous = NORMAL');
    return result;
  }

  #run(sql: string, ...values: (string | number | bigint | Uint8Array | null)[]): StatementResultingChanges {
    return this.#database.prepare(sql).run(...values);
  }

  #transaction<Result>(work: () => Result): Result {
    return inTransaction(this.#database, work);
  }
}

const deliveryOf = (tenant: string, row: Row): WholeDelivery => {
  const { cursor: _, ...delivery } = storedDelivery(row, tenant, '');
  return { ...delivery, storedAt: row.at === null || row.at === undefined ? null : Number(row.at) };
};

const rowOf = (delivery: WholeDelivery): CopiedRow => {
  const identity = Buffer.concat([Buffer.from(identityPrefix(delivery.webhookId)), delivery.body]);
  return { ...delivery, addresses: writeAddresses(delivery), identity };
};
