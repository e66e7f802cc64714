import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { readTraceparent, type Trace } from '../../lib/trace.ts';
import type { RequestHeaders } from '../../lib/values.ts';

/** The header of the request id, in requests and in responses. */
const REQUEST_ID = 'x-request-id';
/** A client's own id is used if any log can hold it as it is. */
const VALID = /^[\w.:-]{1,128}$/;

const TRACE = Symbol('trace of a request');

type NamedResponse = ServerResponse & { [TRACE]?: Trace };

/** Gives every request its trace. Its id is the client's own id if that is valid, else a new one. */
export const nameRequests = (server: Server): void => {
  server.prependListener('request', ({ headers }: IncomingMessage, response: NamedResponse) => {
    const given = headers[REQUEST_ID];
    const requestId = typeof given === 'string' && VALID.test(given) ? given : randomUUID();
    response[TRACE] = createTrace(headers.traceparent, requestId);
  });
};

/** The trace of the request that `response` answers. */
export const traceOf = (response: NamedResponse): Trace => response[TRACE] ?? createTrace();

/** What the request causes from now on belongs to this trace. */
const setTrace = (response: NamedResponse, trace: Trace): void => {
  response[TRACE] = trace;
};

/** The id of the request that `response` answers. */
export const requestIdOf = (response: NamedResponse): string => response[TRACE]?.requestId ?? randomUUID();

/**
 * Continues the trace in the header `traceparent`, or begins one. The request id is new by default, since many operations
 * of a WebSocket share one request.
 */
export const createTrace = (
  traceparent?: string | readonly string[],
  requestId: string = randomUUID(),
): Trace => ({
  requestId,
  traceparent: readTraceparent(typeof traceparent === 'string' ? traceparent : null),
});

/** What happens when a response ends: callbacks are called, the rest of the request is discarded, the next request starts. */

const CALLBACKS = Symbol('callbacks of a response');

/** A response with listeners to its end. A weak map of all responses would cost the garbage collector more. */
type WatchedResponse = ServerResponse & { [CALLBACKS]?: (() => void)[] };

/**
 * Calls `callback` once the response was sent or its connection has closed; at once when it already has. All callbacks of
 * a response share one listener: Node warns of a leak at more than ten, and an event stream adds some of its own.
 */
export const onResponseClosed = (response: ServerResponse, callback: () => void): void => {
  if (response.closed) callback();
  else callbacksFor(response).push(callback);
};

const callbacksFor = (response: WatchedResponse): (() => void)[] => {
  const known = response[CALLBACKS];
  if (known) return known;
  const callbacks: (() => void)[] = [];
  response[CALLBACKS] = callbacks;
  // A response closes once.
  response.on('close', () => {
    for (const callback of callbacks) callback();
  });
  return callbacks;
};

/** Returns a signal that aborts when the connection closes before the response was sent. */
export const disconnectedSignalOf = (response: ServerResponse): AbortSignal => {
  const disconnected = new AbortController();
  onResponseClosed(response, () => response.writableFinished || disconnected.abort());
  return disconnected.signal;
};

/** How long the rest of a body is read and discarded after an early response. */
const LINGER_MS = 1000;

/**
 * Closes the connection of a request that was answered before all of its body arrived. It closes after a second, in which
 * Node discards what arrives: a client that is still sending would get a reset instead of the response.
 */
export const closeAfterEarlyResponse = (request: IncomingMessage, response: ServerResponse): void => {
  // After the response, neither the request nor the response refers to the socket any longer.
  const { socket } = request;
  // A response finishes once: a listener that removes itself would cost each request more.
  response.prependListener('finish', () => {
    if (request.complete) return;
    // Node calls `destroySoon` at once where the client wants no further response.
    socket.destroySoon = () => socket.end();
    const closeSocket = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    request.once('end', () => clearTimeout(closeSocket));
  });
};

/** Starts a request when the requests before it on its connection are answered. */
export type RequestQueue = (request: IncomingMessage, response: ServerResponse, start: () => void) => void;

/** Runs pipelined requests of one connection one after another: else the responses to later ones would wait in memory. */
export const createRequestQueue = (): RequestQueue => {
  const newest = new WeakMap<Socket, ServerResponse>();
  return ({ socket }, response, start) => {
    const before = newest.get(socket);
    newest.set(socket, response);
    if (before === undefined) start();
    else onResponseClosed(before, start);
  };
};

/** On every response. Only GraphiQL is a page, and sets a content security policy of its own. */
const SECURITY_HEADERS = new Map([
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
]);

/** Sets the headers that every response has, unless they are set already: the request id, and those for security. */
export const setCommonHeaders = (response: ServerResponse): void => {
  if (response.hasHeader(REQUEST_ID)) return;
  response.setHeader(REQUEST_ID, requestIdOf(response));
  response.setHeaders(SECURITY_HEADERS);
};

/**
 * Writes the status and all headers in one block: those that every response has, unless `others` have them, and `others`.
 * Node is quicker with a block than with headers that were set one by one.
 */
export const writeHeaderBlock = (
  response: ServerResponse,
  status: number,
  ...others: readonly Readonly<Record<string, string>>[]
): void => {
  const block = [REQUEST_ID, requestIdOf(response)];
  for (const [name, value] of SECURITY_HEADERS)
    if (!others.some((headers) => name in headers)) block.push(name, value);
  for (const headers of others)
    for (const name in headers) block.push(name.toLowerCase(), headers[name] ?? '');
  response.writeHead(status, block);
};

/** The headers of a request, as Node has read them. */
export const headersOf = ({ headers }: IncomingMessage): RequestHeaders => ({
  get: (name) => headers[name.toLowerCase()]?.toString() ?? null,
});

const ROUTES = ['graphql', 'mcp', 'deliveries', 'health', 'metrics'] as const;

/** A closed set of labels: the client chooses the path. */
type Route = (typeof ROUTES)[number] | 'other';

export type HttpObserver = {
  /** A request has arrived, with the trace that its client has sent. Returns the trace of what it causes. */
  started?(route: Route, request: IncomingMessage, trace: Trace): Trace | undefined;
  /** Called once for each request. `status` is null when the client disconnected before it was answered. */
  ended?(route: Route, status: number | null, trace: Trace): void;
};

/** Reports every HTTP request, except upgrades. Call it before `nameRequests`, so that each request has its trace. */
export const observeHttp = (server: Server, observer: HttpObserver): void => {
  const underWay = new WeakMap<Socket, Set<() => void>>();
  const requestsOf = (socket: Socket): Set<() => void> => {
    const known = underWay.get(socket);
    if (known) return known;
    const requests = new Set<() => void>();
    underWay.set(socket, requests);
    // In older releases of Node, a pipelined response that waits for another emits no `close` when its connection is cut.
    socket.on('close', () => {
      for (const end of requests) end();
    });
    return requests;
  };
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const route = routeOf(request.url);
    const requests = requestsOf(request.socket);
    const given = traceOf(response);
    const trace = observer.started?.(route, request, given) ?? given;
    setTrace(response, trace);
    const end = () => {
      if (requests.delete(end))
        observer.ended?.(route, response.headersSent ? response.statusCode : null, trace);
    };
    requests.add(end);
    onResponseClosed(response, end);
  });
};

const routeOf = (url = ''): Route => {
  const first = /^\/([a-z]*)/.exec(url)?.[1];
  return ROUTES.find((route) => route === first) ?? 'other';
};
