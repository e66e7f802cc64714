import type { ExecutionResult } from 'graphql';
import { jsonParts, type SerializedData } from '../../graph/answer/serialize.ts';
import type { EventReader } from '../../lib/event-source.ts';
import type { Frame } from '../subscriptions/frame.ts';
import type { Subscription } from '../subscriptions/shared-execution.ts';
import type { FrameWriter } from './frame-writer.ts';

type Step = IteratorResult<never, undefined>;

export const END: Promise<Step> = Promise.resolve({ done: true, value: undefined });

/**
 * What graphql-ws iterates for an operation. It yields no values: the operation writes its messages to the socket by
 * itself. graphql-ws sees only its end, and reports that to the client as `complete` or `error`.
 */
export abstract class OperationStream implements AsyncIterableIterator<never, undefined> {
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Resolves when the operation has ended, and rejects with the error that ended it. */
  abstract next(): Promise<Step>;

  /** graphql-ws calls it when the client completes the operation, or its socket closes. */
  return(): Promise<Step> {
    this.cancel();
    return END;
  }

  protected abstract cancel(): void;
}

/** The text of a `next` message in front of its payload. */
export const nextPrefix = (id: string): string => `{"id":${JSON.stringify(id)},"type":"next","payload":`;

/** The answer to a query or a mutation whose data is JSON already: graphql-ws would serialise it a second time. */
export class SerializedAnswer extends OperationStream {
  /** Null after it is sent. */
  #payload: readonly Buffer[] | null;
  readonly #data: SerializedData;
  readonly #frameWriter: FrameWriter;
  readonly #id: string;

  constructor(
    { errors, ...result }: ExecutionResult,
    data: SerializedData,
    frameWriter: FrameWriter,
    id: string,
  ) {
    super();
    // `errors` comes last, as in the answers that graphql-ws writes.
    this.#payload = jsonParts({ ...result, ...(errors && { errors }) }, data);
    this.#data = data;
    this.#frameWriter = frameWriter;
    this.#id = id;
  }

  next(): Promise<Step> {
    const payload = this.#payload;
    this.#payload = null;
    if (payload) this.#frameWriter.sendAnswer(nextPrefix(this.#id), payload, '}', this.#release);
    return END;
  }

  protected cancel(): void {
    if (this.#payload) this.#release();
    this.#payload = null;
  }

  readonly #release = (): void => this.#data.lease?.release();
}

/** The events that a subscription sends in a row before other work has its turn. */
const BURST = 64;

/**
 * A subscription. Backpressure: it reads its next event once the socket accepts another frame. The frames are shared by
 * all subscribers of an event.
 */
export class SocketSubscription extends OperationStream {
  /** Null after it is opened, so that nothing of the operation's start stays in memory. */
  #subscription: Subscription | null;
  readonly #frameWriter: FrameWriter;
  readonly #prefix: string;
  readonly #failure = Promise.withResolvers<Step>();
  #reader: EventReader<Frame> | null = null;

  constructor(subscription: Subscription, frameWriter: FrameWriter, id: string) {
    super();
    this.#subscription = subscription;
    this.#frameWriter = frameWriter;
    this.#prefix = nextPrefix(id);
  }

  /**
   * Rejects with the error that ends the subscription, and never resolves, also after `cancel`: graphql-ws would take that
   * for the end of the operation that has the id by then, and complete it.
   */
  next(): Promise<Step> {
    if (this.#subscription !== null) {
      this.#reader = this.#subscription.open(null, this.#flush);
      this.#subscription = null;
      this.#flush();
    }
    return this.#failure.promise;
  }

  protected cancel(): void {
    this.#subscription = null;
    this.#reader?.close();
  }

  readonly #flush = (): void => {
    try {
      if (this.#sendBurst()) return;
      if (this.#frameWriter.isReady) setImmediate(this.#flush);
      else this.#frameWriter.onDrain(this.#flush);
    } catch (error) {
      this.#reader?.close();
      this.#failure.reject(error);
    }
  };

  /** Returns whether it has sent all events that there are. */
  #sendBurst(): boolean {
    try {
      for (let sent = 0; sent < BURST && this.#frameWriter.isReady; sent += 1) {
        const frame = this.#reader?.take();
        if (!frame) return true;
        // Most events come alone, and are written without a batch.
        if (sent === 1) this.#frameWriter.batch();
        this.#frameWriter.send(this.#prefix, frame.parts, '}');
      }
      return false;
    } finally {
      this.#frameWriter.flush();
    }
  }
}
