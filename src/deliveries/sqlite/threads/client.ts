import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../lib/values.ts';
import { LogUnavailableError, ReadAbortedError } from '../../log/errors.ts';
import { type Cancel, deserializeError, type Methods, type Request, type Response } from './protocol.ts';

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

/** A thread's garbage is of short lives: more memory for it than this brings no speed. */
const MAX_YOUNG_MB = 12;

export const startThread: StartThread = (entry, path) =>
  new Worker(entry, { workerData: path, resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MB } });

type CallOptions = {
  readonly transfer?: readonly ArrayBuffer[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

type PendingCall = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void };

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;

/**
 * Calls the methods of a worker thread, and restarts the thread when it ends. The pause before a restart doubles until a
 * thread has responded. Calls without a response, and calls during the pause, reject with LogUnavailableError.
 */
export class WorkerClient<Served extends Methods> {
  readonly #start: () => Thread;
  readonly #pending = new Map<number, PendingCall>();
  #worker: Thread | null = null;
  #cause: unknown = null;
  #nextId = 1;
  #pauseMs = FIRST_PAUSE_MS;
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
      this.#pauseMs = FIRST_PAUSE_MS;
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
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }

  #exitError(): LogUnavailableError {
    const because = this.#cause === null ? '' : `: ${messageOf(this.#cause)}`;
    return new LogUnavailableError(`the delivery log's thread has ended${because}`, this.#cause);
  }
}
