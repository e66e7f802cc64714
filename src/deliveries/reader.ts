import type { DeliveryFilter, DeliveryLog, StoredDelivery } from './log.ts';

export type ReaderOptions = {
  /** Goes on after this cursor; without it, from the head as of the call. */
  readonly after?: string | undefined;
  readonly filter?: DeliveryFilter | undefined;
  /** How often the log is looked at without a wake-up, in case one was lost. Default: 1000. */
  readonly pollMs?: number | undefined;
};

/** All that is held for a reader that has stalled. */
const BATCH = 16;
const BATCH_BYTES = 32_768;

/**
 * The tenant's deliveries, each once and in order, endlessly: `next()` waits where the log ends. Stored and live ones
 * take the same way, read from the log when they are asked for.
 *
 * `next()` rejects with CursorExpiredError when the log no longer holds what comes next, with InvalidCursorError for
 * an `after` that is none, with LogUnavailableError when the log can't be read; that ends the iterator. `return()`,
 * or `signal`, ends it at once, a waiting `next()` too.
 */
export function readDeliveries(
  log: DeliveryLog,
  tenant: string,
  options: ReaderOptions = {},
  signal?: AbortSignal,
): AsyncIterableIterator<StoredDelivery> {
  return new DeliveryReader(log, tenant, options, signal);
}

type Result = IteratorResult<StoredDelivery, undefined>;

const DONE: Result = { done: true, value: undefined };

/** Written by hand: return() on an async generator that waits for something does not settle until that has come. */
class DeliveryReader implements AsyncIterableIterator<StoredDelivery> {
  readonly #log: DeliveryLog;
  readonly #tenant: string;
  readonly #filter: DeliveryFilter | undefined;
  readonly #pollMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #unsubscribe: () => void;
  #position: Promise<string>;
  #batch: StoredDelivery[] = [];
  #asked: PromiseWithResolvers<Result>[] = [];
  #reading = false;
  #ended = false;
  #mayHaveMore = true;
  #wake: (() => void) | null = null;

  constructor(log: DeliveryLog, tenant: string, options: ReaderOptions, signal: AbortSignal | undefined) {
    this.#log = log;
    this.#tenant = tenant;
    this.#filter = options.filter;
    this.#pollMs = options.pollMs ?? 1000;
    this.#signal = signal;
    this.#position = options.after === undefined ? log.head(tenant) : Promise.resolve(options.after);
    // Whoever never asks is not told either.
    this.#position.catch(() => {});
    this.#unsubscribe = log.onAppend(tenant, this.#lookAgain);
    signal?.addEventListener('abort', this.#end);
    if (signal?.aborted) this.#end();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#ended) return Promise.resolve(DONE);
    const asked = Promise.withResolvers<Result>();
    this.#asked.push(asked);
    void this.#answer();
    return asked.promise;
  }

  return(): Promise<Result> {
    this.#end();
    return Promise.resolve(DONE);
  }

  /** Answers, one at a time and in order, until nobody asks. */
  async #answer(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#asked.length > 0) {
        const value = this.#batch.shift();
        if (value === undefined) await this.#fill();
        else this.#asked.shift()?.resolve({ done: false, value });
      }
    } catch (error) {
      this.#asked.shift()?.reject(error);
      this.#end();
    } finally {
      this.#reading = false;
    }
  }

  /** Reads the next batch; where there is none, waits until there may be. */
  async #fill(): Promise<void> {
    this.#mayHaveMore = false;
    const page = await this.#log.read(this.#tenant, {
      after: await this.#position,
      filter: this.#filter,
      limit: BATCH,
      maxBytes: BATCH_BYTES,
    });
    if (this.#ended) return;
    this.#position = Promise.resolve(page.reached);
    this.#batch = [...page.deliveries];
    // What was appended while reading has called back already.
    if (this.#batch.length === 0 && !this.#mayHaveMore) await this.#wakeUp();
  }

  #wakeUp(): Promise<void> {
    return new Promise((resolve) => {
      const poll = setTimeout(resolve, this.#pollMs).unref();
      this.#wake = () => {
        clearTimeout(poll);
        resolve();
      };
    });
  }

  readonly #lookAgain = (): void => {
    this.#mayHaveMore = true;
    this.#wake?.();
  };

  readonly #end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    this.#unsubscribe();
    this.#signal?.removeEventListener('abort', this.#end);
    for (const asked of this.#asked.splice(0)) asked.resolve(DONE);
    this.#batch = [];
    this.#wake?.();
  };
}
