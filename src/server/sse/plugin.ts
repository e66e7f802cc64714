import type { ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { clientError } from '../../graph/errors.ts';
import { createStaggeredInterval } from '../../lib/scheduling/staggered-interval.ts';
import type { Trace } from '../../lib/trace-context.ts';
import type { VerifyKeyFailOpen } from '../auth/verify-key.ts';
import type { MaskError } from '../graphql/mask-errors.ts';
import type { OperationPlugin } from '../graphql/operation-plugin.ts';
import type { ServerPlugin } from '../graphql/server-context.ts';
import { createTrace } from '../http/request-id.ts';
import { onResponseClosed } from '../http/response-end.ts';
import { destroyUnlessClosed } from '../http/shutdown.ts';
import type { SubscribeResult } from '../subscriptions/shared-execution.ts';
import { EventStream } from './stream.ts';

const PING_EVERY_MS = 12_000;

/** A subscription whose caller may subscribe. */
type Authorized = {
  readonly billingKey: string;
  readonly res: ServerResponse | undefined;
  /** When the caller's token expires, in milliseconds since 1970; null if it never does. */
  readonly expiresAt: number | null;
  readonly trace: Trace;
  /** Aborts when upstream refuses the caller's key later. */
  readonly revoked: AbortSignal;
};

/** Subscriptions over HTTP, as server-sent events. */
export type EventStreams = {
  /** Verifies the caller's key before a subscription starts. */
  readonly verification: OperationPlugin;
  /** Makes streams of subscriptions that have started. */
  readonly plugin: ServerPlugin;
  /** Destroys all streams, and those that begin later. They end without a `complete`, so that their clients resume. */
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
  const authorized = new WeakMap<Request, Authorized>();
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
      async onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
        const { request, res, verifyKey, billingKey, expiresAt, trace } = contextValue;
        // A WebSocket verifies the key once for all its operations.
        if (request === undefined) return;
        const [disconnected, revoked] = [new AbortController(), new AbortController()];
        if (res) onResponseClosed(res, () => disconnected.abort());
        try {
          await verifyKeyFailOpen(verifyKey, disconnected.signal, (error) => revoked.abort(error));
          authorized.set(request, { res, billingKey, expiresAt, trace, revoked: revoked.signal });
        } catch (error) {
          setResultAndStopExecution({ errors: [mask(error, trace)] });
        }
        return;
      },
    },
    plugin: {
      onResultProcess({ request, result, setResult, setResultProcessor }) {
        const { subscription } = result as SubscribeResult;
        if (isAsyncIterable(result) || subscription === undefined) return;
        const known = authorized.get(request);
        const { res, billingKey = '', expiresAt = null, revoked, trace = createTrace() } = known ?? {};
        if (responses.size >= maxStreams) return setResult({ errors: [tooMany(maxStreams)] });
        if ((openOf.get(billingKey) ?? 0) >= maxStreamsEach)
          return setResult({ errors: [tooMany(maxStreamsEach)] });
        // An empty Last-Event-ID means that no event was received yet.
        const lastEventId = request.headers.get('last-event-id') || null;
        if (res) track(res, billingKey);
        setResultProcessor((_result, { Response }) => {
          const onEnd = () => res && destroyUnlessClosed(res, () => res.destroy(), closeMs);
          const stream = new EventStream({
            subscription,
            lastEventId,
            mask: (error) => mask(error, trace),
            expiresAt,
            revoked,
            onEnd,
            keepAlive,
          });
          // Yoga destroys the stream of a response only once it sends it.
          if (res) onResponseClosed(res, () => stream.destroy());
          // Yoga's Response accepts a stream of Node and pipes it; its type is that of browsers.
          return new Response(stream as unknown as BodyInit, { headers: HEADERS });
        }, 'text/event-stream');
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
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Without it nginx buffers events before it forwards them.
  'x-accel-buffering': 'no',
};
