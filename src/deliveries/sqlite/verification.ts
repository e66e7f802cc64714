import type { DatabaseSync } from 'node:sqlite';
import type { Steps } from '../../lib/fair-scheduler.ts';
import { checkBody } from './row.ts';

/** Of the delivery itself, all; of the rest, what takes every row to be read. */
const STATEMENTS = [
  'SELECT sequence, webhook, identity, body FROM delivery ORDER BY id',
  ...['log', 'tenant', 'trimmed', 'identity', 'segment', 'posting'].map((table) => `SELECT 1 FROM ${table}`),
];

/** Reads all that the log holds, a row at a time. Throws where it can't be read, or is not what was stored. */
export function* verify(database: DatabaseSync): Steps<void> {
  for (const statement of STATEMENTS) {
    for (const row of database.prepare(statement).iterate()) {
      if ('body' in row) checkBody(row);
      yield;
    }
  }
}
