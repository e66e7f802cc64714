import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { LogOpenError, messageOf } from '../log/errors.ts';
import { inTransaction } from './transaction.ts';

/**
 * Version 1 had an index for each filter, and wrote them with each delivery. Version 2 had one `indexed` for both indexes,
 * and no `oldest`; the writer upgrades such a log when it opens it.
 */
const SCHEMA_VERSION = 3;

/**
 * 16 MB of log before it is put into its file: four times SQLite's default stores a fifth more deliveries a second, as
 * pages that change often are put there less often, and holds up those that wait for it by no more than about 50 ms.
 */
const CHECKPOINT_PAGES = 4000;

/** A delivery's id is its tenant's in the upper 23 of 63 bits, and its sequence in the lower 40. */
export const MAX_TENANT = 2 ** 23 - 1;
export const MAX_SEQUENCE = 2 ** 40 - 1;

/**
 * `floor` is the highest sequence that was trimmed: floor + 1 … head are what the tenant's log holds, without a hole.
 * Those up to `indexed` are in segments, see SegmentBuilder; those up to `identified` in `identity`, see IdentityIndex. `oldest`
 * is when the first one was received, or earlier while deliveries are being dropped; null without any. See RetentionTrimmer.
 *
 * A delivery's `id` is its tenant and its sequence in one, so that the table is in their order without an index.
 * `identity` is what makes a delivery a duplicate. The body comes last, so that a row's other columns are read without
 * its overflow pages.
 *
 * A segment is deliveries of one tenant that follow each other; `posting` has, for each term of a segment's deliveries,
 * those of them that it finds.
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
`;

const UPGRADE_FROM_2 = `
  ALTER TABLE tenant ADD COLUMN identified INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE tenant ADD COLUMN oldest INTEGER;
  UPDATE tenant SET identified = indexed,
    oldest = (SELECT received FROM delivery WHERE delivery.id = (tenant.id << 40 | floor + 1));
  CREATE INDEX tenant_oldest ON tenant (oldest) WHERE oldest IS NOT NULL;
  PRAGMA user_version = ${SCHEMA_VERSION}`;

/**
 * The last trimmed delivery of each tenant, so that a cursor of another delivery with that number is still refused. A log
 * of an earlier release gets this table without another version number: a release that does not know it ignores it.
 */
const TRIMMED = `
  CREATE TABLE IF NOT EXISTS trimmed (
    tenant INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL
  ) STRICT;
`;

/** Brings a log of an earlier release up to date. */
export const completeSchema = (database: DatabaseSync): void =>
  inTransaction(database, () => {
    database.exec(TRIMMED);
    if (versionOf(database) === 2) database.exec(UPGRADE_FROM_2);
  });

/** Opens the log's file to write, and where there is none, makes one if that is asked for. Throws LogOpenError. */
export const openDatabase = (path: string, create: boolean): DatabaseSync =>
  open(path, create, (database) => {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
       PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = 67108864;
       PRAGMA cache_size = -32768`,
    );
    const version = versionOf(database);
    if (version === 0 && create) createSchema(database);
    else if (version !== SCHEMA_VERSION && version !== 2)
      throw new Error(`its format is version ${version}, expected ${SCHEMA_VERSION}`);
  });

/** Opens a log that `openDatabase` has opened before. Throws LogOpenError. */
export const openForReading = (path: string): DatabaseSync =>
  open(path, false, (database) => database.exec('PRAGMA query_only = ON; PRAGMA cache_size = -16384'));

/** What makes this log's cursors its own. */
export const epochSeed = (database: DatabaseSync): Uint8Array => {
  const seed = database.prepare('SELECT epoch_seed FROM log').get()?.epoch_seed;
  if (!(seed instanceof Uint8Array)) throw new Error('the delivery log has lost its epoch');
  return seed;
};

const open = (path: string, create: boolean, prepare: (database: DatabaseSync) => void): DatabaseSync => {
  let database: DatabaseSync | undefined;
  try {
    // Ids pass 2^53 from tenant 8,192 on. Without this option, any statement that returns one throws, also through `run`.
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
