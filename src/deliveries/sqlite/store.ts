import type { DatabaseSync } from 'node:sqlite';
import { LogOpenError, messageOf } from '../errors.ts';
import { Appending } from './appending.ts';
import { completeSchema, epochSeed, openDatabase } from './database.ts';
import { Indexing } from './indexing.ts';
import { checkIntegrity } from './integrity.ts';
import { Tenants } from './tenants.ts';
import { Trimming } from './trimming.ts';

/** The writer's connection to the log's file, with all that is done over it. */
export class Store {
  readonly seed: Uint8Array;
  readonly tenants: Tenants;
  readonly appending: Appending;
  readonly trimming: Trimming;
  readonly #database: DatabaseSync;

  /** Throws LogOpenError; when the log is damaged, too, if it is to `check` that. */
  constructor(path: string, { check }: { readonly check: boolean }) {
    this.#database = openDatabase(path);
    if (check) this.#check(path);
    completeSchema(this.#database);
    this.seed = epochSeed(this.#database);
    this.tenants = new Tenants(this.#database);
    const indexing = new Indexing(this.#database);
    this.appending = new Appending(this.#database, indexing);
    this.trimming = new Trimming(this.#database, indexing);
  }

  /** Before anything is read of what may be damaged. */
  #check(path: string): void {
    try {
      checkIntegrity(this.#database, path);
    } catch (error) {
      this.#database.close();
      throw new LogOpenError(path, messageOf(error), error);
    }
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
