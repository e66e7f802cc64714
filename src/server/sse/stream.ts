import { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { onAbort } from '../../lib/abort.ts';
import type { StaggeredInterval } from '../../lib/scheduling/staggered-interval.ts';
import type { EventReader } from '../../streams/event-source.ts';
import { Usage } from '../../upstream/client/usage.ts';
import { tokenExpired } from '../auth/auth-errors.ts';
import { onExpiry } from '../auth/authenticate.ts';
import { type Frame, toFormattedError } from '../subscriptions/frame.ts';
import type { Subscription } from '../subscriptions/shared-execution.ts';

const PING = ':\n\n';
const COMPLETE = 'event: complete\ndata:\n\n';

type Options = {
  readonly subscription: Subscription;
  /** The cursor of the last event that the client has received; null if it sent none. */
  readonly lastEventId: string | null;
  /** Returns the error that the client sees. */
  readonly mask: (error: unknown) => GraphQLError;
  /** When the caller's token expires, in milliseconds since 1970; null if it never does. */
  readonly expiresAt: number | null;
  /** Aborts when upstream refuses the caller's key, with the error as its reason. Default: never. */
  readonly revoked?: AbortSignal | undefined;
  /** Called after the stream has written the error that ends it. The client may read that late, or never. */
  readonly onEnd?: (() => void) | undefined;
  /** The interval of keep-alive pings. */
  readonly keepAlive: StaggeredInterval;
};

/**
 * A subscription as server-sent events (the `distinct connections` mode of graphql-sse). The id of an event is its cursor.
 * Backpressure: it reads its next event once the connection has accepted the one before. While there is no event it pings.
 */
export class EventStream extends Readable {
  readonly #reader: EventReader<Frame>;
  readonly #mask: Options['mask'];
  readonly #stopPings: () => void;
  readonly #stopExpiry: () => void;
  readonly #stopListening: () => void;
  readonly #onEnd: Options['onEnd'];
  #canPush = false;

  constructor(options: Options) {
    const { subscription, lastEventId, mask, expiresAt, revoked, onEnd, keepAlive } = options;
    super({ highWaterMark: 1 });
    this.#mask = mask;
    this.#onEnd = onEnd;
    // Some browsers report a response only after the first byte of its body.
    this.push(PING);
    this.#reader = subscription.open(lastEventId, () => this.#flush());
    this.#stopPings = keepAlive.add(() => this.#canPush && this.#push(PING));
    this.#stopExpiry = onExpiry(expiresAt, () => this.#end(tokenExpired()));
    this.#stopListening = onAbort(revoked ?? null, () => this.#end(revoked?.reason));
  }

  override _read(): void {
    this.#canPush = true;
    this.#flush();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#dispose();
    callback(error);
  }

  #flush(): void {
    if (!this.#canPush) return;
    try {
      const frame = this.#reader.take();
      if (frame !== null) this.#push(...frame.eventStreamBlock);
    } catch (error) {
      this.#end(error);
    }
  }

  #push(...chunks: readonly (string | Buffer)[]): void {
    this.#canPush = false;
    for (const chunk of chunks) this.push(chunk);
  }

  #end(error: unknown): void {
    this.#dispose();
    const errors = [toFormattedError(this.#mask(error))];
    this.push(
      `event: next\ndata: ${JSON.stringify({ errors, extensions: { upstream: new Usage() } })}\n\n${COMPLETE}`,
    );
    this.push(null);
    this.#onEnd?.();
  }

  #dispose(): void {
    this.#canPush = false;
    this.#stopPings();
    this.#stopExpiry();
    this.#stopListening();
    this.#reader.close();
  }
}
