import { SpanKind } from '@opentelemetry/api';
import type { Spans } from './spans.ts';
import type { Traces } from './traces.ts';

/** The spans of what clients and upstream send: of HTTP requests, and of the operations of WebSockets. */

/** The paths with the parts that clients choose, or that are secret, left out. Other routes have no spans. */
const ROUTES: Readonly<Record<string, string>> = {
  graphql: '/graphql',
  deliveries: '/deliveries/{tenant}/{token}',
};

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']);

const DISCONNECTED = { 'gateway.client.disconnected': true };

export const createHttpSpans = (spans: Spans): Traces['http'] => ({
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

export const createSocketSpans = (spans: Spans): Traces['sockets'] => ({
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
