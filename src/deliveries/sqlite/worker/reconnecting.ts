import {
  CursorExpiredError,
  InvalidCursorError,
  LogDamagedError,
  LogUnavailableError,
  messageOf,
  ReadAbortedError,
} from '../../log/errors.ts';
import type { LogFile } from '../log-file.ts';
import { isDamage } from './errors.ts';

/**
 * A connection that is replaced after a failure, since it may stay broken after the cause is gone: the next use opens
 * another. Once the log is found damaged, only `reopen` does. Another file may be in the log's place by then, and SQLite
 * would write the first file's `-wal` into it.
 */
export class ReconnectingDatabase<Connection extends { readonly file: LogFile; close(): void }> {
  readonly #path: string;
  readonly #open: () => Connection;
  #connection: Connection | null = null;
  /** The files that were opened last. */
  #file: LogFile | null = null;
  #damage: LogDamagedError | null = null;

  constructor(path: string, open: () => Connection) {
    this.#path = path;
    this.#open = open;
  }

  /** Opens another connection, also after damage. Throws what `open` throws. */
  reopen(open = this.#open): Connection {
    this.close();
    try {
      const connection = open();
      this.#connection = connection;
      this.#file = connection.file;
      this.#damage = null;
      return connection;
    } catch (error) {
      if (isDamage(error)) this.#damage = new LogDamagedError(messageOf(error), error);
      throw error;
    }
  }

  /** See `LogFile.checkBeforeReopening`. */
  checkFile(): void {
    this.#file?.checkBeforeReopening();
  }

  /**
   * Throws LogDamagedError, or another LogUnavailableError, when `work` fails. Errors about a cursor, and
   * ReadAbortedError, pass as they are.
   */
  withConnection<Result>(work: (connection: Connection) => Result): Result {
    try {
      return work(this.#get());
    } catch (error) {
      throw this.#failed(error, this.#connection);
    }
  }

  async withConnectionFor<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    let connection: Connection | null = null;
    try {
      connection = this.#get();
      return await work(connection);
    } catch (error) {
      throw this.#failed(error, connection);
    }
  }

  close(): void {
    const connection = this.#connection;
    this.#connection = null;
    connection?.close();
  }

  #get(): Connection {
    if (this.#damage !== null) throw this.#damage;
    if (this.#connection !== null) return this.#connection;
    this.checkFile();
    return this.reopen();
  }

  /** The error to throw. Closes `used`, unless another connection has replaced it meanwhile. */
  #failed(error: unknown, used: Connection | null): unknown {
    const isCallers =
      error instanceof InvalidCursorError ||
      error instanceof CursorExpiredError ||
      error instanceof ReadAbortedError;
    if (isCallers || error === this.#damage) return error;
    const isCurrent = this.#connection === used;
    if (isCurrent) this.close();
    const message = `${this.#path}: ${messageOf(error)}`;
    if (!isCurrent || !isDamage(error)) return new LogUnavailableError(message, error);
    this.#damage = new LogDamagedError(message, error);
    return this.#damage;
  }
}
