import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** SQLite reads about 500 MB a second to check them: a bigger log would keep the gateway from starting for too long. */
const CHECK_ALL_BYTES = 512 * 1024 * 1024;

/**
 * Throws when the log at `path` is damaged: when what a tenant's log says that it holds is not what is there, or, of a
 * file up to 512 MB, any of its pages is not as it must be. Of a bigger one a broken page is found when it is read.
 */
export function checkIntegrity(database: DatabaseSync, path: string): void {
  if (statSync(path).size <= CHECK_ALL_BYTES) {
    const found = database.prepare('PRAGMA quick_check(1)').get()?.quick_check;
    if (found !== 'ok') throw damaged(String(found));
  }
  const wrong = database.prepare(WRONG_TENANT).get();
  if (wrong)
    throw damaged(
      `of ${wrong.name} it should hold ${Number(wrong.floor) + 1} to ${wrong.head}, ` +
        `found ${wrong.count} from ${wrong.lowest} to ${wrong.highest}`,
    );
}

/** Numbers without a hole between floor and head: as many as there should be, and none outside. */
const WRONG_TENANT = `
  SELECT name, floor, head, count, lowest, highest
  FROM tenant LEFT JOIN (
    SELECT tenant, count(*) AS count, min(sequence) AS lowest, max(sequence) AS highest
    FROM delivery GROUP BY tenant
  ) ON tenant = id
  WHERE ifnull(count, 0) <> head - floor OR lowest <= floor OR highest > head
  LIMIT 1`;

const damaged = (complaint: string) =>
  new Error(
    `the delivery log is damaged (${complaint}). Nothing of it was changed; restore a copy, or move the file away to start an empty log`,
  );
