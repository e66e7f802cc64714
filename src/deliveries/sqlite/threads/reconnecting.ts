import { messageOf } from '../../../lib/errors.ts';
import {
  CursorExpiredError,
  InvalidCursorError,
  LogDamagedError,
  LogUnavailableError,
  ReadAbortedError,
} from '../../log/errors.ts';
import type { LogFile } from '../database.ts';
import { isDamage } from './protocol.ts';

/**
 * Replaces a connection after a failure: the next use opens another one, since the failed one may stay broken after the
 * cause is gone. After damage, only `reopen` opens another. By then another file may be in the log's place, and SQLite
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

  /** Opens another connection, even after damage. Throws what `open` throws. */
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
   * Runs `work` on the connection. When it fails, throws LogDamagedError or another LogUnavailableError. Errors about a
   * cursor, and ReadAbortedError, pass unchanged.
   */
  withConnection<Result>(work: (connection: Connection) => Result): Result {
    try {
      return work(this.#get());
    } catch (error) {
      throw this.#failed(error, this.#connection);
    }
  }

  /** Does the same as `withConnection` for asynchronous work. */
  async withConnectionAsync<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
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

  /** Returns the error to throw. Closes the connection that failed, unless another one has replaced it meanwhile. */
  #failed(error: unknown, failed: Connection | null): unknown {
    const isCallers =
      error instanceof InvalidCursorError ||
      error instanceof CursorExpiredError ||
      error instanceof ReadAbortedError;
    if (isCallers || error === this.#damage) return error;
    const isCurrent = this.#connection === failed;
    if (isCurrent) this.close();
    const message = `${this.#path}: ${messageOf(error)}`;
    if (!isCurrent || !isDamage(error)) return new LogUnavailableError(message, error);
    this.#damage = new LogDamagedError(message, error);
    return this.#damage;
  }
}
