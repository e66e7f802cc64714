import { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { onAbort } from '../../lib/abort.ts';
import type { EventReader } from '../../streams/event-source.ts';
import { createUsage } from '../../upstream/client/usage.ts';
import { tokenExpired } from '../auth/auth-errors.ts';
import { onExpiry } from '../auth/expiry.ts';
import type { Frame } from '../subscriptions/frame.ts';
import { type Subscription, toFormattedError } from '../subscriptions/shared-execution.ts';

const PING_EVERY_MS = 12_000;
const PING = ':\n\n';
const COMPLETE = 'event: complete\ndata:\n\n';

type Options = {
  readonly subscription: Subscription;
  /** What the client says it has seen; null where it does not. */
  readonly lastEventId: string | null;
  /** What a client is told of an error. */
  readonly mask: (error: unknown) => GraphQLError;
  /** When the caller's rights end, in milliseconds since 1970; null when they never do. */
  readonly expiresAt: number | null;
  /** Aborts when they end before that, with why as its reason. Default: they do not. */
  readonly revoked?: AbortSignal | undefined;
  /** Called when it has written why it ends: its connection may take that whenever it likes, or never. */
  readonly onEnd?: (() => void) | undefined;
  /** How often a ping shows that the connection lives while there is nothing to tell. Default: 12000. */
  readonly pingEveryMs?: number | undefined;
};

/**
 * A subscription as server-sent events (the `distinct connections` of graphql-sse), each with its cursor as id. Gives
 * an event only when the connection has taken the one before it; pings while there is none.
 */
export class EventStream extends Readable {
  readonly #reader: EventReader<Frame>;
  readonly #mask: Options['mask'];
  readonly #ping: NodeJS.Timeout;
  readonly #stopExpiry: () => void;
  readonly #stopListening: () => void;
  readonly #onEnd: Options['onEnd'];
  #canPush = false;

  constructor(options: Options) {
    const { subscription, lastEventId, mask, expiresAt, revoked, onEnd } = options;
    const { pingEveryMs = PING_EVERY_MS } = options;
    super({ highWaterMark: 1 });
    this.#mask = mask;
    this.#onEnd = onEnd;
    // Some browsers tell of an answer only once a byte of its body has come.
    this.push(PING);
    this.#reader = subscription.open(lastEventId, () => this.#flush());
    this.#ping = setInterval(() => this.#canPush && this.#push(PING), pingEveryMs).unref();
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
      if (frame !== null) this.#push(frame.eventStreamBlock);
    } catch (error) {
      this.#end(error);
    }
  }

  #push(chunk: string | Buffer): void {
    this.#canPush = false;
    this.push(chunk);
  }

  #end(error: unknown): void {
    this.#dispose();
    const errors = [toFormattedError(this.#mask(error))];
    this.push(
      `event: next\ndata: ${JSON.stringify({ errors, extensions: { upstream: createUsage() } })}\n\n${COMPLETE}`,
    );
    this.push(null);
    this.#onEnd?.();
  }

  #dispose(): void {
    this.#canPush = false;
    clearInterval(this.#ping);
    this.#stopExpiry();
    this.#stopListening();
    this.#reader.close();
  }
}
