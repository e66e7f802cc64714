import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../lib/error-text.ts';
import { LogOpenError } from '../log/errors.ts';
import { ADDED_TABLES, SCHEMA, SCHEMA_VERSION, UPGRADE_FROM_2 } from './schema.ts';

/**
 * Pages in the `-wal` file at which SQLite copies them into the log's file: 16 MB, four times its default. Pages that change
 * often are copied less often, so a fifth more deliveries are stored a second. A copy delays waiting appends by at most
 * about 50 ms.
 */
const CHECKPOINT_PAGES = 4000;

/**
 * Opens the log's file for writing, and makes it if it does not exist and `create` is set. Throws LogOpenError, also for a
 * file of another format.
 */
export const openForWriting = (path: string, create: boolean): DatabaseSync =>
  open(path, create, (database) => {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
       PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = 67108864;
       PRAGMA cache_size = -16384`,
    );
    const version = versionOf(database);
    if (version === 0 && create) createSchema(database);
    else if (version !== SCHEMA_VERSION && version !== 2)
      throw new Error(`its format is version ${version}, expected ${SCHEMA_VERSION}`);
  });

/** Opens a log that `openForWriting` has opened before. Throws LogOpenError. */
export const openForReading = (path: string): DatabaseSync =>
  open(path, false, (database) => database.exec('PRAGMA query_only = ON; PRAGMA cache_size = -8192'));

/** Upgrades a log of an earlier release. */
export const upgradeSchema = (database: DatabaseSync): void =>
  inTransaction(database, () => {
    database.exec(ADDED_TABLES);
    if (versionOf(database) === 2) database.exec(UPGRADE_FROM_2);
  });

/** Returns the random bytes that tell this log's cursors from those of any other log. Throws when they are missing. */
export const epochSeed = (database: DatabaseSync): Uint8Array => {
  const seed = database.prepare('SELECT epoch_seed FROM log').get()?.epoch_seed;
  if (!(seed instanceof Uint8Array)) throw new Error('the delivery log has lost its epoch');
  return seed;
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

const createSchema = (database: DatabaseSync): void => {
  database.exec(`BEGIN IMMEDIATE; ${SCHEMA}`);
  database.prepare('INSERT INTO log (epoch_seed) VALUES (?)').run(randomBytes(32));
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
};

const versionOf = (database: DatabaseSync): number =>
  Number(database.prepare('PRAGMA user_version').get()?.user_version);
