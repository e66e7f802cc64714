import type { ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Context } from '../../context.ts';
import { clientError } from '../../graph/errors.ts';
import { verifyKeyFailOpen } from '../auth/verify-key.ts';
import { destroyUnlessClosed } from '../http/force-close.ts';
import { onResponseClosed } from '../http/response-closed.ts';
import type { SubscribeResult } from '../subscriptions/shared-execution.ts';
import { EventStream } from './stream.ts';

/** What a subscription came with. */
type ServerContext = Partial<Pick<Context, 'expiresAt' | 'verifyKey'>> & { readonly res?: ServerResponse };

type Admitted = {
  readonly res: ServerResponse | undefined;
  readonly expiresAt: number | null;
  /** Aborts when the service refuses the caller's key after all. */
  readonly revoked: AbortSignal;
};

/** Subscriptions over HTTP, as server-sent events. */
export type EventStreams = {
  readonly plugin: Plugin<ServerContext>;
  /** Cuts them, and those that begin from here on, without a word that they are complete, so that their clients resume. */
  abortAll(): void;
};

export const createEventStreams = (
  mask: (error: unknown) => GraphQLError,
  maxStreams: number,
): EventStreams => {
  const responses = new Set<ServerResponse>();
  const arrivals = new WeakMap<Request, Admitted>();
  let isCut = false;
  const track = (response: ServerResponse): void => {
    responses.add(response);
    onResponseClosed(response, () => responses.delete(response));
    // The service may have been asked about its key when the others were cut.
    if (isCut) response.destroy();
  };
  return {
    plugin: {
      async onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
        const { request, res, verifyKey, expiresAt = null } = contextValue;
        // Who comes by WebSocket was admitted with it.
        if (request === undefined || verifyKey === undefined) return;
        const [disconnected, revoked] = [new AbortController(), new AbortController()];
        if (res) onResponseClosed(res, () => disconnected.abort());
        try {
          await verifyKeyFailOpen(verifyKey, disconnected.signal, (refusal) => revoked.abort(refusal));
          arrivals.set(request, { res, expiresAt, revoked: revoked.signal });
        } catch (refusal) {
          setResultAndStopExecution({ errors: [mask(refusal)] });
        }
      },
      onResultProcess({ request, result, setResult, setResultProcessor }) {
        const { subscription } = result as SubscribeResult;
        if (isAsyncIterable(result) || subscription === undefined) return;
        if (responses.size >= maxStreams) return setResult({ errors: [tooMany(maxStreams)] });
        // An empty one says that nothing was seen yet.
        const lastEventId = request.headers.get('last-event-id') || null;
        const { res, expiresAt = null, revoked } = arrivals.get(request) ?? {};
        if (res) track(res);
        setResultProcessor((_result, { Response }) => {
          const onEnd = () => res && destroyUnlessClosed(res, () => res.destroy());
          const stream = new EventStream({ subscription, lastEventId, mask, expiresAt, revoked, onEnd });
          // Yoga looks after the stream only when there is somebody to send it to.
          if (res) onResponseClosed(res, () => stream.destroy());
          // Yoga's Response takes a stream of Node's, and pipes it; its type is a browser's.
          return new Response(stream as unknown as BodyInit, { headers: HEADERS });
        }, 'text/event-stream');
      },
      // Yoga says of each event stream that its connection is kept; Node knows whether the client wants that.
      onResponse: ({ response }) => response.headers.delete('connection'),
    },
    abortAll() {
      isCut = true;
      for (const response of responses) response.destroy();
    },
  };
};

const tooMany = (maxStreams: number): GraphQLError =>
  clientError('OPERATION_TOO_COMPLEX', `Expected at most ${maxStreams} event streams at once.`, {
    http: { status: 503, headers: { 'retry-after': '5' } },
  });

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Proxies of the nginx kind would else collect events before they send them on.
  'x-accel-buffering': 'no',
};
