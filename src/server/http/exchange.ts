import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { rememberLast } from '../../lib/memo.ts';
import { readTraceparent, type Trace } from '../../lib/trace.ts';

/** The header of the request id, in requests and in responses. */
const REQUEST_ID = 'x-request-id';
/** A client's own id is used if any log can hold it as it is. */
const VALID = /^[\w.:-]{1,128}$/;

const EXCHANGE = Symbol('exchange of a response');

/** A response knows its exchange. A weak map of all responses would cost the garbage collector more. */
type KnownResponse = ServerResponse & { [EXCHANGE]?: Exchange };

/** A request and its response, from its head until the response was sent or the connection has closed. */
class Exchange {
  /** What the request causes from now on belongs to it. */
  trace: Trace;
  #hasClosed: boolean;
  #callbacks: (() => void)[] | null = null;

  constructor(response: KnownResponse, trace: Trace) {
    this.trace = trace;
    this.#hasClosed = response.closed;
    response[EXCHANGE] = this;
    response.on('close', listeners.close);
  }

  onClosed(callback: () => void): void {
    if (this.#hasClosed) callback();
    else if (this.#callbacks) this.#callbacks.push(callback);
    else this.#callbacks = [callback];
  }

  close(): void {
    if (this.#hasClosed) return;
    this.#hasClosed = true;
    for (const callback of this.#callbacks ?? []) callback();
  }
}

/** Begins the exchange of a request, with its trace. Its id is the client's own id if that is valid, else a new one. */
export const beginExchange = ({ headers }: IncomingMessage, response: ServerResponse): void => {
  const given = headers[REQUEST_ID];
  const requestId = typeof given === 'string' && VALID.test(given) ? given : randomUUID();
  new Exchange(response, createTrace(headers.traceparent, requestId));
};

const exchangeOf = (response: KnownResponse): Exchange =>
  response[EXCHANGE] ?? new Exchange(response, createTrace());

/** The trace of the request that `response` answers. */
export const traceOf = (response: ServerResponse): Trace => exchangeOf(response).trace;

/** The id of the request that `response` answers. */
export const requestIdOf = (response: ServerResponse): string => traceOf(response).requestId;

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

/** Calls `callback` once the response was sent or its connection has closed; at once when it already has. */
export const onResponseClosed = (response: ServerResponse, callback: () => void): void =>
  exchangeOf(response).onClosed(callback);

/** Returns a signal that aborts when the connection closes before the response was sent. */
export const disconnectedSignalOf = (response: ServerResponse): AbortSignal => {
  const disconnected = new AbortController();
  onResponseClosed(response, () => response.writableFinished || disconnected.abort());
  return disconnected.signal;
};

/** The responses under way on each connection, the oldest first. */
export type Connections = {
  /** By their sockets: those that are open, and have not become WebSockets. */
  readonly all: ReadonlyMap<Socket, readonly ServerResponse[]>;
  /** Adds a response until it closes. Returns the one that its connection sends before it, if any. */
  add(response: ServerResponse, socket: Socket): ServerResponse | undefined;
  /** Calls back whenever a connection has closed, WebSockets among them. */
  onClosed(callback: (socket: Socket) => void): void;
};

export const watchConnections = (server: Server): Connections => {
  const all = new Map<Socket, KnownResponse[]>();
  const closed: ((socket: Socket) => void)[] = [
    (socket) => {
      const responses = all.get(socket) ?? [];
      all.delete(socket);
      // In older releases of Node, a pipelined response that waits for another emits no `close` when its connection is cut.
      for (const response of [...responses]) exchangeOf(response).close();
    },
  ];
  /** One listener for all sockets: most of them are WebSockets, which stay open for long. */
  const onClose = function (this: Socket): void {
    for (const callback of closed) callback(this);
  };
  server.on('connection', (socket: Socket) => {
    all.set(socket, []);
    socket.on('close', onClose);
  });
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => void all.delete(socket));
  return {
    all,
    add(response, socket) {
      const responses = all.get(socket) ?? [];
      const before = responses.at(-1);
      responses.push(response);
      onResponseClosed(response, () => {
        responses.splice(responses.indexOf(response), 1);
      });
      return before;
    },
    onClosed: (callback) => void closed.push(callback),
  };
};

/** How long the rest of a body is read and discarded after an early response. */
const LINGER_MS = 1000;

/**
 * Closes the connection of a request that is answered before all of its body has arrived. It closes after a second, in which
 * Node discards what arrives: a client that is still sending would get a reset instead of the response.
 */
const closeIfEarly = (response: ServerResponse): void => {
  // A response finishes once: a listener that removes itself would cost each request more.
  if (!response.req.complete && !response.listeners('finish').includes(listeners.finish))
    response.prependListener('finish', listeners.finish);
};

/** All responses share their listeners: those of each one's own would be closures of it. */
const listeners = {
  /** The only one of `close`: Node warns of a leak at more than ten, and an event stream adds some of its own. */
  close(this: KnownResponse): void {
    this[EXCHANGE]?.close();
  },
  finish(this: ServerResponse): void {
    const { req: request } = this;
    if (request.complete) return;
    // After the response, neither the request nor the response refers to the socket any longer.
    const { socket } = request;
    // Node calls `destroySoon` at once where the client wants no further response.
    socket.destroySoon = () => socket.end();
    const closeSocket = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    request.once('end', () => clearTimeout(closeSocket));
  },
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
const SECURITY_BLOCK = [...SECURITY_HEADERS].flat();

/** Sets the headers that every response has, unless they are set already: the request id, and those for security. */
export const setCommonHeaders = (response: ServerResponse): void => {
  if (response.hasHeader(REQUEST_ID)) return;
  closeIfEarly(response);
  response.setHeader(REQUEST_ID, requestIdOf(response));
  response.setHeaders(SECURITY_HEADERS);
};

type HeaderFields = Readonly<Record<string, string>>;

/** Returns headers in one block: those that every response has, unless `others` have them, and `others`. */
const headerBlockOf = (...others: readonly HeaderFields[]): readonly string[] => {
  const block = [REQUEST_ID, '', ...SECURITY_BLOCK];
  for (const headers of others)
    for (const name in headers) {
      const [lowered, value] = [name.toLowerCase(), headers[name] ?? ''];
      if (SECURITY_HEADERS.has(lowered)) block[block.indexOf(lowered, 2) + 1] = value;
      else block.push(lowered, value);
    }
  return block;
};

const writeBlock = (response: ServerResponse, status: number, block: string[]): void => {
  closeIfEarly(response);
  block[1] = requestIdOf(response);
  response.writeHead(status, block);
};

/** Writes the status and all headers at once. Node is quicker with a block than with headers that were set one by one. */
export const writeHeaderBlock = (
  response: ServerResponse,
  status: number,
  ...others: readonly HeaderFields[]
): void => writeBlock(response, status, [...headerBlockOf(...others)]);

let last = { one: {}, other: {}, block: headerBlockOf() };

/** The same for headers of which most responses have the very same two objects, and a length. */
export const writeHeadOf = (
  response: ServerResponse,
  status: number,
  one: HeaderFields,
  other: HeaderFields,
  length: number,
): void => {
  if (last.one !== one || last.other !== other) last = { one, other, block: headerBlockOf(one, other) };
  writeBlock(response, status, [...last.block, 'content-length', String(length)]);
};

/** The headers of a request, as Node has read them. */
export const headersOf = ({ headers }: IncomingMessage): Pick<Headers, 'get'> => ({
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

/** Reports a request whose exchange has begun. Upgrades are not reported. */
export const reportRequest = (
  observer: HttpObserver,
  request: IncomingMessage,
  response: ServerResponse,
): void => {
  const exchange = exchangeOf(response);
  const route = routeOf(request.url ?? '');
  const trace = observer.started?.(route, request, exchange.trace) ?? exchange.trace;
  exchange.trace = trace;
  exchange.onClosed(() => observer.ended?.(route, response.headersSent ? response.statusCode : null, trace));
};

const routeOf = rememberLast((url: string): Route => {
  const first = /^\/([a-z]*)/.exec(url)?.[1];
  return ROUTES.find((route) => route === first) ?? 'other';
});
