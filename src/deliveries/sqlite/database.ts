import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../lib/values.ts';
import { LogOpenError } from '../log/errors.ts';

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
    else if (version !== SCHEMA_VERSION)
      throw new Error(`expected a log in format ${SCHEMA_VERSION}, got format ${version}`);
  });

/** Opens a log that `openForWriting` has opened before. Throws LogOpenError. */
export const openForReading = (path: string): DatabaseSync =>
  open(path, false, (database) => database.exec('PRAGMA query_only = ON; PRAGMA cache_size = -8192'));

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

/** The format of the log's file. */
const SCHEMA_VERSION = 3;

/** A delivery's id has its tenant's id in the upper 23 of 63 bits, and its sequence in the lower 40. */
export const MAX_TENANT = 2 ** 23 - 1;
export const MAX_SEQUENCE = 2 ** 40 - 1;

/**
 * Table `tenant`: `floor` is the highest trimmed sequence. The log holds the sequences floor + 1 … head, without a hole.
 * Those up to `indexed` are in segments, see SegmentBuilder; those up to `identified` are in `identity`, see IdentityIndex.
 * `oldest` is when the first one was received, or earlier while deliveries are being dropped. It is null if there are
 * none. See SqliteTrimmer.
 *
 * Table `delivery`: `id` is the tenant and the sequence in one, so the table is in their order without an index. Deliveries
 * of a tenant with the same `identity` are duplicates. The body comes last, so that the other columns are read without
 * its overflow pages.
 *
 * A segment is consecutive deliveries of one tenant. `posting` has one row for each term of a segment's deliveries: the
 * list of the deliveries that have it.
 *
 * Table `trimmed`: the last trimmed delivery of each tenant, so that a cursor of another delivery with that number is still
 * refused. Table `time`: the last time at which the clock was believed, in one row; `time_jump`: a jump of the clock since
 * that is not confirmed yet, see RetentionClock.
 */
const SCHEMA = `
  CREATE TABLE log (epoch_seed BLOB NOT NULL) STRICT;
  CREATE TABLE tenant (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    head INTEGER NOT NULL DEFAULT 0,
    floor INTEGER NOT NULL DEFAULT 0,
    indexed INTEGER NOT NULL DEFAULT 0,
    identified INTEGER NOT NULL DEFAULT 0,
    oldest INTEGER
  ) STRICT;
  CREATE INDEX tenant_oldest ON tenant (oldest) WHERE oldest IS NOT NULL;
  CREATE TABLE delivery (
    id INTEGER PRIMARY KEY,
    tenant INTEGER AS (id >> 40),
    sequence INTEGER AS (id & 0xFFFFFFFFFF),
    webhook TEXT,
    type TEXT,
    chain INTEGER,
    received INTEGER NOT NULL,
    dispatched INTEGER,
    attempt INTEGER,
    identity BLOB NOT NULL,
    addresses TEXT NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
  CREATE TABLE identity (
    tenant INTEGER NOT NULL,
    identity BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (tenant, identity)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE segment (
    tenant INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (tenant, first)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE posting (
    tenant INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    term TEXT NOT NULL,
    sequences BLOB NOT NULL,
    PRIMARY KEY (tenant, segment, term)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE trimmed (
    tenant INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE time (
    id INTEGER PRIMARY KEY,
    now INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE time_jump (
    id INTEGER PRIMARY KEY,
    expected INTEGER NOT NULL,
    wall INTEGER NOT NULL,
    even INTEGER NOT NULL
  ) STRICT;
`;
