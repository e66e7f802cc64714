import { createHash } from 'node:crypto';
import { type Attributes, SpanKind } from '@opentelemetry/api';
import type { DocumentNode } from 'graphql';
import type { LogObserver } from '../deliveries/log/observer.ts';
import type { SharedAnswerObserver } from '../graph/answer/shared-answers.ts';
import { rememberEach } from '../lib/memo.ts';
import { childOf, type Trace } from '../lib/trace.ts';
import type { Attributed } from '../server/graphql/attribution.ts';
import type { DocumentObserver } from '../server/graphql/limits/documents.ts';
import type { OperationObserver } from '../server/graphql/observe.ts';
import type { HttpObserver } from '../server/http/exchange.ts';
import type { EventObserver } from '../server/subscriptions/frame.ts';
import type { SocketObserver } from '../server/websocket/connection.ts';
import type { PageObserver } from '../upstream/cache/page-cache.ts';
import type { UpstreamObserver } from '../upstream/client/observer.ts';
import type { Sink } from './combine.ts';
import { isUnsampled, type Spans } from './tracer.ts';
import { inSnakeCase } from './upstream-metrics.ts';

/** The client chooses the name. */
const MAX_NAME = 100;

/** The attributes that say which operation it is. Neither its document nor its variables are among them. */
type DescribeOperation = (type: string, name: string | null, document: DocumentNode) => Attributes;

export const createDescribeOperation = (): DescribeOperation => {
  const hashOf = rememberEach((document: DocumentNode) =>
    createHash('sha256')
      .update(document.loc?.source.body ?? '')
      .digest('hex'),
  );
  return (type, name, document) => ({
    'graphql.operation.type': type,
    ...(name !== null && { 'graphql.operation.name': name.slice(0, MAX_NAME) }),
    'gateway.document.sha256': hashOf(document),
  });
};

/** The span of an operation while it runs. A subscription's ends when its first event can be sent. */
export const createOperationSpans = (spans: Spans, describe: DescribeOperation): Sink<OperationObserver> => ({
  started: ({ attributed, type, transport, name, document, trace }) =>
    spans.begin(trace, type, {
      attributes: {
        ...describe(type, name, document),
        'gateway.transport': transport,
        ...sourceOf(attributed),
      },
    }),
  answered({ attributed, codes, abandoned, durationMs, upstream, estimate, trace }) {
    const failure = { ...(codes.length > 0 && { 'gateway.error.codes': [...codes] }) };
    // It was rejected before it ran: the span of its request says so.
    if (durationMs === null) return spans.annotate(trace, { ...failure, ...sourceOf(attributed) });
    spans.end(trace, {
      attributes: {
        ...failure,
        ...(estimate !== null && { 'gateway.estimated_compute_units': estimate }),
        ...(abandoned && { 'gateway.client.disconnected': true }),
        ...(upstream && {
          'gateway.upstream.requests': upstream.requests,
          'gateway.upstream.compute_units': upstream.computeUnits,
          'gateway.upstream.cached': upstream.cached,
        }),
      },
      error: abandoned ? null : (codes[0] ?? null),
    });
  },
  // The request of an event stream may take hours. Its span ends when the stream begins.
  streaming(trace) {
    spans.end(trace, { attributes: { 'http.response.status_code': 200 } });
  },
});

/** The attributes that say who sent an operation. */
const sourceOf = ({ attribution, clientVersion, tenant }: Attributed): Attributes => ({
  'gateway.client.name': attribution.client,
  ...(clientVersion !== null && { 'gateway.client.version': clientVersion }),
  ...(tenant !== null && { 'gateway.tenant': tenant }),
});

/** The spans of parsing and validating a new document, and further attributes of an operation's span. */
export const createDocumentSpans = (spans: Spans): DocumentObserver => ({
  reading(step, parent) {
    const trace = spans.begin(parent, `graphql.${step}`);
    return (isInvalid) => spans.end(trace, { error: isInvalid ? 'invalid' : null });
  },
});

export const createSharedAnswerSpans = (spans: Spans): SharedAnswerObserver => ({
  shared: (trace) => spans.annotate(trace, { 'gateway.answer.shared': true }),
});

/** The spans of what clients and upstream send: of HTTP requests, and of the operations of WebSockets. */

/** The paths, without the parts that clients choose or that are secret. Other routes have no spans. */
const ROUTES: Readonly<Record<string, string>> = {
  graphql: '/graphql',
  mcp: '/mcp',
  deliveries: '/deliveries/{tenant}/{token}',
};

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']);

const DISCONNECTED = { 'gateway.client.disconnected': true };

export const createHttpSpans = (spans: Spans): HttpObserver => ({
  started(route, { method = '', httpVersion }, trace) {
    const path = ROUTES[route];
    if (path === undefined) return trace;
    const known = METHODS.has(method) ? method : '_OTHER';
    return spans.beginForClient(trace, `${known === '_OTHER' ? 'HTTP' : known} ${path}`, {
      kind: SpanKind.SERVER,
      attributes: {
        'http.request.method': known,
        'http.route': path,
        'url.scheme': 'http',
        'network.protocol.version': httpVersion,
      },
    });
  },
  ended(_route, status, trace) {
    if (status === null) return spans.end(trace, { attributes: DISCONNECTED });
    const attributes = { 'http.response.status_code': status };
    spans.end(trace, { attributes, error: status >= 500 ? String(status) : null });
  },
});

export const createSocketSpans = (spans: Spans): SocketObserver => ({
  received(client, clientSignal) {
    const trace = spans.beginForClient(client, 'WEBSOCKET /graphql', {
      kind: SpanKind.SERVER,
      attributes: { 'http.route': '/graphql', 'url.scheme': 'ws', 'network.protocol.name': 'websocket' },
    });
    const end = () => spans.end(trace, { attributes: DISCONNECTED });
    if (spans.isOpen(trace)) clientSignal.addEventListener('abort', end, { once: true });
    return trace;
  },
  ended: (trace) => spans.end(trace),
});

/** The span of getting a page, by its cache result. The requests that it causes are below it. */
export const createPageSpans =
  (spans: Spans) =>
  (resource: string): PageObserver => ({
    getting: (trace) =>
      spans.begin(trace, `page ${resource}`, { attributes: { 'gateway.resource': resource } }),
    got({ result, trace, joined, failed }) {
      spans.end(trace, {
        attributes: { 'gateway.cache.result': inSnakeCase(result) },
        error: failed ? 'failed' : null,
        link: joined,
      });
    },
  });

/**
 * The span of each attempt of an upstream request, from when it was sent. Its path and query are left out: they name
 * wallets. `url` is upstream's; null for the sandbox.
 */
export const createUpstreamSpans = (spans: Spans, url: string | null): UpstreamObserver => {
  const { hostname, port, protocol } = new URL(url ?? 'http://sandbox');
  const server = {
    'server.address': hostname,
    ...(url !== null && { 'server.port': Number(port || (protocol === 'https:' ? 443 : 80)) }),
  };
  return {
    sending({ resource, method, number, queuedMs, trace: parent }) {
      if (isUnsampled(parent)) return spans.propagates ? childOf(parent) : { ...parent, traceparent: null };
      const trace = spans.begin(parent, `${method} ${resource}`, {
        kind: SpanKind.CLIENT,
        attributes: {
          ...server,
          'http.request.method': method,
          'gateway.resource': resource,
          'gateway.upstream.queued_ms': Math.round(queuedMs),
          ...(number > 1 && { 'http.request.resend_count': number - 1 }),
        },
      });
      return spans.propagates ? trace : spans.unnamed(trace);
    },
    ended({ resource, method, number, error, sent, status, queuedMs, computeUnits, trace }) {
      const failure = error?.failure ?? (status === null ? '_OTHER' : null);
      if (sent)
        return spans.end(trace, {
          attributes: {
            ...(status !== null && { 'http.response.status_code': status }),
            'gateway.upstream.compute_units': computeUnits,
          },
          error: failure,
        });
      const unsent = spans.begin(trace, `${method} ${resource}`, {
        startTime: performance.now() - queuedMs,
        attributes: {
          'gateway.resource': resource,
          'gateway.upstream.sent': false,
          ...(number > 1 && { 'http.request.resend_count': number - 1 }),
        },
      });
      spans.end(unsent, { error: failure });
    },
  };
};

/** The traces of the newest deliveries that this process has stored, by their cursors. */
const MAX_REMEMBERED = 10_000;

/**
 * The span of an append, below that of the delivery's request, and the span of each event that is executed. An event has a
 * trace of its own, since all subscribers share it. It is linked to its delivery's append and to the first subscriber.
 */
export const createDeliverySpans = (
  spans: Spans,
  describe: DescribeOperation,
): { readonly log: LogObserver; readonly events: EventObserver } => {
  const appends = new Map<string, Trace>();
  const remember = (cursor: string, trace: Trace): void => {
    appends.set(cursor, trace);
    if (appends.size > MAX_REMEMBERED)
      for (const oldest of appends.keys()) return void appends.delete(oldest);
  };
  const fail = (error: unknown, trace: Trace | null): void => {
    if (trace) spans.end(trace, { error: error instanceof Error ? error.name : '_OTHER' });
  };
  return {
    log: {
      appending: (trace) => spans.begin(trace, 'delivery log append'),
      appended({ stored, duplicates, results, trace }) {
        if (trace === null) return;
        spans.end(trace, {
          attributes: { 'gateway.deliveries.stored': stored, 'gateway.deliveries.duplicates': duplicates },
        });
        if (isUnsampled(trace)) return;
        for (const { cursor, duplicate } of results) if (!duplicate) remember(cursor, trace);
      },
      failed: (_task, error, trace) => fail(error, trace),
      refused: fail,
    },
    events: {
      executing({ cursor, name, document, trace }) {
        const causes = [appends.get(cursor) ?? null, trace];
        const attributes = describe('subscription', name, document);
        return spans.beginLinked(causes, 'event', { attributes }, trace.requestId);
      },
      executed: (trace, failed) => spans.end(trace, { error: failed ? 'failed' : null }),
    },
  };
};
