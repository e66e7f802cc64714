import type { Dispatcher } from 'undici';
import { UpstreamError } from '../errors.ts';
import type { Bill } from '../usage.ts';
import { transportFailure } from './transport-failure.ts';

type Controller = Dispatcher.DispatchController;

/** The status and headers of a response. */
export type ResponseHead = {
  readonly statusCode: number;
  readonly headers: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];
};

type Options = {
  /** Told when the request is sent, and when the head of its answer has arrived. */
  readonly bill: Bill;
  /** Whether the body of a 2xx response does not count. */
  readonly ignoresBody: boolean;
  /**
   * Called with each chunk of the body of a 2xx response that is not ignored, and the chunks before it. What it throws
   * ends the request.
   */
  readonly check: (chunk: Buffer, before: readonly Buffer[]) => void;
};

/** The body of any other response is received up to this size, which is enough for its message. */
const MAX_ERROR_BYTES = 64 * 1024;

/** An ignored body is received up to these limits, so that its connection can be reused. A longer one costs the connection. */
const MAX_IGNORED_BYTES = 64 * 1024;
const MAX_IGNORED_MS = 1000;

/** The size at which a body pauses: large bodies are received and parsed one at a time. No page that keeps the contract is so large. */
const LARGE_BYTES = 8 * 1024 * 1024;

const utf8 = new TextDecoder();

/** Receives the response to one request from undici's dispatcher. That costs about half of a response with a stream. */
export class ResponseReceiver implements Dispatcher.DispatchHandler {
  /** The body, as far as it has arrived. */
  readonly chunks: Buffer[] = [];
  bytes = 0;
  /** Whether the whole body has arrived. */
  isComplete = false;
  /** Whether undici has refused the request as invalid. */
  isRefused = false;
  readonly #options: Options;
  readonly #first = Promise.withResolvers<ResponseHead>();
  #head: ResponseHead = { statusCode: 0, headers: {} };
  #controller: Controller | null = null;
  /** Why the request is aborted, also before it has a connection. */
  #reason: Error | null = null;
  /** The rest of a large body; null for any other. */
  #rest: PromiseWithResolvers<void> | null = null;
  #ignoring: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Resolves with the head once as much of the body is here as is needed at first: the whole of it, LARGE_BYTES, the
   * beginning of an error's message, or nothing of an ignored one. Rejects with UpstreamError: that of an abort or of the
   * check, else `unavailable`.
   */
  get head(): Promise<ResponseHead> {
    return this.#first.promise;
  }

  /** Resolves at the end of a large body. Rejects as `head`. */
  get end(): Promise<void> {
    return this.#rest?.promise ?? Promise.resolve();
  }

  /** Returns the beginning of the body of an error. */
  errorText(): string {
    return utf8.decode(Buffer.concat(this.chunks).subarray(0, MAX_ERROR_BYTES));
  }

  /** Receives the rest of a large body. */
  resume(): void {
    this.#controller?.resume();
  }

  /** Ends the request, unless it has ended. */
  abort(reason: Error): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#reason) controller.abort(this.#reason);
    else this.#options.bill.sent();
  }

  onResponseStart(_controller: Controller, statusCode: number, headers: ResponseHead['headers']): void {
    // An interim response; the final one follows.
    if (statusCode < 200) return;
    this.#head = { statusCode, headers };
    this.#options.bill.answered(statusCode, headers);
    if (!this.#ignores) return;
    this.#first.resolve(this.#head);
    this.#ignoring = setTimeout(() => this.#discardRest(), MAX_IGNORED_MS).unref();
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#ignores) {
      if (this.bytes > MAX_IGNORED_BYTES) this.#discardRest();
      return;
    }
    if (this.#isSuccess) this.#options.check(chunk, this.chunks);
    this.chunks.push(chunk);
    if (!this.#isSuccess && this.bytes >= MAX_ERROR_BYTES) {
      this.#first.resolve(this.#head);
      this.#discardRest();
    } else if (this.#isSuccess && this.bytes > LARGE_BYTES && this.#rest === null) {
      this.#rest = Promise.withResolvers<void>();
      // It may fail before anything waits for it.
      this.#rest.promise.catch(() => {});
      controller.pause();
      this.#first.resolve(this.#head);
    }
  }

  onResponseEnd(): void {
    clearTimeout(this.#ignoring);
    this.isComplete = true;
    this.#rest?.resolve();
    this.#first.resolve(this.#head);
  }

  onResponseError(_controller: Controller, error: Error): void {
    clearTimeout(this.#ignoring);
    const failure = error instanceof UpstreamError ? error : transportFailure(error);
    this.isRefused = failure.failure === 'unsendable';
    this.#rest?.reject(failure);
    this.#first.reject(failure);
  }

  get #isSuccess(): boolean {
    return this.#head.statusCode < 300;
  }

  get #ignores(): boolean {
    return this.#isSuccess && this.#options.ignoresBody;
  }

  #discardRest(): void {
    this.#controller?.abort(new Error('The rest of the response is not needed.'));
  }
}
