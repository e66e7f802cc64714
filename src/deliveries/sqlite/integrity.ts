import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { LogDamagedError } from '../log/errors.ts';
import { MAX_SEQUENCE } from './schema.ts';

/** SQLite reads about 500 MB a second to check them: a bigger log would keep the gateway from starting for too long. */
const CHECK_ALL_BYTES = 512 * 1024 * 1024;

/**
 * Throws when the log at `path` is damaged: when what a tenant's log says that it holds is not what is there, or, of a
 * file up to 512 MB, any of its pages is not as it must be. Of a bigger one only the ends are looked at; a broken page is
 * found when it is read.
 */
export const checkIntegrity = (database: DatabaseSync, path: string): void => {
  const checksAll = statSync(path).size <= CHECK_ALL_BYTES;
  if (checksAll) {
    const found = database.prepare('PRAGMA quick_check(1)').get()?.quick_check;
    if (found !== 'ok') throw damaged(String(found));
  }
  const wrong = database.prepare(wrongTenant(checksAll)).get();
  if (wrong)
    throw damaged(
      `of ${wrong.name} it should hold ${Number(wrong.floor) + 1} to ${wrong.head}, ` +
        `found ${wrong.count} from ${wrong.lowest} to ${wrong.highest}`,
    );
};

/**
 * Numbers without a hole between floor and head: as many as there should be, and none outside. Counting them reads all
 * that the log holds; that the first and the last are there is seen at once.
 */
const wrongTenant = (counting: boolean) => `
  SELECT *, ${counting ? COUNT : 'highest - lowest + 1'} AS count FROM (
    SELECT id, name, floor, head,
      (SELECT min(id) FROM delivery WHERE ${OF_TENANT}) & 0xFFFFFFFFFF AS lowest,
      (SELECT max(id) FROM delivery WHERE ${OF_TENANT}) & 0xFFFFFFFFFF AS highest
    FROM tenant
  ) AS tenant
  WHERE ifnull(count, 0) <> head - floor OR lowest <= floor OR highest > head
  LIMIT 1`;

const OF_TENANT = `delivery.id BETWEEN tenant.id << 40 AND (tenant.id << 40 | ${MAX_SEQUENCE})`;

const COUNT = `(SELECT count(*) FROM delivery WHERE ${OF_TENANT})`;

const damaged = (problem: string) =>
  new LogDamagedError(
    `the delivery log is damaged (${problem}). Nothing of it was changed; restore a copy, or move the file away to start an empty log`,
  );
