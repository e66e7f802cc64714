import type { DatabaseSync } from 'node:sqlite';
import type { Steps } from '../../../lib/round-robin-scheduler.ts';
import { checkBody } from './row.ts';

/** Deliveries are read whole. Of the other tables, reading every row is enough to find pages that can't be read. */
const STATEMENTS = [
  'SELECT sequence, webhook, identity, body FROM delivery ORDER BY id',
  ...['log', 'tenant', 'trimmed', 'identity', 'segment', 'posting'].map((table) => `SELECT 1 FROM ${table}`),
];

/** Reads the whole log, a row a step. Throws when a part can't be read, or is not what was stored. */
export function* verify(database: DatabaseSync): Steps<void> {
  for (const statement of STATEMENTS) {
    for (const row of database.prepare(statement).iterate()) {
      if ('body' in row) checkBody(row);
      yield;
    }
  }
}
