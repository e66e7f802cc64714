import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/**
 * The format of the log's file: its tables, and the number in `user_version` that names them. A change of the tables is a
 * higher number and a step in UPGRADES, so that a gateway opens the files of those before it.
 */
const FORMAT = 5;

/** Formats before this one were those of previews. */
const OLDEST_FORMAT = 3;

const OF_COPIES = `
  CREATE TABLE epoch (
    tenant INTEGER PRIMARY KEY,
    epoch BLOB NOT NULL
  ) STRICT;
  CREATE TABLE stored (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL
  ) STRICT;`;

/** What a repeat is found by. The chain is -1 where it is unknown. */
const IDENTITIES = `
  CREATE TABLE identity (
    tenant INTEGER NOT NULL,
    identity BLOB NOT NULL,
    chain INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (tenant, identity, chain)
  ) STRICT, WITHOUT ROWID;`;

/** What leads from each format to the next one. */
const UPGRADES: ReadonlyMap<number, string> = new Map([
  [3, `ALTER TABLE log ADD COLUMN fence TEXT; ${OF_COPIES}`],
  [
    4,
    // In the order of the new table, from one pass over the deliveries.
    `DROP TABLE identity; ${IDENTITIES}
     INSERT OR REPLACE INTO identity
     SELECT delivery.tenant, identity, ifnull(chain, -1) AS chain, sequence
     FROM delivery JOIN tenant ON tenant.id = delivery.tenant
     WHERE sequence <= identified ORDER BY 1, 2, 3, 4;`,
  ],
]);

/**
 * Table `tenant`: `floor` is the highest trimmed sequence. The log holds the sequences floor + 1 … head, without a hole.
 * Those up to `indexed` are in segments, see SegmentBuilder; those up to `identified` are in `identity`, see IdentityIndex.
 * `oldest` is when the first one was received, or earlier while deliveries are being dropped. It is null if there are
 * none. See SqliteTrimmer.
 *
 * Table `delivery`: `id` is the tenant and the sequence in one, so the table is in their order without an index. Deliveries
 * of a tenant with the same `identity` and `chain` are duplicates. The body comes last, so that the other columns are read without
 * its overflow pages.
 *
 * A segment is consecutive deliveries of one tenant. `posting` has one row for each term of a segment's deliveries: the
 * list of the deliveries that have it.
 *
 * Table `trimmed`: the last trimmed delivery of each tenant, so that a cursor of another delivery with that number is still
 * refused. Table `time`: the last time at which the clock was believed, in one row; `time_jump`: a jump of the clock since
 * that is not confirmed yet, see RetentionClock.
 *
 * Table `log`: `fence` is null unless the log was copied, or is an unfinished copy: see fence.ts. Table `epoch`: the epochs
 * of tenants that are not made from the log's seed, which a copy from Redis may bring. Table `stored`: when a delivery was
 * stored by the clock of Redis, if that was far from the gateway's, which a copy brings as well: retention goes by both.
 */
const SCHEMA = `
  CREATE TABLE log (epoch_seed BLOB NOT NULL, fence TEXT) STRICT;
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
  ${IDENTITIES}
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
  ${OF_COPIES}
`;

export const TABLES: readonly string[] = [...SCHEMA.matchAll(/CREATE TABLE (\w+)/g)].map(
  ([, name = '']) => name,
);

/** Makes the tables in a file that has none. */
export const createSchema = (database: DatabaseSync): void => {
  if (formatOf(database) !== 0) return;
  database.exec(`BEGIN IMMEDIATE; ${SCHEMA}`);
  database.prepare('INSERT INTO log (epoch_seed) VALUES (?)').run(randomBytes(32));
  database.exec(`PRAGMA user_version = ${FORMAT}; COMMIT`);
};

/** Throws for a file that this gateway can neither open nor upgrade. */
export const checkFormat = (database: DatabaseSync): void => {
  const format = formatOf(database);
  if (format > FORMAT)
    throw new Error(
      `expected a log in format ${FORMAT} or earlier, got format ${format}: a later version of the gateway has written it, so start that one`,
    );
  if (format < OLDEST_FORMAT)
    throw new Error(
      `expected a log in format ${OLDEST_FORMAT} to ${FORMAT}, got format ${format}, which has no upgrade: move the file away to start an empty log`,
    );
};

/** Throws for a file of any other format. */
export const checkCurrent = (database: DatabaseSync): void => {
  checkFormat(database);
  if (formatOf(database) < FORMAT)
    throw new Error(
      `expected a log in format ${FORMAT}, got format ${formatOf(database)}: start the gateway once, which upgrades it`,
    );
};

/** Upgrades a file of an earlier format in one transaction: a gateway that is killed meanwhile leaves it as it was. */
export const upgrade = (database: DatabaseSync): void => {
  for (let format = formatOf(database); format < FORMAT; format += 1)
    database.exec(
      `BEGIN IMMEDIATE; ${UPGRADES.get(format) ?? ''}; PRAGMA user_version = ${format + 1}; COMMIT`,
    );
};

const formatOf = (database: DatabaseSync): number =>
  Number(database.prepare('PRAGMA user_version').get()?.user_version);
