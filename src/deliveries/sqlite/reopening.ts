import {
  CursorExpiredError,
  InvalidCursorError,
  LogUnavailableError,
  messageOf,
  ReadAbortedError,
} from '../errors.ts';

/** A connection that has failed may stay broken after its cause is gone: the next use makes a new one. */
export class Reopening<Connection extends { close(): void }> {
  readonly #path: string;
  readonly #open: () => Connection;
  #connection: Connection | null = null;

  constructor(path: string, open: () => Connection) {
    this.#path = path;
    this.#open = open;
  }

  /** Throws what `open` throws. */
  get(): Connection {
    this.#connection ??= this.#open();
    return this.#connection;
  }

  /** Turns whatever fails into LogUnavailableError, but what is wrong with a cursor, or was given up. */
  use<Result>(work: (connection: Connection) => Result): Result {
    try {
      return work(this.get());
    } catch (error) {
      throw this.#failed(error, this.#connection);
    }
  }

  async useFor<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    let connection: Connection | null = null;
    try {
      connection = this.get();
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

  /** `used` is closed, unless another has taken its place meanwhile. */
  #failed(error: unknown, used: Connection | null): unknown {
    const isCallers =
      error instanceof InvalidCursorError ||
      error instanceof CursorExpiredError ||
      error instanceof ReadAbortedError;
    if (isCallers) return error;
    if (this.#connection === used) this.close();
    return new LogUnavailableError(`${this.#path}: ${messageOf(error)}`, error);
  }
}
