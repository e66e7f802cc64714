import { Worker } from 'node:worker_threads';
import { LogUnavailableError, messageOf, ReadAbortedError } from '../../log/errors.ts';
import { deserializeError } from './errors.ts';
import type { Cancel, Methods, Request, Response } from './protocol.ts';

/** Starts the module at `entry` as a thread that is given `path`. */
export type StartThread = (entry: URL, path: string) => Worker;

export const startThread: StartThread = (entry, path) => new Worker(entry, { workerData: path });

type CallOptions = {
  readonly transfer?: readonly ArrayBuffer[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

type PendingCall = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void };

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/**
 * A thread that answers. One that ends is started again, after a pause that grows until a thread has answered; what
 * it was asked meanwhile, or had not answered, rejects with LogUnavailableError.
 */
export class WorkerClient<Served extends Methods> {
  readonly #start: () => Worker;
  readonly #pending = new Map<number, PendingCall>();
  #worker: Worker | null = null;
  #cause: unknown = null;
  #nextId = 1;
  #pauseMs = FIRST_PAUSE_MS;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(start: () => Worker) {
    this.#start = start;
    this.#run();
  }

  /**
   * Rejects with what the thread threw, or with ReadAbortedError once `signal` aborts: then the thread stops, too. The
   * buffers in `transfer` are no longer the caller's.
   */
  call<Name extends keyof Served & string>(
    name: Name,
    params: Served[Name]['params'],
    { transfer = [], signal }: CallOptions = {},
  ): Promise<Served[Name]['result']> {
    const worker = this.#worker;
    if (signal?.aborted) return Promise.reject(new ReadAbortedError());
    if (worker === null) return Promise.reject(this.#onExit());
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
    const question: Request = { id, name, params };
    worker.postMessage(question, transfer);
    return promise;
  }

  /** Lets the thread answer `name` as its last, then ends it. */
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
    worker.on('message', (answers: readonly Response[]) => {
      this.#pauseMs = FIRST_PAUSE_MS;
      for (const answer of answers) this.#settle(answer);
    });
    worker.on('error', (error) => {
      this.#cause = error;
    });
    worker.on('exit', () => this.#ended());
  }

  #settle(answer: Response): void {
    const asked = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if ('fault' in answer) asked?.reject(deserializeError(answer.fault));
    else asked?.resolve(answer.result);
  }

  #ended(): void {
    this.#worker = null;
    const asked = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of asked) reject(this.#onExit());
    if (this.#closed) return;
    this.#restart = setTimeout(() => this.#run(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  #onExit(): LogUnavailableError {
    const because = this.#cause === null ? '' : `: ${messageOf(this.#cause)}`;
    return new LogUnavailableError(`the delivery log's thread has ended${because}`, this.#cause);
  }
}
