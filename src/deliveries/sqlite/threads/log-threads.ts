import { LogDamagedError } from '../../log/errors.ts';
import { type StartThread, WorkerClient } from './client.ts';
import type { Opened, ReaderMethods, WriterMethods } from './protocol.ts';

const WRITER = new URL('./writer-thread.ts', import.meta.url);
const READER = new URL('./reader-thread.ts', import.meta.url);

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

export type DamageObserver = {
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
  #observer: DamageObserver | null = null;
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
  }

  /** Opens the log, and makes its file if it does not exist. Rejects with LogOpenError. */
  async open(): Promise<Opened> {
    const opened = await this.#writer.call('open', { create: true });
    await this.#reader.call('open', null);
    this.#seed = opened.seed;
    return opened;
  }

  observe(observer: DamageObserver): void {
    this.#observer = observer;
  }

  write<Name extends 'append' | 'changed' | 'trim' | 'check'>(
    name: Name,
    params: WriterMethods[Name]['params'],
    transfer?: readonly ArrayBuffer[],
  ): Promise<WriterMethods[Name]['result']> {
    return this.#unlessDamaged(() => this.#writer.call(name, params, { transfer }));
  }

  read<Name extends 'page' | 'get' | 'check'>(
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
