import type { DatabaseSync } from 'node:sqlite';
import { Appending } from './appending.ts';
import { openDatabase } from './database.ts';
import { Positions } from './positions.ts';
import { Reading } from './reading.ts';
import { Trimming } from './trimming.ts';

/** One connection to the log's file, with all that is done over it. */
export class Store {
  readonly positions: Positions;
  readonly appending: Appending;
  readonly reading: Reading;
  readonly trimming: Trimming;
  readonly #database: DatabaseSync;

  /** Throws LogOpenError. */
  constructor(path: string) {
    this.#database = openDatabase(path);
    this.positions = new Positions(this.#database);
    this.appending = new Appending(this.#database, this.positions);
    this.reading = new Reading(this.#database, this.positions);
    this.trimming = new Trimming(this.#database);
  }

  /** All of `work` durably, or nothing of it. */
  readonly transaction = <Result>(work: () => Result): Result => {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      // SQLite has rolled back by itself after some failures, such as a full disk.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  };

  close(): void {
    this.#database.close();
  }
}
