import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { clientError } from '../../graph/errors.ts';
import { onAbort } from '../../lib/deadlines.ts';
import type { EventReader } from '../../lib/event-source.ts';
import { createStaggeredInterval, type StaggeredInterval } from '../../lib/tasks.ts';
import { onExpiry, tokenExpired } from '../auth/authenticate.ts';
import type { VerifyKeyFailOpen } from '../auth/verify-key.ts';
import type { MaskError } from '../graphql/errors.ts';
import type { OperationPlugin, ServerPlugin } from '../graphql/operation-plugin.ts';
import { acceptedBy } from '../graphql/over-http/accept.ts';
import { onResponseClosed } from '../http/exchange.ts';
import { destroyUnlessClosed } from '../http/shutdown.ts';
import { EVENT_FORMATS, type EventFormat } from './event-formats.ts';
import { type Frame, toFormattedError } from './frame.ts';
import type { SubscribeResult, Subscription } from './shared-execution.ts';

const PING_EVERY_MS = 12_000;

/** Subscriptions over HTTP, as server-sent events or in parts. */
export type EventStreams = {
  /** Verifies the caller's key before a subscription starts. */
  readonly verification: OperationPlugin;
  /** Makes streams of subscriptions that have started. */
  readonly plugin: ServerPlugin;
  /** Destroys all streams, including those that begin later. They end without `complete`, so that their clients resume. */
  abortAll(): void;
};

type Options = {
  readonly mask: MaskError;
  readonly verifyKeyFailOpen: VerifyKeyFailOpen;
  /** The most open streams. */
  readonly maxStreams: number;
  /** The most open streams of one key, or of one token's subject. */
  readonly maxStreamsEach: number;
  /** How long a client may take to read the end of its stream, in milliseconds. */
  readonly closeMs?: number | undefined;
};

export const createEventStreams = ({
  mask,
  verifyKeyFailOpen,
  maxStreams,
  maxStreamsEach,
  closeMs,
}: Options): EventStreams => {
  const responses = new Set<ServerResponse>();
  const openOf = new Map<string, number>();
  const keepAlive = createStaggeredInterval(PING_EVERY_MS);
  let isAborted = false;
  const count = (client: string, change: number): void => {
    const open = (openOf.get(client) ?? 0) + change;
    if (open === 0) openOf.delete(client);
    else openOf.set(client, open);
  };
  const track = (response: ServerResponse, client: string): void => {
    responses.add(response);
    count(client, 1);
    onResponseClosed(response, () => {
      responses.delete(response);
      count(client, -1);
    });
    // Its key may still have been in verification when the other streams were destroyed.
    if (isAborted) response.destroy();
  };
  return {
    verification: {
      async onSubscribe(start) {
        const { contextValue } = start.args;
        const { req, clientSignal, verifyKey, billingKey, expiresAt, trace } = contextValue;
        // A WebSocket verifies the key once for all its operations.
        if (!req || !clientSignal) return;
        const revoked = new AbortController();
        try {
          await verifyKeyFailOpen(verifyKey, clientSignal, (error) => revoked.abort(error));
          contextValue.verified = { billingKey, expiresAt, trace, revoked: revoked.signal };
        } catch (error) {
          start.result = { errors: [mask(error, trace)] };
        }
        return;
      },
    },
    plugin: {
      onResultProcess({ result, setResult, setResultProcessor, serverContext: { req, res, operation } }) {
        const { subscription } = result as SubscribeResult;
        if (!subscription || !operation?.verified) return;
        const { billingKey, expiresAt, revoked, trace } = operation.verified;
        if (responses.size >= maxStreams) return setResult({ errors: [tooMany(maxStreams)] });
        if ((openOf.get(billingKey) ?? 0) >= maxStreamsEach)
          return setResult({ errors: [tooMany(maxStreamsEach)] });
        // An empty Last-Event-ID means that no event was received yet.
        const lastEventId = req.headers['last-event-id']?.toString() || null;
        const type = acceptedBy(req).events ?? 'text/event-stream';
        const format = EVENT_FORMATS[type];
        track(res, billingKey);
        setResultProcessor((_result, { Response }) => {
          const onEnd = () => destroyUnlessClosed(res, () => res.destroy(), closeMs);
          const stream = new EventStream({
            subscription,
            format,
            lastEventId,
            mask: (error) => mask(error, trace),
            expiresAt,
            revoked,
            onEnd,
            keepAlive,
          });
          // Yoga destroys the stream of a response only once it sends it.
          onResponseClosed(res, () => stream.destroy());
          // Yoga's Response accepts a stream of Node and pipes it; its type is that of browsers.
          const headers = { ...HEADERS, 'content-type': format.contentType };
          return new Response(stream as unknown as BodyInit, { headers });
        }, type);
      },
      // Yoga sets `Connection: keep-alive` on each event stream; Node sets what the client asked for.
      onResponse: ({ response }) => response.headers.delete('connection'),
    },
    abortAll() {
      isAborted = true;
      keepAlive.stop();
      for (const response of responses) response.destroy();
    },
  };
};

const tooMany = (maxStreams: number): GraphQLError =>
  clientError('OPERATION_TOO_COMPLEX', `Expected at most ${maxStreams} open event streams, got one more.`, {
    http: { status: 503, headers: { 'retry-after': '5' } },
  });

const HEADERS = {
  'cache-control': 'no-store, no-transform',
  // Without it nginx buffers events before it forwards them.
  'x-accel-buffering': 'no',
};

type StreamOptions = {
  readonly subscription: Subscription;
  readonly format: EventFormat;
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
 * A subscription as the body of one response. Backpressure: it reads its next event once the connection has accepted the one before. While there is no event
 * it pings.
 */
export class EventStream extends Readable {
  readonly #reader: EventReader<Frame>;
  readonly #format: EventFormat;
  readonly #mask: StreamOptions['mask'];
  readonly #stopPings: () => void;
  readonly #stopExpiry: () => void;
  readonly #stopListening: () => void;
  readonly #onEnd: StreamOptions['onEnd'];
  #canPush = false;

  constructor(options: StreamOptions) {
    const { subscription, format, lastEventId, mask, expiresAt, revoked, onEnd, keepAlive } = options;
    super({ highWaterMark: 1 });
    this.#format = format;
    this.#mask = mask;
    this.#onEnd = onEnd;
    this.push(format.opening);
    this.#reader = subscription.open(lastEventId, () => this.#flush());
    this.#stopPings = keepAlive.add(() => this.#canPush && this.#push(format.ping));
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
      if (frame !== null) this.#push(...this.#format.eventOf(frame));
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
    this.push(this.#format.endOf(toFormattedError(this.#mask(error))));
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
