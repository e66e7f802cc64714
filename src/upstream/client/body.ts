import type { Dispatcher } from 'undici';
import { freeBuffer, totalLength } from '../../lib/buffers.ts';
import { parseExactJson } from '../../lib/json/exact-json.ts';
import { MAX_SHAPES, parseInSlices, TooManyShapesError } from '../../lib/json/parse-in-slices.ts';
import { JsonSize } from '../../lib/json/size.ts';
import type { MemoryBudget, Reservation } from '../../lib/memory-budget.ts';
import type { Semaphore } from '../../lib/tasks.ts';
import { transportFailure, UpstreamError } from './errors.ts';
import { hasEscaped, redactChunks, redactText, secretOf } from './redact-key.ts';
import type { Bill, Credential } from './request.ts';

const MAX_BYTES = 32 * 1024 * 1024;
/** Upstream's largest page has fewer. A JSON value of three bytes may take twenty times as much memory once it is parsed. */
const MAX_VALUES = 1_000_000;
/** Smaller bodies can't have too many values, so theirs are not counted. */
const COUNTED_FROM_BYTES = 1024 * 1024;

/** The limits shared by all bodies that are being received. */
export type BodyLimits = {
  /** Limits the bytes that have been received. */
  readonly memory: MemoryBudget;
  /** Limits large bodies, each of which takes several times its size while it is parsed. */
  readonly large: Semaphore;
};

/**
 * Checks a body chunk by chunk as it arrives. `check` throws UpstreamError `invalidResponse` for more than 32 MB or a
 * million JSON values, and `unavailable` when the memory budget has no bytes left.
 */
export class BodyCheck {
  readonly #memory: MemoryBudget;
  #reservation: Reservation | null = null;
  readonly #size = new JsonSize();
  #bytes = 0;

  constructor(memory: MemoryBudget) {
    this.#memory = memory;
  }

  /** Checks the next chunk of a body that has these chunks already. */
  readonly check = (chunk: Buffer, before: readonly Buffer[]): void => {
    const isFirstCounted = this.#bytes <= COUNTED_FROM_BYTES;
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) throw tooLarge(`${MAX_BYTES} bytes`);
    this.#reservation ??= this.#memory.reserve();
    if (!this.#reservation.tryGrow(chunk.length)) throw discarded();
    if (this.#bytes <= COUNTED_FROM_BYTES) return;
    if (isFirstCounted) for (const earlier of before) this.#size.add(earlier);
    this.#size.add(chunk);
    if (this.#size.values > MAX_VALUES) throw tooLarge(`${MAX_VALUES} JSON values`);
  };

  /** Returns the bytes to the budget, once the body is parsed or no longer needed. */
  release(): void {
    this.#reservation?.release();
  }
}

/**
 * Resolves with the result of `parse` for the whole body's bytes, which may free them. A large body waits for its turn
 * first. Rejects with UpstreamError `unavailable` when too many of them wait, and as `receiver` does.
 */
export const parseBody = async <Value>(
  receiver: ResponseReceiver,
  { large }: Pick<BodyLimits, 'large'>,
  parse: () => Promise<Value>,
): Promise<Value> => {
  if (receiver.isComplete) return parse();
  if (large.isFull) throw discarded();
  const parsed = large.run('', async () => {
    receiver.resume();
    await receiver.end;
    return parse();
  });
  // A failure also ends the wait for its turn.
  return await Promise.race([parsed, receiver.end.then(() => parsed)]);
};

const tooLarge = (limit: string): UpstreamError =>
  new UpstreamError('invalidResponse', `Expected an answer of at most ${limit} from upstream, got more.`);

/** It is retried, since there may be memory in a moment. It does not count against upstream: the limit is the gateway's. */
const discarded = (): UpstreamError =>
  new UpstreamError(
    'unavailable',
    "The gateway had no memory for upstream's answer: too many large answers arrive at the same time.",
    { connection: 'discarded' },
  );

const MAX_TYPE_CHARACTERS = 80;

const utf8 = new TextDecoder();

/** The body of a 2xx response, once all its bytes have arrived. */
export class ReceivedBody {
  readonly #chunks: Buffer[];
  readonly #statedType: string;
  readonly #credential: Credential | null;
  #isShared = false;
  /** A secret that upstream may repeat in the body and no client may see; null for none. */
  readonly secret: Buffer | null;

  /** `credential` is the one that the body was requested with; null if it was read without one, as from a cache. */
  constructor(chunks: Buffer[], statedType: string, credential: Credential | null) {
    this.#chunks = chunks;
    this.#statedType = statedType;
    this.#credential = credential;
    this.secret = credential && secretOf(credential);
  }

  /** The content type that upstream stated, for error messages: without the secret, which takes a while to look for. */
  get type(): string {
    const type = this.#credential ? redactText(this.#statedType, this.#credential) : this.#statedType;
    return type.slice(0, MAX_TYPE_CHARACTERS);
  }

  /** The number of bytes that have not been taken. */
  get bytes(): number {
    return totalLength(this.#chunks);
  }

  /** The bytes as they arrived, which may contain the secret. Empty after `takeText`. */
  get chunks(): readonly Buffer[] {
    return this.#chunks;
  }

  /** Whether the bytes contain the secret in JSON escapes. */
  get hidesSecret(): boolean {
    return hasEscaped(this.#chunks, this.secret);
  }

  /** The chunks without the secret, which may be kept outside of this process. They stay valid after `takeText`. */
  sharedChunks(): readonly Buffer[] {
    this.#isShared = true;
    return redactChunks([...this.#chunks], this.secret);
  }

  /**
   * Frees the memory of the bytes, unless they are shared: nothing reads them once they are parsed. Each read of a socket has
   * memory of its own. V8 counts it as pressure, and would collect its whole heap twice a second under load.
   */
  free(): void {
    if (!this.#isShared) this.#chunks.splice(0).forEach(freeBuffer);
  }

  /**
   * Returns the text without the secret, once. Then the bytes can be freed before parsing, which takes several times as
   * much memory.
   */
  takeText(): string {
    const bytes = Buffer.concat(redactChunks(this.#chunks.splice(0), this.secret));
    const text = utf8.decode(bytes);
    freeBuffer(bytes);
    return text;
  }
}

/** Parses a body. Rejects with UpstreamError `invalidResponse`. */
export type ParseBody<Body> = (body: ReceivedBody) => Promise<Body>;

/** Parses a body as JSON with every digit of its numbers; an empty body as null. Rejects with UpstreamError `invalidResponse`. */
export const parseJson = async (body: ReceivedBody): Promise<unknown> => {
  const text = body.takeText();
  if (text === '') return null;
  try {
    return await parseInSlices(text, parseExactJson);
  } catch (cause) {
    throw new UpstreamError(
      'invalidResponse',
      cause instanceof TooManyShapesError
        ? `Expected an answer from upstream whose objects have at most ${MAX_SHAPES} shapes, got more.`
        : `Expected JSON from upstream, got ${text.length} characters of ${body.type} that can't be parsed.`,
      { cause },
    );
  }
};

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
   * Called with each chunk of the body of a 2xx response that is not ignored, and the chunks before it. If it throws, the
   * request ends with that error.
   */
  readonly check: (chunk: Buffer, before: readonly Buffer[]) => void;
};

/** The body of any other response is received up to this size, which is enough for its message. */
const MAX_ERROR_BYTES = 64 * 1024;

/** An ignored body is received up to these limits, so that its connection can be reused. A longer one costs the connection. */
const MAX_IGNORED_BYTES = 64 * 1024;
const MAX_IGNORED_MS = 1000;

/**
 * The size at which a body pauses: large bodies are received and parsed one at a time. No page that follows the contract is
 * this large.
 */
const LARGE_BYTES = 8 * 1024 * 1024;

/** If upstream sends more of them for one request, the connection counts as broken. */
const MAX_INTERIM = 100;

/**
 * Receives the response to one request from undici's dispatcher. That costs about half as much as a response with a stream.
 */
export class ResponseReceiver implements Dispatcher.DispatchHandler {
  /** The body, as far as it has arrived. */
  readonly chunks: Buffer[] = [];
  bytes = 0;
  /** Whether the whole body has arrived. */
  isComplete = false;
  readonly #options: Options;
  readonly #first = Promise.withResolvers<ResponseHead>();
  #head: ResponseHead = { statusCode: 0, headers: {} };
  #controller: Controller | null = null;
  /** Why the request is aborted, even before it has a connection. */
  #reason: Error | null = null;
  #interim = 0;
  /** The rest of a large body; null for any other. */
  #rest: PromiseWithResolvers<void> | null = null;
  #ignoring: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Resolves with the head once enough of the body has arrived: all of it, LARGE_BYTES, the beginning of an error's message,
   * or nothing of an ignored one. Rejects with UpstreamError: that of an abort or of the check, else `unavailable`.
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
    if (statusCode < 200) return void this.#countInterim();
    this.#head = { statusCode, headers };
    this.#options.bill.answered(statusCode, headers);
    if (!this.#ignores) return;
    this.#first.resolve(this.#head);
    this.#ignoring = setTimeout(() => this.#discardRest(), MAX_IGNORED_MS).unref();
  }

  /** Interim responses come before the final one. Endless ones would keep the connection. */
  #countInterim(): void {
    this.#interim += 1;
    if (this.#interim > MAX_INTERIM) this.abort(new Error('Too many interim responses.'));
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
