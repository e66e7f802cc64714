import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { monotonicClock } from '../../lib/deadlines.ts';
import { messageOf } from '../../lib/errors.ts';
import { makeFolder } from '../../lib/folders.ts';
import { AppendLimit, AppendListeners, type Stored } from '../log/appends.ts';
import { Cursors, type Place, START } from '../log/cursor.ts';
import { LogClosedError, LogOpenError, UnstorableError } from '../log/errors.ts';
import type {
  AppendListener,
  AppendResult,
  Changes,
  DeliveryLog,
  DeliveryPage,
  DeliveryRange,
  LogOptions,
  LogSize,
  NewDelivery,
  ReadOptions,
  StoredDelivery,
} from '../log/log.ts';
import type { LogObserver } from '../log/observer.ts';
import { RetentionClock, retentionOf, startTrimming } from '../log/retention.ts';
import { lockDirectory } from './database.ts';
import { LogThreads, type StartThread, startThread } from './threads/log-threads.ts';
import { type Placement, packDeliveries, unpackPage, unpackPlacements } from './threads/packing.ts';
import type { Head, Opened } from './threads/protocol.ts';

export type SqliteLogOptions = LogOptions & {
  /** The log makes the directory if it does not exist. One process at a time can use it. */
  readonly dataDir: string;
  /** Is called when the log is found damaged, when it is whole again, and after each checkpoint. */
  readonly observer?: LogObserver | undefined;
  /** Default: starts worker threads of this process. */
  readonly startThread?: StartThread | undefined;
};

/**
 * Opens the log in `dataDir`, and begins to trim it. Rejects with LogOpenError when the directory can't be made or written,
 * another process uses it, or the file is damaged or is not a delivery log. The file is then left unchanged.
 */
export const openSqliteLog = async (options: SqliteLogOptions): Promise<DeliveryLog> => {
  const { dataDir, startThread: start = startThread } = options;
  try {
    await makeFolder(dataDir);
    // SQLite's own message does not say why it can't open a file.
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new LogOpenError(dataDir, messageOf(error), error);
  }
  const unlock = lockDirectory(dataDir);
  const path = join(dataDir, 'deliveries.db');
  const threads = new LogThreads(path, start);
  try {
    return new SqliteLog(options, threads, await threads.open(), unlock);
  } catch (error) {
    await threads.close();
    unlock();
    throw error instanceof LogOpenError ? error : new LogOpenError(path, messageOf(error), error);
  }
};

/** The log in the gateway's main thread. It sends each call to the writer thread or the reader thread. */
class SqliteLog implements DeliveryLog {
  readonly #threads: LogThreads;
  readonly #limit: AppendLimit;
  readonly #appends: SqliteAppendQueue;
  readonly #cursors: Cursors;
  /** Each tenant's newest delivery, of those that were reported as stored. */
  #heads: Map<string, Place>;
  readonly #options: SqliteLogOptions;
  readonly #unlock: () => void;
  readonly #listeners = new AppendListeners();
  readonly #clock: RetentionClock;
  readonly #trimming: ReturnType<typeof startTrimming>;
  #closing: Promise<void> | null = null;

  constructor(
    options: SqliteLogOptions,
    threads: LogThreads,
    { seed, epochs, heads, time }: Opened,
    unlock: () => void,
  ) {
    const { now = Date.now, monotonic = monotonicClock, retentionObserver = {} } = options;
    this.#options = options;
    this.#clock = new RetentionClock(time ?? { now: now(), jump: null }, monotonic, retentionObserver);
    this.#threads = threads;
    this.#cursors = new Cursors(seed, epochs);
    this.#limit = new AppendLimit(options.maxWaitingBytes);
    this.#appends = new SqliteAppendQueue(threads, this.#resultOf, this.#onPlaced);
    this.#heads = placesOf(heads);
    this.#unlock = unlock;
    threads.observe({
      checkpointed: (error) =>
        error === null
          ? options.observer?.checkpointed?.()
          : options.observer?.failed?.('checkpoint', error, null),
      damaged: (error) => options.observer?.damaged?.(error),
      recovered: (opened) => {
        this.#heads = placesOf(opened.heads);
        options.observer?.recovered?.();
        this.#listeners.notify(null);
      },
    });
    this.#trimming = startTrimming(() => this.#trimOnce(), retentionObserver.failed);
  }

  async append(batch: readonly NewDelivery[]): Promise<readonly AppendResult[]> {
    if (this.#closing) throw new LogClosedError();
    return this.#limit.run(batch, () => this.#appends.append(batch));
  }

  readonly #resultOf = (
    { tenant }: NewDelivery,
    { sequence, fingerprint, duplicate }: Stored,
  ): AppendResult => ({
    cursor: this.#cursors.cursor(tenant, { sequence, fingerprint }),
    sequence,
    duplicate,
  });

  async read(
    tenant: string,
    range: DeliveryRange,
    { caller = tenant, signal }: ReadOptions = {},
  ): Promise<DeliveryPage> {
    return unpackPage(await this.#read('page', { caller, tenant, range }, signal));
  }

  async get(
    tenant: string,
    cursor: string,
    { caller = tenant, signal }: ReadOptions = {},
  ): Promise<StoredDelivery | null> {
    return this.#read('get', { caller, tenant, cursor }, signal);
  }

  async check(): Promise<void> {
    await Promise.all([this.#read('check', null), this.#threads.write('check', null)]);
  }

  async changed(mark: string | null): Promise<Changes> {
    if (this.#closing) throw new LogClosedError();
    return this.#threads.write('changed', mark);
  }

  async head(tenant: string): Promise<string> {
    if (this.#closing) throw new LogClosedError();
    return this.#cursors.cursor(tenant, this.#heads.get(tenant) ?? START);
  }

  size(): Promise<LogSize> {
    return this.#read('size', null);
  }

  trim(): Promise<void> {
    return this.#trimming.trim();
  }

  async #trimOnce(): Promise<void> {
    if (this.#closing) throw new LogClosedError();
    const { now = Date.now } = this.#options;
    const retention = retentionOf(this.#options);
    await this.#threads.write('trim', { retention, time: this.#clock.read(now()) });
  }

  onAppend(notify: AppendListener): () => void {
    return this.#listeners.add(notify);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#trimming.stop();
    this.#appends.flush();
    await this.#threads.close();
    this.#unlock();
    // Blocked readers read again, and get LogClosedError.
    this.#listeners.notify(null);
  }

  readonly #read: LogThreads['read'] = (name, params, signal) =>
    this.#closing ? Promise.reject(new LogClosedError()) : this.#threads.read(name, params, signal);

  /** Raises the heads. A duplicate may raise one too: the writer that stored the original may have ended before it responded. */
  readonly #onPlaced = (deliveries: readonly NewDelivery[], placements: readonly Placement[]): void => {
    const grown = new Set<string>();
    for (const [index, { tenant }] of deliveries.entries()) {
      const placement = placements[index];
      if (placement === undefined || 'refusal' in placement) continue;
      const { sequence, fingerprint } = placement;
      if (sequence <= (this.#heads.get(tenant) ?? START).sequence) continue;
      this.#heads.set(tenant, { sequence, fingerprint });
      grown.add(tenant);
    }
    if (grown.size > 0) this.#listeners.notify(grown);
  };
}

const placesOf = (heads: readonly Head[]): Map<string, Place> =>
  new Map(heads.map(([tenant, sequence, fingerprint]) => [tenant, { sequence, fingerprint }]));

/**
 * Batches in one message to the writer. Smaller messages cost more: each is sent, and wakes the thread. Bigger messages would
 * make the two threads work in turn, although they can work at the same time.
 */
const MAX_MESSAGE_BATCHES = 32;

type ResultOf = (delivery: NewDelivery, stored: Stored) => AppendResult;

/** Is called with the deliveries of one message and their placements, both in the same order. */
type OnPlaced = (deliveries: readonly NewDelivery[], placements: readonly Placement[]) => void;

type PendingBatch = {
  readonly batch: readonly NewDelivery[];
  readonly resolve: (results: readonly AppendResult[]) => void;
  readonly reject: (error: unknown) => void;
};

/** Sends batches of deliveries to the writer thread: those of one turn of the event loop as one message. */
class SqliteAppendQueue {
  readonly #threads: LogThreads;
  readonly #resultOf: ResultOf;
  readonly #onPlaced: OnPlaced;
  #pending: PendingBatch[] = [];

  /** `onPlaced` runs before the callers of `append` continue. */
  constructor(threads: LogThreads, resultOf: ResultOf, onPlaced: OnPlaced) {
    this.#threads = threads;
    this.#resultOf = resultOf;
    this.#onPlaced = onPlaced;
  }

  /**
   * Resolves once the batch is durable. Rejects with UnstorableError when one of its deliveries can't be stored; the others
   * are stored.
   */
  append(batch: readonly NewDelivery[]): Promise<readonly AppendResult[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly AppendResult[]>();
    // The first of many batches are sent at once: the writer stores them while the gateway still reads the others.
    const count = this.#pending.push({ batch, resolve, reject });
    if (count === 1) setImmediate(this.flush);
    else if (count === MAX_MESSAGE_BATCHES) this.flush();
    return promise;
  }

  /** Sends the batches that wait. */
  readonly flush = (): void => {
    const batches = this.#pending;
    this.#pending = [];
    if (batches.length === 0) return;
    const deliveries = batches.flatMap(({ batch }) => batch);
    const packed = packDeliveries(deliveries);
    this.#threads.append(packed).then(
      (result) => {
        const placements = unpackPlacements(result);
        this.#settle(batches, placements);
        this.#onPlaced(deliveries, placements);
      },
      (error: unknown) => {
        for (const { reject } of batches) reject(error);
      },
    );
  };

  #settle(batches: readonly PendingBatch[], placements: readonly Placement[]): void {
    let next = 0;
    for (const { batch, resolve, reject } of batches) {
      const results: AppendResult[] = [];
      let refusal: string | null = null;
      for (const delivery of batch) {
        const placement = placements[next];
        next += 1;
        if (placement === undefined) continue;
        if ('refusal' in placement) refusal ??= placement.refusal;
        else results.push(this.#resultOf(delivery, placement));
      }
      if (refusal === null) resolve(results);
      else reject(new UnstorableError(refusal));
    }
  }
}
