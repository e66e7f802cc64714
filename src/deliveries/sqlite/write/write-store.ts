import type { DatabaseSync } from 'node:sqlite';
import { LogOpenError, messageOf } from '../../log/errors.ts';
import { Indexing } from '../index/indexer.ts';
import { checkIntegrity } from '../integrity.ts';
import { LogFile } from '../log-file.ts';
import { Tenants } from '../read/tenants.ts';
import { completeSchema, epochSeed, openDatabase } from '../schema.ts';
import { inTransaction } from '../transaction.ts';
import { Appending } from './appender.ts';
import { Trimming } from './retention.ts';

/** The writer's connection to the log's file, with all that is done over it. */
export class Store {
  readonly seed: Uint8Array;
  readonly tenants: Tenants;
  readonly indexing: Indexing;
  readonly appending: Appending;
  readonly trimming: Trimming;
  readonly #database: DatabaseSync;
  readonly file: LogFile;

  /** Throws LogOpenError. With `check`, a damaged log is refused before anything is read from it or written to it. */
  constructor(path: string, { create, check }: { readonly create: boolean; readonly check: boolean }) {
    this.#database = openDatabase(path, create);
    try {
      if (check) checkIntegrity(this.#database, path);
      completeSchema(this.#database);
      this.seed = epochSeed(this.#database);
      this.tenants = new Tenants(this.#database);
      this.indexing = new Indexing(this.#database);
      this.trimming = new Trimming(this.#database, this.indexing);
      this.appending = new Appending(this.#database, this.indexing, this.trimming);
      this.file = new LogFile(path);
    } catch (error) {
      this.#database.close();
      throw new LogOpenError(path, messageOf(error), error);
    }
  }

  /** Runs `work` in a transaction. Throws LogDamagedError when the log's file is not there any more. */
  readonly transaction = <Result>(work: () => Result): Result => {
    this.file.check();
    const result = inTransaction(this.#database, work);
    this.file.check();
    return result;
  };

  close(): void {
    this.#database.close();
  }
}
