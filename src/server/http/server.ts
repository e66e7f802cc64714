import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { clientError } from '../../graph/errors.ts';
import type { Log } from '../../logger.ts';
import { createUsage } from '../../upstream/client/usage.ts';
import type { FrontPage } from '../browsers/front-page.ts';
import type { GraphQLServer } from '../graphql/yoga.ts';
import type { EventStreams } from '../sse/plugin.ts';
import { createHttpDrain } from './drain.ts';
import { answerProbe, type HealthEndpoints } from './health.ts';
import { closeAfterEarlyResponse } from './incomplete-body.ts';
import { createKeepAliveShutdown } from './keep-alive-shutdown.ts';
import { type HttpObserver, observeHttp } from './observer.ts';
import { createRequestQueue } from './pipelining.ts';
import { nameRequests } from './request-id.ts';
import { ruleViolationOf, toOriginForm } from './request-validation.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import type { UnsentLimit } from './unsent-limit.ts';

/** Takes what the service posts; `segments` are those of the path below `/deliveries`, percent-encoded. */
type DeliveryListener = (
  request: IncomingMessage,
  response: ServerResponse,
  segments: readonly string[],
) => Promise<void>;

type Options = {
  readonly graphql: GraphQLServer;
  readonly takeDelivery: DeliveryListener;
  readonly frontPage: FrontPage;
  readonly probes: HealthEndpoints;
  readonly eventStreams: EventStreams;
  readonly observer: HttpObserver;
  readonly unsent: UnsentLimit;
  readonly log: Log;
};

export type HttpServer = {
  readonly server: Server;
  /** Resolves to the address that was bound, `http://host:port`; rejects when it can't be. */
  listen(host: string, port: number): Promise<string>;
  /** Not ready any more; still accepts, but keeps no connection: each answer is the last of its own. */
  retire(): void;
  /** Stops accepting, and resolves when every request under way is answered or had its time. */
  stop(): Promise<void>;
};

/** What a connection may take, whoever it is of; operations have a deadline of their own. */
const LIMITS: ServerOptions = {
  /** Of a request line and its headers: also of a GET's query. */
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  /** For a request to come in whole, at 8 MB too. */
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1000,
  /** Longer than the minute after which most proxies give an idle connection up, so that it is they who close it. */
  keepAliveTimeout: 65_000,
};

/**
 * Clients that speak HTTP/2 where they may offer it with each request: an offer that is not taken up is an ordinary
 * request (RFC 9110, 7.8), and else a delivery would be refused for it.
 */
const isForWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/** All routes of the gateway but the WebSocket's upgrade. */
export const createHttpServer = ({
  graphql,
  takeDelivery,
  frontPage,
  probes,
  eventStreams,
  observer,
  unsent,
  log,
}: Options): HttpServer => {
  const requestQueue = createRequestQueue();
  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?')[0] ?? '/';
    if (path === '/graphql') {
      const { shutdownSignal } = drain;
      return shutdownSignal.aborted
        ? drain.refuse(request, response)
        : void (await graphql(request, response, { shutdownSignal }));
    }
    if (path.startsWith('/deliveries/')) return takeDelivery(request, response, path.split('/').slice(2));
    const probe = probes.byPath.get(path);
    if (probe) return answerProbe(request, response, probe);
    if (path === '/' && frontPage(request, response)) return;
    return sendJson(response, 404, { error: 'Nothing is here. GraphQL is at /graphql.' });
  };

  const fail = (response: ServerResponse, error: unknown): void => {
    log.error('a request failed', {
      error: error instanceof Error ? error.stack : String(error),
      requestId: response.getHeader('x-request-id'),
    });
    if (response.headersSent) response.destroy();
    else sendJson(response, 500, { error: 'Something went wrong inside the gateway.' });
  };

  const server = createServer({ ...LIMITS, shouldUpgradeCallback: isForWebSocket }, (request, response) => {
    response.setHeaders(SECURITY_HEADERS);
    closeAfterEarlyResponse(request, response);
    const violation = ruleViolationOf(request);
    if (violation) {
      response.setHeader('connection', 'close');
      return sendJson(response, violation.status, { error: violation.message });
    }
    const answer = () => void route(request, response).catch((error: unknown) => fail(response, error));
    // The service may send its deliveries as fast as it likes: their answers are small, and stored together they cost less.
    if (request.url?.startsWith('/deliveries/')) answer();
    else requestQueue(request, response, answer);
  });

  nameRequests(server);
  observeHttp(server, observer);
  unsent.watch(server);
  const drain = createHttpDrain(server, stopping);
  const keepAliveShutdown = createKeepAliveShutdown(server);
  // First of all listeners: the others read the path.
  for (const event of ['request', 'upgrade']) server.prependListener(event, toOriginForm);
  const retire = () => {
    probes.retire();
    keepAliveShutdown.begin();
  };

  return {
    server,
    retire,
    async listen(host, port) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, resolve);
      });
      const { port: bound } = server.address() as AddressInfo;
      return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
    },
    async stop() {
      retire();
      eventStreams.abortAll();
      await drain.close();
    },
  };
};

const STOPPING = 'The gateway stops, and nothing of this request has been done. Send it again.';

/** The body of the 503 for a request that is incomplete, or has not begun to run, when the gateway can't wait any longer. */
const stopping = ({ url }: IncomingMessage): object => {
  if (url?.split('?')[0] !== '/graphql') return { error: STOPPING };
  const { message, extensions } = clientError('INTERNAL_SERVER_ERROR', STOPPING);
  return { errors: [{ message, extensions }], extensions: { upstream: createUsage() } };
};

const sendJson = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
