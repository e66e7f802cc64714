import type { DatabaseSync } from 'node:sqlite';
import { LogOpenError, messageOf } from '../../log/errors.ts';
import { Indexer } from '../index/indexer.ts';
import { checkIntegrity } from '../integrity.ts';
import { LogFile } from '../log-file.ts';
import { Tenants } from '../read/tenants.ts';
import { completeSchema, epochSeed, openDatabase } from '../schema.ts';
import { inTransaction } from '../transaction.ts';
import { Appender } from './appender.ts';
import { RetentionTrimmer } from './retention.ts';

/** The writer's connection to the log's file, with all that is done over it. */
export class WriteStore {
  readonly seed: Uint8Array;
  readonly tenants: Tenants;
  readonly indexer: Indexer;
  readonly appending: Appender;
  readonly trimming: RetentionTrimmer;
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
      this.indexer = new Indexer(this.#database);
      this.trimming = new RetentionTrimmer(this.#database, this.indexer);
      this.appending = new Appender(this.#database, this.indexer, this.trimming);
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
