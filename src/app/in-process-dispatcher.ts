import type { Dispatcher } from 'undici';
import type { AnswerPart, Ask } from '../backend/http/http.ts';
import type { RequestDispatcher, ResponseHandler, SentRequest } from '../upstream/client/client.ts';

/**
 * Asks a service in this process, or in a thread of it, by the contract of undici's dispatchers: a handler can't tell that there is
 * no socket. Failures have the codes of sockets.
 */
export class InProcessDispatcher implements RequestDispatcher {
  readonly #ask: Ask;
  readonly #open = new Set<Exchange>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  dispatch({ path: target, method, headers, body }: SentRequest, handler: ResponseHandler): boolean {
    const exchange = new Exchange(handler, this.#open);
    const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const asked = { method, target, headers: Object.fromEntries(named), body: body ?? '' };
    exchange.start(() => this.#ask(asked, (part) => exchange.take(part)));
    return true;
  }

  async destroy(): Promise<void> {
    for (const exchange of this.#open)
      exchange.abort(withCode('UND_ERR_DESTROYED', 'The client is destroyed.'));
  }
}

const withCode = (code: string, message: string): Error => Object.assign(new Error(message), { code });

/** One request, as its handler controls it. */
class Exchange implements Dispatcher.DispatchController {
  paused = false;
  reason: Error | null = null;
  readonly #handler: ResponseHandler;
  readonly #open: Set<Exchange>;
  /** The parts that arrived while it is paused. */
  readonly #waiting: AnswerPart[] = [];
  #leave: (() => void) | null = null;

  /** It is one of `open` until it ends. */
  constructor(handler: ResponseHandler, open: Set<Exchange>) {
    this.#handler = handler;
    this.#open = open;
    open.add(this);
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  /** Calls `ask`, unless the handler aborts it at once. */
  start(ask: () => () => void): void {
    this.#handler.onRequestStart(this, {});
    if (!this.aborted) this.#leave = ask();
  }

  abort(reason: Error): void {
    if (!this.#open.delete(this)) return;
    this.reason = reason;
    this.#leave?.();
    this.#handler.onResponseError(this, reason);
  }

  fail(error: Error): void {
    if (this.#open.delete(this)) this.#handler.onResponseError(this, error);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    for (const part of this.#waiting.splice(0)) this.take(part);
  }

  take(part: AnswerPart): void {
    if (this.paused) this.#waiting.push(part);
    else if (this.#open.has(this)) this.#hand(part);
  }

  #hand({ head, chunk, end }: AnswerPart): void {
    try {
      if (head !== undefined) this.#handler.onResponseStart(this, head.status, head.headers);
      if (chunk !== undefined && !this.aborted)
        this.#handler.onResponseData(this, Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error(String(error)));
    }
    if (end === 'broken') this.fail(withCode('ECONNRESET', 'The service has ended before its answer.'));
    else if (end === 'unheard') this.fail(withCode('ECONNREFUSED', 'The service is not there.'));
    else if (end === 'whole' && this.paused) this.#waiting.push({ end });
    else if (end === 'whole' && this.#open.delete(this)) this.#handler.onResponseEnd(this, {});
  }
}
