/**
 * The tables of the log's file, as SQL.
 *
 * Version 1 had an index for each filter, and wrote them with each delivery. Version 2 had one column `indexed` for both
 * indexes, and no column `oldest`; the writer upgrades such a log when it opens it.
 */
export const SCHEMA_VERSION = 3;

/** A delivery's id has its tenant's id in the upper 23 of 63 bits, and its sequence in the lower 40. */
export const MAX_TENANT = 2 ** 23 - 1;
export const MAX_SEQUENCE = 2 ** 40 - 1;

/**
 * Table `tenant`: `floor` is the highest trimmed sequence. The log holds the sequences floor + 1 … head, without a hole.
 * Those up to `indexed` are in segments, see SegmentBuilder; those up to `identified` are in `identity`, see IdentityIndex.
 * `oldest` is when the first one was received, or earlier while deliveries are being dropped. It is null if there are
 * none. See RetentionTrimmer.
 *
 * Table `delivery`: `id` is the tenant and the sequence in one, so the table is in their order without an index. Deliveries
 * of a tenant with the same `identity` are duplicates. The body comes last, so that the other columns are read without
 * its overflow pages.
 *
 * A segment is consecutive deliveries of one tenant. `posting` has one row for each term of a segment's deliveries: the
 * list of the deliveries that have it.
 */
export const SCHEMA = `
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

/** SQL that brings a log of version 2 to this version. */
export const UPGRADE_FROM_2 = `
  ALTER TABLE tenant ADD COLUMN identified INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE tenant ADD COLUMN oldest INTEGER;
  UPDATE tenant SET identified = indexed,
    oldest = (SELECT received FROM delivery WHERE delivery.id = (tenant.id << 40 | floor + 1));
  CREATE INDEX tenant_oldest ON tenant (oldest) WHERE oldest IS NOT NULL;
  PRAGMA user_version = ${SCHEMA_VERSION}`;

/**
 * Table `trimmed`: the last trimmed delivery of each tenant, so that a cursor of another delivery with that number is still
 * refused. Table `time`: the last time at which the clock was believed, in one row; `time_jump`: a jump of
 * the clock since that is not confirmed yet, see RetentionClock. A log of an earlier
 * release gets these tables without another version number: a release that does not know them ignores them.
 */
export const ADDED_TABLES = `
  CREATE TABLE IF NOT EXISTS trimmed (
    tenant INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS time (
    id INTEGER PRIMARY KEY,
    now INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS time_jump (
    id INTEGER PRIMARY KEY,
    expected INTEGER NOT NULL,
    wall INTEGER NOT NULL,
    even INTEGER NOT NULL
  ) STRICT;
`;
