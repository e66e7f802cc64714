import {
  CursorExpiredError,
  InvalidCursorError,
  LogDamagedError,
  LogUnavailableError,
  messageOf,
  ReadAbortedError,
} from '../errors.ts';
import { isDamage } from './faults.ts';
import type { LogFile } from './log-file.ts';

/**
 * A connection that has failed may stay broken after its cause is gone: the next use makes a new one. Not where the log
 * is damaged: what is there may be another file, to which SQLite would put what the first one's is still to get.
 */
export class Reopening<Connection extends { readonly file: LogFile; close(): void }> {
  readonly #path: string;
  readonly #open: () => Connection;
  #connection: Connection | null = null;
  /** As it was when it was opened last. */
  #file: LogFile | null = null;
  #damage: LogDamagedError | null = null;

  constructor(path: string, open: () => Connection) {
    this.#path = path;
    this.#open = open;
  }

  /** Opens anew, whatever has failed before. Throws what `open` throws. */
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

  /** Throws LogDamagedError when the file that is there now is none to open without being asked. */
  checkFile(): void {
    this.#file?.checkBeforeReopening();
  }

  /**
   * Turns whatever fails into LogDamagedError or another LogUnavailableError, but what is wrong with a cursor, or was
   * given up.
   */
  use<Result>(work: (connection: Connection) => Result): Result {
    try {
      return work(this.#get());
    } catch (error) {
      throw this.#failed(error, this.#connection);
    }
  }

  async useFor<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
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

  /** `used` is closed, unless another has taken its place meanwhile. */
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
