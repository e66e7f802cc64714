import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../lib/make-folder.ts';
import type { Place } from '../log/cursor.ts';
import {
  LogClosedError,
  LogDamagedError,
  LogOpenError,
  LogUnavailableError,
  messageOf,
  UnstorableError,
} from '../log/errors.ts';
import type {
  AppendListener,
  AppendResult,
  Changes,
  DeliveryLog,
  DeliveryPage,
  DeliveryRange,
  NewDelivery,
  ReadOptions,
  StoredDelivery,
} from '../log/log.ts';
import type { LogObserver } from '../log/observer.ts';
import { lockDirectory } from './lock.ts';
import { Cursors } from './read/cursors.ts';
import { type StartThread, startThread } from './worker/client.ts';
import { LogThreads } from './worker/log-threads.ts';
import { pack } from './worker/packing.ts';
import { unpackPage } from './worker/page-packing.ts';
import type { Opened, Placed } from './worker/protocol.ts';
import type { Retention } from './write/retention.ts';

export type SqliteLogOptions = {
  /** Made where there is none. One process at a time. */
  readonly dataDir: string;
  /** Deliveries older than this are dropped. */
  readonly retentionHours: number;
  /** Of each tenant, only so many of the newest are kept. */
  readonly retentionCount: number;
  /** Default: the system's clock. */
  readonly now?: (() => number) | undefined;
  /** Called when the log's own trimming begins to fail. It is tried again at each turn. */
  readonly onTrimError?: ((error: unknown) => void) | undefined;
  /** Called when the log is found damaged, and when it is whole again. */
  readonly observer?: Pick<LogObserver, 'damaged' | 'recovered'> | undefined;
  /** Bodies that may wait for the writer; beyond it, appending rejects at once. Default: 64 MB. */
  readonly maxWaitingBytes?: number | undefined;
  /** Default: threads of this process. */
  readonly startThread?: StartThread | undefined;
};

const TRIM_EVERY_MS = 5000;
const HOUR_MS = 3_600_000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Of fewer, sending and waking would be felt; of more, two threads would work by turns that can work at once. */
const MAX_CROSSING = 32;

/**
 * Opens the log that is kept in `dataDir`, and starts to trim it. Rejects with LogOpenError when the directory can't be
 * made or written, another process uses it, or the file is damaged or none of ours; nothing of it is changed then.
 */
export const openSqliteLog = async (options: SqliteLogOptions): Promise<DeliveryLog> => {
  const { dataDir, startThread: start = startThread } = options;
  try {
    await makeFolder(dataDir);
    // SQLite would only say that it can't open a file.
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new LogOpenError(dataDir, messageOf(error), error);
  }
  const release = lockDirectory(dataDir);
  const path = join(dataDir, 'deliveries.db');
  const threads = new LogThreads(path, start);
  try {
    return new SqliteLog(options, threads, await threads.open(), release);
  } catch (error) {
    await threads.close();
    release();
    throw error instanceof LogOpenError ? error : new LogOpenError(path, messageOf(error), error);
  }
};

/** The place before a tenant's first delivery. */
const NOTHING: Place = { sequence: 0, fingerprint: 0 };

type PendingBatch = {
  readonly batch: readonly NewDelivery[];
  readonly bytes: number;
  readonly resolve: (appended: readonly AppendResult[]) => void;
  readonly reject: (error: unknown) => void;
};

/** The log as the gateway's own thread has it: it sends what is asked to the threads that do it. */
class SqliteLog implements DeliveryLog {
  readonly #threads: LogThreads;
  readonly #cursors: Cursors;
  /** What was answered as stored: of each tenant the newest. */
  #heads: Map<string, Place>;
  readonly #retention: Retention;
  readonly #now: () => number;
  readonly #maxWaitingBytes: number;
  readonly #release: () => void;
  readonly #listeners = new Set<{ readonly notify: AppendListener }>();
  #timer: NodeJS.Timeout | undefined;
  #pending: PendingBatch[] = [];
  #waitingBytes = 0;
  #trimming: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;

  constructor(options: SqliteLogOptions, threads: LogThreads, { seed, heads }: Opened, release: () => void) {
    this.#threads = threads;
    this.#cursors = new Cursors(seed);
    this.#heads = placesOf(heads);
    this.#retention = { maxAgeMs: options.retentionHours * HOUR_MS, maxCount: options.retentionCount };
    this.#now = options.now ?? Date.now;
    this.#maxWaitingBytes = options.maxWaitingBytes ?? MAX_WAITING_BYTES;
    this.#release = release;
    threads.observe({
      damaged: (error) => options.observer?.damaged(error),
      recovered: (opened) => {
        this.#heads = placesOf(opened.heads);
        options.observer?.recovered();
        this.#notify(null);
      },
    });
    this.#trimEvery(TRIM_EVERY_MS, options.onTrimError ?? ignore);
  }

  append(batch: readonly NewDelivery[]): Promise<readonly AppendResult[]> {
    if (this.#closing) return Promise.reject(new LogClosedError());
    let bytes = 0;
    for (const { body } of batch) bytes += body.byteLength;
    // One delivery is always taken where nothing waits, however small the bound.
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#maxWaitingBytes)
      return Promise.reject(new LogUnavailableError('too much waits to be stored'));
    const { promise, resolve, reject } = Promise.withResolvers<readonly AppendResult[]>();
    this.#waitingBytes += bytes;
    // What arrives within a turn of the event loop crosses to the writer together, but of much the first part at once:
    // it is being written while the rest is still being read.
    const count = this.#pending.push({ batch, bytes, resolve, reject });
    if (count === 1) setImmediate(this.#send);
    else if (count === MAX_CROSSING) this.#send();
    return promise;
  }

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
    await this.#read('probe', null);
  }

  async changed(mark: string | null): Promise<Changes> {
    if (this.#closing) throw new LogClosedError();
    return this.#threads.write('changed', mark);
  }

  async head(tenant: string): Promise<string> {
    if (this.#closing) throw new LogClosedError();
    return this.#cursors.cursor(tenant, this.#heads.get(tenant) ?? NOTHING);
  }

  /** One at a time: a second call waits for the first, which may have looked before what the second is to drop came. */
  trim(): Promise<void> {
    const trimming = this.#trimming.then(async () => {
      if (this.#closing) throw new LogClosedError();
      await this.#threads.write('trim', { retention: this.#retention, now: this.#now() });
    });
    this.#trimming = trimming.catch(ignore);
    return trimming;
  }

  /** From now on, each time so long after the last was done. */
  #trimEvery(pauseMs: number, onError: (error: unknown) => void): void {
    const again = () => {
      if (!this.#closing) this.#timer = setTimeout(trim, pauseMs).unref();
    };
    let isFailing = false;
    const failed = (error: unknown) => {
      // The observer has reported damage already.
      if (!this.#closing && !isFailing && !(error instanceof LogDamagedError)) onError(error);
      isFailing = true;
    };
    const done = () => {
      isFailing = false;
    };
    const trim = () => void this.trim().then(done, failed).then(again);
    trim();
  }

  onAppend(notify: AppendListener): () => void {
    // The same function may be registered twice, each time until its own removal.
    const listener = { notify };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #notify(tenants: ReadonlySet<string> | null): void {
    for (const { notify } of this.#listeners) notify(tenants);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#send();
    await this.#threads.close();
    this.#release();
    // Blocked readers read again, and get LogClosedError.
    this.#notify(null);
  }

  readonly #read: LogThreads['read'] = (name, params, signal) =>
    this.#closing ? Promise.reject(new LogClosedError()) : this.#threads.read(name, params, signal);

  readonly #send = (): void => {
    const waiting = this.#pending;
    this.#pending = [];
    if (waiting.length === 0) return;
    const packed = pack(waiting.flatMap(({ batch }) => batch));
    this.#threads.write('append', packed, [packed.bytes.buffer]).then(
      (placed) => this.#stored(waiting, placed),
      (error: unknown) => {
        for (const { bytes, reject } of waiting) {
          this.#waitingBytes -= bytes;
          reject(error);
        }
      },
    );
  };

  #stored(waiting: readonly PendingBatch[], { sequences, fingerprints }: Placed): void {
    const changed = new Set<string>();
    let next = 0;
    for (const { batch, bytes, resolve, reject } of waiting) {
      this.#waitingBytes -= bytes;
      const appended: AppendResult[] = [];
      let refusal: string | null = null;
      for (const { tenant } of batch) {
        const [sequence = Number.NaN, fingerprint = null] = [sequences[next], fingerprints[next]];
        next += 1;
        if (typeof sequence === 'string') refusal ??= sequence;
        else {
          const place = { sequence: Math.abs(sequence), fingerprint };
          if (this.#notifyAppended(tenant, place)) changed.add(tenant);
          const cursor = this.#cursors.cursor(tenant, place);
          appended.push({ cursor, sequence: place.sequence, duplicate: sequence < 0 });
        }
      }
      if (refusal === null) resolve(appended);
      else reject(new UnstorableError(refusal));
    }
    if (changed.size > 0) this.#notify(changed);
  }

  /** A duplicate may be news, too: the thread that stored it may have ended before it answered. */
  #notifyAppended(tenant: string, place: Place): boolean {
    const head = this.#heads.get(tenant) ?? NOTHING;
    if (place.sequence <= head.sequence) return false;
    this.#heads.set(tenant, place);
    return true;
  }
}

const placesOf = (heads: Opened['heads']): Map<string, Place> =>
  new Map(heads.map(([tenant, sequence, fingerprint]) => [tenant, { sequence, fingerprint }]));

const ignore = () => {};
