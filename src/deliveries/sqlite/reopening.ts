import { CursorExpiredError, InvalidCursorError, LogUnavailableError, messageOf } from '../errors.ts';

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

  /** Turns whatever fails, but what is wrong with a cursor, into LogUnavailableError. */
  use<Result>(work: (connection: Connection) => Result): Result {
    try {
      return work(this.get());
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async useFor<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.get());
    } catch (error) {
      throw this.#failed(error);
    }
  }

  close(): void {
    const connection = this.#connection;
    this.#connection = null;
    connection?.close();
  }

  #failed(error: unknown): unknown {
    if (error instanceof InvalidCursorError || error instanceof CursorExpiredError) return error;
    this.close();
    return new LogUnavailableError(`${this.#path}: ${messageOf(error)}`, error);
  }
}
