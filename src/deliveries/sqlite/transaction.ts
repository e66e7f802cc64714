import type { DatabaseSync } from 'node:sqlite';

/** Runs `work` in a transaction: all that it writes becomes durable, or nothing. */
export const inTransaction = <Result>(database: DatabaseSync, work: () => Result): Result => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite has rolled back by itself after some failures, such as a full disk.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
};
