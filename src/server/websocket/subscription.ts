import type { EventReader } from '../../streams/event-source.ts';
import type { Frame } from '../subscriptions/frame.ts';
import type { Subscription } from '../subscriptions/shared-execution.ts';
import type { FrameWriter } from './shared-frame-writer.ts';

/** So many events in a row, then others have their turn. */
const BURST = 64;

type End = PromiseWithResolvers<IteratorResult<never, undefined>>;

const DONE = { done: true, value: undefined } as const;

/**
 * A subscription on a WebSocket. graphql-ws iterates it, but gets nothing except its end: events go to the socket as
 * frames that all subscribers share, as fast as the socket takes them.
 */
export class SocketSubscription implements AsyncIterableIterator<never, undefined> {
  /** Null once it is open: it holds all that the operation started with. */
  #subscription: Subscription | null;
  readonly #frameWriter: FrameWriter;
  readonly #before: string;
  readonly #end: End = Promise.withResolvers();
  #reader: EventReader<Frame> | null = null;

  constructor(subscription: Subscription, frameWriter: FrameWriter, id: string) {
    this.#subscription = subscription;
    this.#frameWriter = frameWriter;
    this.#before = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<never, undefined>> {
    if (this.#subscription !== null) {
      this.#reader = this.#subscription.open(null, this.#give);
      this.#subscription = null;
      this.#give();
    }
    return this.#end.promise;
  }

  /**
   * Leaves `next()` without an answer: graphql-ws would take it for the end of whatever has the id by then, and complete
   * that.
   */
  return(): Promise<IteratorResult<never, undefined>> {
    this.#subscription = null;
    this.#reader?.close();
    return Promise.resolve(DONE);
  }

  readonly #give = (): void => {
    try {
      if (this.#sendBurst()) return;
      if (this.#frameWriter.isReady) setImmediate(this.#give);
      else this.#frameWriter.onDrain(this.#give);
    } catch (error) {
      this.#reader?.close();
      this.#end.reject(error);
    }
  };

  /** Whether it has sent all that there is. */
  #sendBurst(): boolean {
    try {
      for (let sent = 0; sent < BURST && this.#frameWriter.isReady; sent += 1) {
        const frame = this.#reader?.take();
        if (!frame) return true;
        // One that comes alone, as most do, goes straight out.
        if (sent === 1) this.#frameWriter.batch();
        this.#frameWriter.send(this.#before, frame.payload, '}');
      }
      return false;
    } finally {
      this.#frameWriter.flush();
    }
  }
}
