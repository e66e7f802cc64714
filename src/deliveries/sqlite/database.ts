import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { LogOpenError, messageOf } from '../errors.ts';

const SCHEMA_VERSION = 1;

/**
 * 16 MB of log before it is put into its file: four times SQLite's default stores a fifth more deliveries a second, as
 * pages that change often are put there less often, and holds up those that wait for it by no more than about 50 ms.
 */
const CHECKPOINT_PAGES = 4000;

/**
 * `floor` is the highest sequence that was trimmed: floor + 1 … head are what the tenant's log holds, without a hole.
 * `identity` is what makes a delivery a duplicate. The body comes last, so that a row's other columns are read without
 * its overflow pages.
 */
const SCHEMA = `
  CREATE TABLE log (epoch_seed BLOB NOT NULL) STRICT;
  CREATE TABLE tenant (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    head INTEGER NOT NULL DEFAULT 0,
    floor INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE delivery (
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    sequence INTEGER NOT NULL,
    webhook TEXT,
    type TEXT,
    chain INTEGER,
    received INTEGER NOT NULL,
    dispatched INTEGER,
    attempt INTEGER,
    addresses TEXT NOT NULL,
    identity BLOB NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (tenant, sequence),
    UNIQUE (tenant, identity)
  ) STRICT;
  CREATE INDEX delivery_by_webhook ON delivery (tenant, webhook, sequence);
  CREATE INDEX delivery_by_type ON delivery (tenant, type, sequence);
  CREATE INDEX delivery_by_chain ON delivery (tenant, chain, sequence);
  CREATE TABLE address (
    tenant INTEGER NOT NULL,
    address BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (tenant, address, sequence)
  ) STRICT, WITHOUT ROWID;
`;

/** Opens the log's file to write, making it where there is none. Throws LogOpenError. */
export const openDatabase = (path: string): DatabaseSync =>
  open(path, (database) => {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
       PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = 67108864;
       PRAGMA cache_size = -32768`,
    );
    const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
    if (version === 0) createSchema(database);
    else if (version !== SCHEMA_VERSION) {
      throw new Error(`its format is version ${version}, expected ${SCHEMA_VERSION}`);
    }
  });

/** Opens a log that `openDatabase` has opened before. Throws LogOpenError. */
export const openForReading = (path: string): DatabaseSync =>
  open(path, (database) => database.exec('PRAGMA query_only = ON; PRAGMA cache_size = -16384'));

/** What makes this log's cursors its own. */
export function epochSeed(database: DatabaseSync): Uint8Array {
  const seed = database.prepare('SELECT epoch_seed FROM log').get()?.epoch_seed;
  if (!(seed instanceof Uint8Array)) throw new Error('the delivery log has lost its epoch');
  return seed;
}

function open(path: string, prepare: (database: DatabaseSync) => void): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 100 });
    prepare(database);
    return database;
  } catch (error) {
    database?.close();
    throw new LogOpenError(path, messageOf(error), error);
  }
}

function createSchema(database: DatabaseSync): void {
  database.exec(`BEGIN IMMEDIATE; ${SCHEMA}`);
  database.prepare('INSERT INTO log (epoch_seed) VALUES (?)').run(randomBytes(32));
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}
