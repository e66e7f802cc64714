import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { WriteStore } from '../../../src/deliveries/sqlite/appender.ts';

/** Tenants `t1`, `t2`, … with `each` deliveries each, none of them in a segment yet. */
type Stored = { readonly tenants: number; readonly each: number; readonly receivedAt?: number };

/**
 * Creates a log with many deliveries in one transaction. The nth of a tenant concerns the address that ends in n, and has
 * the chain n % 8 + 1. Even ones have the type balances, odd ones the type activities.
 */
export const storeMany = (
  dataDir: string,
  { tenants, each, receivedAt = Date.now() }: Stored,
): DatabaseSync => {
  const path = join(dataDir, 'deliveries.db');
  new WriteStore(path, { create: true, check: false }).close();
  const database = new DatabaseSync(path);
  database.function('identity_of', (body) => hash('sha256', `\n${body}`, 'buffer').subarray(0, 16));
  database.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${tenants})
      INSERT INTO tenant (id, name, head, identified, oldest)
      SELECT n, 't' || n, ${each}, ${each}, ${receivedAt} FROM number;
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${each}),
        stored (n, body) AS (SELECT n, printf('{"number":%d}', n) FROM number),
        identified (n, body, identity) AS MATERIALIZED (SELECT n, body, identity_of(body) FROM stored)
      INSERT INTO delivery (id, webhook, type, chain, received, dispatched, attempt, identity, addresses, body)
      SELECT tenant.id << 40 | n, NULL, iif(n % 2, 'activities', 'balances'), n % 8 + 1, ${receivedAt}, NULL, 0,
        identity, printf('0x%040x', n), CAST(body AS BLOB)
      FROM tenant CROSS JOIN identified;
    INSERT INTO identity SELECT tenant, identity, chain, sequence FROM delivery ORDER BY tenant, identity;
    COMMIT`);
  return database;
};

/** Opens the file of a log, as another program does. */
export const openFile = (dataDir: string): DatabaseSync => new DatabaseSync(join(dataDir, 'deliveries.db'));

/** Runs SQL in the file of a log, as another program does. */
export const changeFile = (dataDir: string, sql: string): void => {
  using database = openFile(dataDir);
  database.exec(sql);
};

/** Removes a delivery from the file of a log. The returned function puts it back. */
export const loseDelivery = (dataDir: string, sequence: number): (() => void) => {
  const columns = 'id, webhook, type, chain, received, dispatched, attempt, identity, addresses, body';
  changeFile(
    dataDir,
    `CREATE TABLE lost AS SELECT * FROM delivery WHERE sequence = ${sequence};
     DELETE FROM delivery WHERE sequence = ${sequence}`,
  );
  return () =>
    changeFile(dataDir, `INSERT INTO delivery (${columns}) SELECT ${columns} FROM lost; DROP TABLE lost`);
};
