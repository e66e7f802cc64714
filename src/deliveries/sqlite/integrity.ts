import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Steps } from '../../lib/scheduling/round-robin-scheduler.ts';
import { LogDamagedError } from '../log/errors.ts';
import { checkBody } from './row.ts';
import { MAX_SEQUENCE } from './schema.ts';

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
const VERIFY_OTHERS = ['log', 'tenant', 'trimmed', 'identity', 'segment', 'posting', 'time'].map(
  (table) => `SELECT 1 FROM ${table}`,
);

/** Reads the whole log, one row a step. Throws when a part can't be read, or a body is not the one that was stored. */
export function* verify(database: DatabaseSync): Steps<void> {
  for (const sql of [VERIFY_DELIVERIES, ...VERIFY_OTHERS]) {
    for (const row of database.prepare(sql).iterate()) {
      if ('body' in row) checkBody(row);
      yield;
    }
  }
}
