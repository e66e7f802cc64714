import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../lib/errors.ts';
import { LogDamagedError, LogUnavailableError, ReadAbortedError } from '../../log/errors.ts';
import type { PackedDeliveries, PackedPlacements } from './packing.ts';
import {
  type Cancel,
  deserializeError,
  type Methods,
  type Opened,
  type ReaderMethods,
  type Request,
  type Response,
  type WriterMethods,
} from './protocol.ts';

const WRITER = new URL('./writer-thread.ts', import.meta.url);
const READER = new URL('./reader-thread.ts', import.meta.url);

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

export type ThreadsObserver = {
  /** A checkpoint was made; `error` says why it has failed, or is null. */
  checkpointed(error: unknown): void;
  damaged(error: LogDamagedError): void;
  /** `opened` is the log's present state, which may be that of an older copy. */
  recovered(opened: Opened): void;
};

/**
 * The two threads that write and read one log. Once either finds the log damaged, all calls reject at once with that error.
 * The files are checked again after growing pauses. Calls work again once the whole log can be read and its bodies are
 * those that were stored.
 */
export class LogThreads {
  readonly #path: string;
  readonly #writer: WorkerClient<WriterMethods>;
  readonly #reader: WorkerClient<ReaderMethods>;
  readonly #checkpoints: Checkpoints;
  #observer: ThreadsObserver | null = null;
  #seed: Uint8Array = new Uint8Array();
  #damage: LogDamagedError | null = null;
  #recoveredAt = Number.NEGATIVE_INFINITY;
  #pauseMs = FIRST_PAUSE_MS;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(path: string, start: StartThread) {
    this.#path = path;
    this.#writer = new WorkerClient(() => start(WRITER, path));
    this.#reader = new WorkerClient(() => start(READER, path));
    this.#checkpoints = new Checkpoints(
      () => this.read('checkpoint', null),
      () => this.write('checkpoint', null),
      (error) => this.#closed || this.#observer?.checkpointed(error),
    );
  }

  /** Opens the log, and makes its file if it does not exist. Rejects with LogOpenError. */
  async open(): Promise<Opened> {
    const opened = await this.#writer.call('open', { create: true });
    await this.#reader.call('open', null);
    this.#seed = opened.seed;
    return opened;
  }

  observe(observer: ThreadsObserver): void {
    this.#observer = observer;
  }

  /** The bodies belong to the writer from then on. */
  async append(packed: PackedDeliveries): Promise<PackedPlacements> {
    const { buffer, byteLength } = packed.bytes;
    const placements = await this.#unlessDamaged(() =>
      this.#writer.call('append', packed, { transfer: [buffer] }),
    );
    this.#checkpoints.written(byteLength);
    return placements;
  }

  write<Name extends 'changed' | 'trim' | 'check' | 'checkpoint'>(
    name: Name,
    params: WriterMethods[Name]['params'],
  ): Promise<WriterMethods[Name]['result']> {
    return this.#unlessDamaged(() => this.#writer.call(name, params));
  }

  read<Name extends 'page' | 'get' | 'check' | 'size' | 'checkpoint'>(
    name: Name,
    params: ReaderMethods[Name]['params'],
    signal?: AbortSignal,
  ): Promise<ReaderMethods[Name]['result']> {
    return this.#unlessDamaged(() => this.#reader.call(name, params, { signal }));
  }

  /** The writer closes last: SQLite then moves the content of the `-wal` file into the log's own file. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#reader.close('close');
    await this.#writer.close('close');
  }

  async #unlessDamaged<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#damage !== null) throw this.#damage;
    try {
      return await call();
    } catch (error) {
      if (error instanceof LogDamagedError) this.#onDamage(error);
      throw error;
    }
  }

  #onDamage(error: LogDamagedError): void {
    if (this.#damage !== null || this.#closed) return;
    this.#damage = error;
    // A fault that the check misses and the next call finds keeps its long pause, so that it is not reported endlessly.
    if (performance.now() - this.#recoveredAt > MAX_PAUSE_MS) this.#pauseMs = FIRST_PAUSE_MS;
    this.#observer?.damaged(error);
    this.#scheduleCheck();
  }

  #scheduleCheck(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#check(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }

  async #check(): Promise<void> {
    try {
      const opened = await this.#reopen();
      this.#damage = null;
      this.#recoveredAt = performance.now();
      this.#observer?.recovered(opened);
    } catch {
      this.#scheduleCheck();
    }
  }

  /** Both threads close the files before the writer opens them again. */
  async #reopen(): Promise<Opened> {
    await this.#reader.call('close', null);
    const opened = await this.#writer.call('open', { create: false });
    if (Buffer.compare(opened.seed, this.#seed) !== 0)
      throw new LogDamagedError(`another log is in the place of ${this.#path}`);
    await this.#reader.call('open', null);
    await this.#reader.call('verify', null);
    return opened;
  }
}

/**
 * A checkpoint comes after about this much was written. After more of it, the writer waits for longer, and reads do, which
 * have the same thread; after less, pages that change often are copied more often.
 */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;
/** What a batch of deliveries writes beside their bodies, about: its share of the tables and indexes. */
const BATCH_BYTES = 32 * 1024;

/** Makes a checkpoint in a thread. Resolves with the number of pages that are left; rejects with what has failed. */
type MakeCheckpoint = () => Promise<number>;

/**
 * SQLite appends the pages of each transaction to the `-wal` file, and a checkpoint copies them into the log's file and syncs
 * it. Done by the writer, that delays the deliveries which wait for it. So the reader's thread does it, while the writer
 * commits. SQLite goes back to the start of the `-wal` file once all of it is copied and no statement reads from it. So the writer
 * then copies what it has added meanwhile, which is little, and waits for the statement that is being read. If the reader's
 * thread fails to, the writer copies everything: see `openForWriting`.
 */
class Checkpoints {
  readonly #byReader: MakeCheckpoint;
  readonly #byWriter: MakeCheckpoint;
  readonly #ended: (error: unknown) => void;
  #bytes = 0;
  #isRunning = false;

  /** `ended` is called after each checkpoint: with what has failed, or null. */
  constructor(byReader: MakeCheckpoint, byWriter: MakeCheckpoint, ended: (error: unknown) => void) {
    this.#byReader = byReader;
    this.#byWriter = byWriter;
    this.#ended = ended;
  }

  /** Must be called for each batch that was committed, with the bytes of its bodies. */
  written(bytes: number): void {
    this.#bytes += bytes + BATCH_BYTES;
    if (this.#bytes >= CHECKPOINT_BYTES && !this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    this.#bytes = 0;
    try {
      if ((await this.#byReader()) === 0) await this.#byWriter();
      this.#ended(null);
    } catch (error) {
      this.#ended(error);
    }
    this.#isRunning = false;
  }
}

/** What the log needs of a worker thread. */
export type Thread = {
  on(event: 'message', listener: (responses: readonly Response[]) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
  postMessage(message: Request | Cancel, transfer?: readonly ArrayBuffer[]): void;
  terminate(): Promise<unknown>;
};

/** Starts the module at `entry` as a thread, with `path` as its data. */
export type StartThread = (entry: URL, path: string) => Thread;

/** Objects of a thread live briefly: a larger young generation than this brings no speed. */
const MAX_YOUNG_MB = 12;

export const startThread: StartThread = (entry, path) =>
  new Worker(entry, { workerData: path, resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MB } });

type CallOptions = {
  readonly transfer?: readonly ArrayBuffer[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

type PendingCall = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void };

const FIRST_RESTART_MS = 100;
const MAX_RESTART_MS = 5000;

/**
 * Calls the methods of a worker thread, and restarts the thread when it ends. The pause before a restart doubles until a
 * thread has responded. Calls without a response, and calls during the pause, reject with LogUnavailableError.
 */
class WorkerClient<Served extends Methods> {
  readonly #start: () => Thread;
  readonly #pending = new Map<number, PendingCall>();
  #worker: Thread | null = null;
  #cause: unknown = null;
  #nextId = 1;
  #pauseMs = FIRST_RESTART_MS;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(start: () => Thread) {
    this.#start = start;
    this.#run();
  }

  /**
   * Rejects with what the method threw. Once `signal` aborts, it rejects with ReadAbortedError, and the thread stops the
   * work too. The buffers in `transfer` belong to the thread from then on.
   */
  call<Name extends keyof Served & string>(
    name: Name,
    params: Served[Name]['params'],
    { transfer = [], signal }: CallOptions = {},
  ): Promise<Served[Name]['result']> {
    const worker = this.#worker;
    if (signal?.aborted) return Promise.reject(new ReadAbortedError());
    if (worker === null) return Promise.reject(this.#exitError());
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = this.#nextId;
    this.#nextId += 1;
    const cancel = () => {
      if (!this.#pending.delete(id)) return;
      const message: Cancel = { cancel: id };
      worker.postMessage(message);
      reject(new ReadAbortedError());
    };
    const done = () => signal?.removeEventListener('abort', cancel);
    signal?.addEventListener('abort', cancel, { once: true });
    this.#pending.set(id, {
      resolve: (result) => {
        done();
        resolve(result);
      },
      reject: (error) => {
        done();
        reject(error);
      },
    });
    const request: Request = { id, name, params };
    worker.postMessage(request, transfer);
    return promise;
  }

  /** Calls method `name` as the last one, then ends the thread. */
  async close(name: keyof Served & string): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (worker === null) return;
    await this.call(name, null).catch(() => {});
    await worker.terminate();
  }

  #run(): void {
    const worker = this.#start();
    this.#worker = worker;
    worker.on('message', (responses: readonly Response[]) => {
      this.#pauseMs = FIRST_RESTART_MS;
      for (const response of responses) this.#settle(response);
    });
    worker.on('error', (error) => {
      this.#cause = error;
    });
    worker.on('exit', () => this.#onExit());
  }

  #settle(response: Response): void {
    const call = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if ('error' in response) call?.reject(deserializeError(response.error));
    else call?.resolve(response.result);
  }

  #onExit(): void {
    this.#worker = null;
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of calls) reject(this.#exitError());
    if (this.#closed) return;
    this.#restart = setTimeout(() => this.#run(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_RESTART_MS);
  }

  #exitError(): LogUnavailableError {
    const because = this.#cause === null ? '' : `: ${messageOf(this.#cause)}`;
    return new LogUnavailableError(`the delivery log's thread has ended${because}`, this.#cause);
  }
}
