import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { clientError } from '../../graph/errors.ts';
import type { ShutdownDeadline } from '../../lib/deadlines.ts';
import { stackOf } from '../../lib/errors.ts';
import { createServer } from '../../lib/http.ts';
import type { Log } from '../../lib/log.ts';
import { Usage } from '../../upstream/client/request.ts';
import type { Console } from '../browsers/console.ts';
import type { FrontPage } from '../browsers/graphiql.ts';
import type { BrowserPolicy } from '../browsers/origin-policy.ts';
import type { GraphQLServer } from '../graphql/graphql.ts';
import type { EventStreams } from '../subscriptions/event-stream.ts';
import {
  beginExchange,
  type HttpObserver,
  headersOf,
  onResponseClosed,
  reportRequest,
  requestIdOf,
  setCommonHeaders,
  watchConnections,
} from './exchange.ts';
import { answerProbe, type HealthEndpoints } from './health.ts';
import { createHttpShutdown, createListeners, type HttpShutdown } from './shutdown.ts';
import type { UnsentLimit } from './unsent-limit.ts';
import { WholeRequest } from './whole-body.ts';
import { type RequestWithin, requestWithin } from './within-process.ts';

/**
 * Ingests a delivery of upstream, and answers with the common headers. `segments` are those of the path below
 * `/deliveries`, percent-encoded.
 */
type DeliveryListener = (
  request: IncomingMessage,
  response: ServerResponse,
  segments: readonly string[],
) => Promise<void>;

type Options = {
  readonly graphql: Pick<GraphQLServer, 'answer'>;
  /** Null when MCP is off. */
  readonly mcp: GraphQLServer['answer'] | null;
  readonly ingest: DeliveryListener;
  /** Returns the error of a request for a name that is not the gateway's. GraphQL and MCP make this check themselves. */
  readonly hostRejectionOf: BrowserPolicy['hostRejectionOf'];
  readonly frontPage: FrontPage;
  /** Null when the console is off. */
  readonly console: Console | null;
  readonly health: HealthEndpoints;
  readonly eventStreams: EventStreams;
  readonly observer: HttpObserver;
  readonly unsent: UnsentLimit;
  readonly log: Log;
  readonly times?: HttpTimes | undefined;
};

/** The times, in milliseconds, in which a request arrives. */
export type HttpTimes = {
  /** For the request line and the headers. */
  readonly headersMs: number;
  /** For the whole request, up to 8 MB. */
  readonly requestMs: number;
  /** The interval in which both are checked. */
  readonly checkEveryMs: number;
};

export const HTTP_TIMES: HttpTimes = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 1000 };

export type HttpServer = {
  readonly server: Server;
  /**
   * Answers a request of this process without a socket, as one that comes over HTTP. Calls back with the status; with null, in a
   * later turn of the event loop, while the server does not accept connections.
   */
  answerWithin(request: RequestWithin, onEnd: (status: number | null) => void): void;
  /** Resolves to the bound address, `http://host:port`. Rejects when it can't be bound: see Listeners. */
  listen(host: string, port: number, sharesPort: boolean): Promise<string>;
  /**
   * Starts the readiness notice: not ready, still accepting, but each response is its connection's last. Resolves once every
   * client of a kept-alive connection was told.
   */
  beginShutdown(): Promise<void>;
  /** Stops accepting. Resolves when every request under way is answered, or the deadline has cut its connection. */
  stop(deadline: ShutdownDeadline): Promise<void>;
};

/** Limits of every connection. Operations have a deadline of their own. */
const limitsOf = ({ headersMs, requestMs, checkEveryMs }: HttpTimes): ServerOptions => ({
  /** Limits the request line, with a GET's query, and the headers. */
  maxHeaderSize: 16 * 1024,
  headersTimeout: headersMs,
  requestTimeout: requestMs,
  connectionsCheckingInterval: checkEveryMs,
  /** Longer than the minute after which most proxies close an idle connection, so that the proxy closes it. */
  keepAliveTimeout: 65_000,
});

/**
 * Whether to upgrade the connection. Clients of HTTP/2 may offer it with each request. An offer that the server ignores
 * leaves an ordinary request (RFC 9110, 7.8); without this check Node would refuse a delivery for its offer.
 */
const isForWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

const DELIVERIES = '/deliveries/';

/** The segments of the path below `/deliveries`. */
const segmentsOf = (url: string): string[] => {
  const end = url.indexOf('?');
  return url.slice(DELIVERIES.length, end === -1 ? url.length : end).split('/');
};

/** Serves all routes of the gateway, except the upgrade to WebSocket. */
export const createHttpServer = (options: Options): HttpServer => {
  const { health, eventStreams, times = HTTP_TIMES } = options;
  const serverOptions = {
    ...limitsOf(times),
    shouldUpgradeCallback: isForWebSocket,
    IncomingMessage: WholeRequest,
  };
  const onRequest = (request: WholeRequest, response: ServerResponse): void => {
    normalise(request);
    beginExchange(request, response);
    reportRequest(options.observer, request, response);
    const before = connections.add(response, request.socket);
    shutdown.begun(response, before);
    answer(request, response, before);
  };
  const server = createServer(serverOptions, onRequest);
  // Prepended, so that it runs first: the other listeners read the path and the headers.
  server.prependListener('upgrade', normalise);
  const connections = watchConnections(server);
  options.unsent.watch(server, connections);
  const listeners = createListeners(server);
  const shutdown = createHttpShutdown(server, connections, listeners, rejectionBody);
  const answer = createAnswer(options, shutdown);
  const beginShutdown = () => {
    health.markNotReady();
    return shutdown.closeKeptAlive();
  };

  return {
    server,
    answerWithin(request, onEnd) {
      if (!server.listening) return void setImmediate(onEnd, null);
      const made = requestWithin(request, onEnd);
      onRequest(made.request, made.response);
    },
    beginShutdown,
    async listen(host, port, sharesPort) {
      const { port: bound } = await listeners.listen(host, port, sharesPort);
      return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
    },
    async stop(deadline) {
      void beginShutdown();
      eventStreams.abortAll();
      await shutdown.close(deadline);
    },
  };
};

/** Answers one request, or begins to. It never throws. */
const createAnswer = (options: Options, shutdown: HttpShutdown) => {
  const { ingest, log } = options;
  const route = createRoute(options, shutdown);
  const fail = (response: ServerResponse, error: unknown): void => {
    log.error('request failed', { error: stackOf(error), requestId: requestIdOf(response) });
    if (response.headersSent) response.destroy();
    else sendJson(response, 500, { error: 'Something went wrong inside the gateway.' });
  };
  return (request: WholeRequest, response: ServerResponse, before: ServerResponse | undefined) => {
    const violation = ruleViolationOf(request);
    if (violation) {
      response.setHeader('connection', 'close');
      return sendJson(response, violation.status, { error: violation.message });
    }
    const onError = (error: unknown) => fail(response, error);
    // Pipelined deliveries run at once: their responses are small, and deliveries that are stored together cost less.
    if (request.url?.startsWith(DELIVERIES))
      return void ingest(request, response, segmentsOf(request.url)).catch(onError);
    const start = () => void route(request, response).catch(onError);
    // Other pipelined requests run one after another: else the responses to later ones would wait in memory.
    if (before === undefined) start();
    else onResponseClosed(before, start);
  };
};

/** Every route but that of deliveries. */
const createRoute = (options: Options, shutdown: HttpShutdown) => {
  const { graphql, mcp } = options;
  const routeOthers = createOtherRoutes(options);
  return (request: WholeRequest, response: ServerResponse): Promise<void> => {
    const { url = '/' } = request;
    const path = url.includes('?') ? url.slice(0, url.indexOf('?')) : url;
    const answer = path === '/graphql' ? graphql.answer : path === '/mcp' ? mcp : null;
    if (answer === null) return routeOthers(request, response, path);
    return shutdown.shutdownSignal.aborted
      ? Promise.resolve(shutdown.reject(response))
      : answer(request, response, shutdown);
  };
};

const createOtherRoutes =
  ({ hostRejectionOf, health, console, frontPage }: Options) =>
  async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    setCommonHeaders(response);
    const rejection = hostRejectionOf(headersOf(request));
    if (rejection) return sendJson(response, 403, { error: rejection.message });
    const endpoint = health.byPath.get(path);
    if (endpoint) return answerProbe(request, response, endpoint);
    if (await console?.(request, response, path)) return;
    if (path === '/' && frontPage(request, response)) return;
    return sendJson(response, 404, { error: 'Nothing is here. GraphQL is at /graphql.' });
  };

const STOPPING = 'The gateway stops, and nothing of this request has been done. Send it again.';

/** The body of the 503 for a request that is incomplete, or has not started to run, when the drain is over. */
const rejectionBody = ({ url }: IncomingMessage): object => {
  if (url?.split('?')[0] !== '/graphql') return { error: STOPPING };
  const { message, extensions } = clientError('INTERNAL_SERVER_ERROR', STOPPING);
  return { errors: [{ message, extensions }], extensions: { upstream: new Usage() } };
};

const sendJson = (response: ServerResponse, status: number, body: object): void => {
  setCommonHeaders(response);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

/** The rules of HTTP for the head of a request that Node does not enforce, and one spelling for what HTTP says is equal. */

/** The HTTP status of a malformed request, and what was expected. */
export type RuleViolation = { readonly status: 400 | 501 | 505; readonly message: string };

const VERSIONS: readonly string[] = ['1.0', '1.1'];
/** A host and a port, or nothing (RFC 9110, 4.2). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

/**
 * Returns the rule of RFC 9112 that a request violates, among those that Node does not enforce; null when it violates
 * none. For such a request, a proxy and the gateway could disagree about its host or its end (request smuggling).
 */
export const ruleViolationOf = (request: IncomingMessage): RuleViolation | null => {
  const { httpVersion, headers } = request;
  if (!VERSIONS.includes(httpVersion))
    return { status: 505, message: `Expected HTTP/1.1, got HTTP/${httpVersion}.` };
  const hosts = countOf('host', request.rawHeaders);
  if (hosts > 1) return { status: 400, message: `Expected one Host, got ${hosts}.` };
  if (!HOST.test(headers.host ?? ''))
    return { status: 400, message: 'Expected a Host of a name and a port, got something else.' };
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return null;
  if (httpVersion === '1.0')
    return { status: 400, message: 'Expected a Content-Length of HTTP/1.0, got a Transfer-Encoding.' };
  if (coding.trim().toLowerCase() === 'chunked') return null;
  return { status: 501, message: 'Expected a Transfer-Encoding of chunked, got another.' };
};

/** Rewrites a request to the one spelling that everything which reads it expects. */
const normalise = (request: IncomingMessage): void => {
  toOriginForm(request);
  toCommonSpelling(request);
};

/** Rewrites a target in absolute form, which proxies use, to origin form, and sets Host to the target's host. */
const toOriginForm = (request: IncomingMessage): void => {
  if (request.url?.startsWith('/')) return;
  const [start, host] = ABSOLUTE_FORM.exec(request.url ?? '') ?? [];
  if (start === undefined) return;
  const path = request.url?.slice(start.length) ?? '';
  request.url = path.startsWith('/') ? path : `/${path}`;
  request.headers.host = host;
};

/** Headers whose values are the same in any letter case (RFC 9110, 4.2.3, 8.3.1, 8.4.1, 12.5). */
const CASELESS = ['accept', 'accept-encoding', 'content-encoding', 'content-type', 'host'] as const;
/** Those whose parameters may have white space and quotes around them. */
const MEDIA_TYPES = ['accept', 'content-type'] as const;

/**
 * Rewrites such headers in lower case, and media types without that white space and those quotes. So everything that reads
 * them compares them with one spelling, libraries too. Of the parameters, only a multipart body's boundary would differ by
 * its letter case, and no such body is accepted.
 */
const toCommonSpelling = ({ headers }: IncomingMessage): void => {
  for (const name of CASELESS) {
    const value = headers[name];
    if (!value) continue;
    const lowered = value.toLowerCase();
    if (lowered !== value) headers[name] = lowered;
  }
  for (const name of MEDIA_TYPES) {
    // Most values have nothing to trim.
    if (headers[name] && /[\t "]/.test(headers[name])) headers[name] = trimParameters(headers[name]);
  }
};

const trimParameters = (mediaTypes: string): string => {
  const trimAround = (text: string, separator: string) =>
    text
      .split(separator)
      .map((part) => part.trim())
      .join(separator);
  return trimAround(trimAround(mediaTypes, ';'), ',').replace(/="([^"\\]*)"/g, '=$1');
};

const countOf = (name: string, rawHeaders: readonly string[]): number => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) count += 1;
  return count;
};
