import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  CursorExpiredError,
  InvalidCursorError,
  LogClosedError,
  LogOpenError,
  LogUnavailableError,
  messageOf,
} from './errors.ts';
import { AppendListeners } from './listeners.ts';
import type {
  Appended,
  DeliveryLog,
  DeliveryPage,
  DeliveryRange,
  NewDelivery,
  StoredDelivery,
} from './log.ts';
import { lockDirectory } from './sqlite/lock.ts';
import { Store } from './sqlite/store.ts';
import type { Retention } from './sqlite/trimming.ts';

export type SqliteLogOptions = {
  /** Made where there is none. One process at a time. */
  readonly dataDir: string;
  /** Deliveries older than this are dropped. */
  readonly retentionHours: number;
  /** Of each tenant, only so many of the newest are kept. */
  readonly retentionCount: number;
  /** Default: the system's clock. */
  readonly now?: (() => number) | undefined;
  /** Told when the trimming that the log does by itself fails; it tries again at the next turn. */
  readonly onTrimError?: ((error: unknown) => void) | undefined;
};

const TRIM_EVERY_MS = 10_000;
const HOUR_MS = 3_600_000;

/**
 * Opens the log that is kept in `dataDir`, and trims it. Rejects with LogOpenError when the directory can't be made
 * or written, another process uses it, or the file is none of ours.
 */
export async function openSqliteLog(options: SqliteLogOptions): Promise<DeliveryLog> {
  const { dataDir } = options;
  try {
    mkdirSync(dataDir, { recursive: true });
  } catch (error) {
    throw new LogOpenError(dataDir, messageOf(error), error);
  }
  const log = new SqliteLog(options, lockDirectory(dataDir));
  try {
    await log.trim();
    return log;
  } catch (error) {
    await log.close();
    throw new LogOpenError(dataDir, messageOf(error), error);
  }
}

type Waiting = {
  readonly batch: readonly NewDelivery[];
  readonly resolve: (appended: readonly Appended[]) => void;
  readonly reject: (error: LogUnavailableError) => void;
};

class SqliteLog implements DeliveryLog {
  readonly #path: string;
  readonly #retention: Retention;
  readonly #now: () => number;
  readonly #release: () => void;
  readonly #listeners = new AppendListeners();
  readonly #timer: NodeJS.Timeout;
  #store: Store | null;
  #waiting: Waiting[] = [];
  #closed = false;

  constructor(options: SqliteLogOptions, release: () => void) {
    this.#path = join(options.dataDir, 'deliveries.db');
    this.#retention = { maxAgeMs: options.retentionHours * HOUR_MS, maxCount: options.retentionCount };
    this.#now = options.now ?? Date.now;
    this.#release = release;
    try {
      this.#store = new Store(this.#path);
    } catch (error) {
      release();
      throw error;
    }
    this.#timer = setInterval(() => this.trim().catch(options.onTrimError ?? ignore), TRIM_EVERY_MS).unref();
  }

  /** What arrives within a turn of the event loop is one transaction: its one sync serves all of it. */
  append(batch: readonly NewDelivery[]): Promise<readonly Appended[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Appended[]>();
    if (this.#closed) reject(new LogClosedError());
    else {
      if (this.#waiting.length === 0) setImmediate(() => this.#commit());
      this.#waiting.push({ batch, resolve, reject });
    }
    return promise;
  }

  async read(tenant: string, range: DeliveryRange): Promise<DeliveryPage> {
    return await this.#attempt((store) => store.reading.page(tenant, range));
  }

  async get(tenant: string, cursor: string): Promise<StoredDelivery | null> {
    return await this.#attempt(({ positions, reading }) => {
      const sequence = positions.find(tenant, cursor);
      return sequence === null ? null : reading.get(tenant, sequence);
    });
  }

  async head(tenant: string): Promise<string> {
    return await this.#attempt(({ positions }) => positions.cursor(tenant, positions.extent(tenant).head));
  }

  async trim(): Promise<void> {
    const now = this.#now();
    for (const tenant of await this.#attempt(({ trimming }) => trimming.tenants())) {
      const trimBatch = ({ trimming, transaction }: Store) =>
        transaction(() => trimming.trimBatch(tenant, this.#retention, now));
      // Others have their turn between batches; a log that was closed meanwhile needs no more trimming.
      while (!this.#closed && (await this.#attempt(trimBatch))) await nextTurn();
    }
  }

  onAppend(tenant: string, listener: () => void): () => void {
    return this.#listeners.add(tenant, listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    clearInterval(this.#timer);
    this.#commit();
    this.#closed = true;
    this.#discardStore();
    this.#release();
    // Whoever waits for more shall find out that there won't be.
    this.#listeners.notifyAll();
  }

  #commit(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    try {
      const { appending, transaction } = this.#open();
      const answers = transaction(() =>
        waiting.map(({ batch }) => batch.map((one) => appending.append(one))),
      );
      for (const [index, { resolve }] of waiting.entries()) resolve(answers[index] ?? []);
    } catch (error) {
      const unavailable = this.#failed(error);
      for (const { reject } of waiting) reject(unavailable);
      return;
    }
    this.#listeners.notify(new Set(waiting.flatMap(({ batch }) => batch.map(({ tenant }) => tenant))));
  }

  async #attempt<Result>(work: (store: Store) => Result | Promise<Result>): Promise<Result> {
    if (this.#closed) throw new LogClosedError();
    try {
      return await work(this.#open());
    } catch (error) {
      if (error instanceof InvalidCursorError || error instanceof CursorExpiredError) throw error;
      throw this.#closed ? new LogClosedError() : this.#failed(error);
    }
  }

  #open(): Store {
    this.#store ??= new Store(this.#path);
    return this.#store;
  }

  /** A connection that has failed may stay broken after its cause is gone: the next call makes a new one. */
  #failed(error: unknown): LogUnavailableError {
    this.#discardStore();
    return new LogUnavailableError(`${this.#path}: ${messageOf(error)}`, error);
  }

  #discardStore(): void {
    const store = this.#store;
    this.#store = null;
    store?.close();
  }
}

const ignore = () => {};
