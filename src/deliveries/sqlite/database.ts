import { type BigIntStats, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../lib/errors.ts';
import type { Steps } from '../../lib/time-slices.ts';
import { LogDamagedError, LogOpenError } from '../log/errors.ts';
import { type Fence, readFence } from '../log/fence.ts';
import { checkFormat, createSchema, TABLES } from './format.ts';
import { checkBody } from './rows.ts';
import { isDamage } from './threads/protocol.ts';

/**
 * Pages in the `-wal` file (16 MB) at which the writer copies all of them into the log's file after a commit, while whatever
 * waits for it waits for about 50 ms more. Checkpoints come before: only retention, large bodies and a reader's thread that
 * is slow or away let it grow to that. Beyond it are only pages that someone still reads, as a backup does.
 */
const CHECKPOINT_PAGES = 4000;

/**
 * Opens the log's file for writing, and makes it if it does not exist and `create` is set. It may be in an earlier format:
 * see `upgrade`. Throws LogOpenError, also for a format that can't be upgraded.
 */
export const openForWriting = (path: string, create: boolean): DatabaseSync =>
  open(path, create, (database) => {
    // A file can shrink only if that is said before its first table. In any other file this would write the header.
    if (Number(database.prepare('PRAGMA page_count').get()?.page_count) === 0)
      database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
       PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = 67108864;
       PRAGMA cache_size = -16384`,
    );
    if (create) createSchema(database);
    checkFormat(database);
  });

/** Opens a log that `openForWriting` has opened before. Throws LogOpenError. */
export const openForReading = (path: string): DatabaseSync =>
  open(path, false, (database) =>
    // Its checkpoints are synced, as the writer's are.
    database.exec('PRAGMA query_only = ON; PRAGMA synchronous = FULL; PRAGMA cache_size = -8192'),
  );

/** Opens a log, or a copy of one, beside a gateway that may use it. Throws LogOpenError. */
export const openBeside = (path: string): DatabaseSync => open(path, false, () => {});

/** Returns the random bytes that tell this log's cursors from those of any other log. Throws when they are missing. */
export const epochSeed = (database: DatabaseSync): Uint8Array => {
  const seed = database.prepare('SELECT epoch_seed FROM log').get()?.epoch_seed;
  if (!(seed instanceof Uint8Array)) throw new Error('the delivery log has lost its epoch');
  return seed;
};

/** What closes the log to gateways; null if nothing does. */
export const fenceOf = (database: DatabaseSync): Fence | null =>
  readFence(String(database.prepare('SELECT fence FROM log').get()?.fence ?? ''));

/** Returns the epochs of tenants that are not made from the seed. */
export const givenEpochs = (database: DatabaseSync): Map<string, Uint8Array> => {
  const rows = database
    .prepare('SELECT name, epoch FROM epoch JOIN tenant ON tenant.id = epoch.tenant')
    .all();
  return new Map(
    rows.flatMap(({ name, epoch }) => (epoch instanceof Uint8Array ? [[String(name), epoch]] : [])),
  );
};

/** Runs `work` in a transaction: either everything that it writes becomes durable, or nothing. */
export const inTransaction = <Result>(database: DatabaseSync, work: () => Result): Result => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // After some failures, such as a full disk, SQLite has rolled back by itself.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
};

/** How many pages could not be copied, because they are after those that someone else still reads; or what has failed. */
export type Checkpoint = { readonly left: number } | { readonly failure: unknown };

/** Returns the number of pages. Throws what has failed. */
export const leftBy = (checkpoint: Checkpoint): number => {
  if ('failure' in checkpoint) throw checkpoint.failure;
  return checkpoint.left;
};

/**
 * Returns a function that makes a checkpoint: it copies pages of the `-wal` file into the log's file. In mode RESTART it waits
 * for others, as long as the connection's timeout. The connection must be in no transaction, and can be used whether or not that succeeds. Throws only
 * when the log is damaged.
 */
export const checkpointOf = (database: DatabaseSync, mode: 'PASSIVE' | 'RESTART'): (() => Checkpoint) => {
  const statement = database.prepare(`PRAGMA wal_checkpoint(${mode})`);
  return () => {
    try {
      const { log, checkpointed } = statement.get() ?? {};
      return { left: Number(log) - Number(checkpointed) };
    } catch (failure) {
      if (isDamage(failure)) throw failure;
      return { failure };
    }
  };
};

const open = (path: string, create: boolean, prepare: (database: DatabaseSync) => void): DatabaseSync => {
  let database: DatabaseSync | undefined;
  try {
    // Ids pass 2^53 from tenant 8,192 on. Without BigInts, every statement that returns such an id throws, also `run`.
    database = new DatabaseSync(urlOf(path, create), { timeout: 100, readBigInts: true });
    prepare(database);
    return database;
  } catch (error) {
    database?.close();
    throw new LogOpenError(path, messageOf(error), error);
  }
};

const urlOf = (path: string, create: boolean): URL => {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', create ? 'rwc' : 'rw');
  return url;
};

/** A delivery's id has its tenant's id in the upper 23 of 63 bits, and its sequence in the lower 40. */
export const MAX_TENANT = 2 ** 23 - 1;
export const MAX_SEQUENCE = 2 ** 40 - 1;

const SQLITE_BUSY = 5;

/**
 * Locks the directory for this process, until the returned function is called or the process ends, however it ends. The
 * lock is the operating system's, on a database of its own that stays empty. Throws LogOpenError.
 */
export const lockDirectory = (directory: string): (() => void) => {
  const path = join(directory, 'deliveries.lock');
  let database: DatabaseSync | undefined;
  try {
    const lock = new DatabaseSync(path, { timeout: 0 });
    database = lock;
    lock.exec('BEGIN EXCLUSIVE');
    return () => lock.close();
  } catch (error) {
    database?.close();
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
    const problem = isBusy ? 'the delivery log is in use by another process' : messageOf(error);
    throw new LogOpenError(path, problem, error);
  }
};

/** SQLite's own file, and the two that it has beside it while it is open. */
const SUFFIXES = ['', '-wal', '-shm'];

/**
 * Watches the files of an open log. SQLite does not notice when they are deleted, replaced or cut: what it writes after
 * that is lost. A check takes a few microseconds.
 */
export class LogFile {
  readonly #path: string;
  readonly #pages;
  readonly #known = new Map<string, BigIntStats>();

  /** Must be made right after SQLite has opened the log: the files at `path` are taken to be the log's. */
  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#pages = database.prepare(
      'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
    );
    this.check();
  }

  /** Throws LogDamagedError when a file was deleted or replaced, or the log's own file was cut. */
  check(): void {
    for (const suffix of SUFFIXES) this.#check(suffix);
  }

  /** The bytes of all files. */
  bytes(): number {
    return SUFFIXES.reduce((sum, suffix) => sum + Number(statOf(this.#path + suffix)?.size ?? 0n), 0);
  }

  /**
   * Throws LogDamagedError when the log must not be opened again by its path. The newest deliveries are in the `-wal` file
   * and belong to the first file: SQLite would write them into any other file in its place.
   */
  checkBeforeReopening(): void {
    const [found, wal] = ['', '-wal'].map((suffix) => statOf(this.#path + suffix));
    if (found?.ino !== this.#known.get('')?.ino && (wal?.size ?? 0n) > 0n)
      throw new LogDamagedError(
        `another file is in the place of ${this.#path}, beside what was still to be written to the first: stop the gateway`,
      );
  }

  #check(suffix: string): void {
    const path = this.#path + suffix;
    const found = statOf(path);
    const known = this.#known.get(suffix);
    if (known !== undefined) {
      if (found === undefined) throw new LogDamagedError(`${path} is gone`);
      if (found.ino !== known.ino || found.dev !== known.dev)
        throw new LogDamagedError(`another file is in the place of ${path}`);
      // The two files beside the log's own become smaller at any time.
      if (suffix === '' && found.size < known.size && !this.#isWhole(found.size))
        throw new LogDamagedError(`${path} was cut from ${known.size} to ${found.size} bytes`);
    }
    if (found !== undefined) this.#known.set(suffix, found);
  }

  /** Whether the log's own file has all pages that are not in the `-wal` file: then it is the log that has shrunk. */
  #isWhole(size: bigint): boolean {
    const wal = statOf(`${this.#path}-wal`)?.size ?? 0n;
    const bytes = this.#pages.get()?.bytes;
    return typeof bytes === 'bigint' && size + wal >= bytes;
  }
}

const statOf = (path: string): BigIntStats | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false });

/** SQLite checks about 500 MB a second: the check of a bigger log would delay the gateway's start for too long. */
const CHECK_ALL_BYTES = 512 * 1024 * 1024;

const OF_TENANT = `delivery.id BETWEEN tenant.id << 40 AND (tenant.id << 40 | ${MAX_SEQUENCE})`;

const COUNT = `(SELECT count(*) FROM delivery WHERE ${OF_TENANT})`;

/**
 * Finds a tenant whose sequences are not those from floor + 1 to head, without a hole. If `counting`, it counts them, which
 * reads the whole table. Otherwise it compares the first and the last, which takes almost no time.
 */
const wrongTenantSql = (counting: boolean) => `
  SELECT *, ${counting ? COUNT : 'highest - lowest + 1'} AS count FROM (
    SELECT id, name, floor, head,
      (SELECT min(id) FROM delivery WHERE ${OF_TENANT}) & 0xFFFFFFFFFF AS lowest,
      (SELECT max(id) FROM delivery WHERE ${OF_TENANT}) & 0xFFFFFFFFFF AS highest
    FROM tenant
  ) AS tenant
  WHERE ifnull(count, 0) <> head - floor OR lowest <= floor OR highest > head
  LIMIT 1`;

/**
 * Checks the log at `path` before it is used. Throws LogDamagedError when a tenant lacks a delivery, or has one that it
 * should not have. In a file up to 512 MB it also checks all pages and counts all deliveries. In a bigger one it checks
 * each tenant's first and last delivery; a read finds a broken page then.
 */
export const checkIntegrity = (database: DatabaseSync, path: string): void => {
  const checksAll = statSync(path).size <= CHECK_ALL_BYTES;
  if (checksAll) {
    const found = database.prepare('PRAGMA quick_check(1)').get()?.quick_check;
    if (found !== 'ok') throw damaged(String(found));
  }
  const wrong = database.prepare(wrongTenantSql(checksAll)).get();
  if (wrong)
    throw damaged(
      `of ${wrong.name} it should hold ${Number(wrong.floor) + 1} to ${wrong.head}, ` +
        `found ${wrong.count} from ${wrong.lowest} to ${wrong.highest}`,
    );
};

const damaged = (problem: string) =>
  new LogDamagedError(
    `the delivery log is damaged (${problem}). Nothing of it was changed; restore a copy, or move the file away to start an empty log`,
  );

const VERIFY_DELIVERIES = 'SELECT sequence, webhook, identity, body FROM delivery ORDER BY id';

/** In the other tables it is enough to read each row: that finds all pages that can't be read. */
const VERIFY_OTHERS = TABLES.filter((table) => table !== 'delivery').map((table) => `SELECT 1 FROM ${table}`);

/** Reads the whole log, one row a step. Throws when a part can't be read, or a body is not the one that was stored. */
export function* verify(database: DatabaseSync): Steps<void> {
  for (const sql of [VERIFY_DELIVERIES, ...VERIFY_OTHERS]) {
    for (const row of database.prepare(sql).iterate()) {
      if ('body' in row) checkBody(row);
      yield;
    }
  }
}
