import { isLoopback } from '../config/auth.ts';
import { type Config, ConfigError } from '../config/config.ts';
import type { Caller } from '../context.ts';
import { createIngress } from '../deliveries/ingress/ingress.ts';
import { messageOf } from '../deliveries/log/errors.ts';
import { createAnswers } from '../graph/answer/answer.ts';
import { createAnswerEstimate } from '../graph/answer/estimate.ts';
import { createEstimate } from '../graph/cost/estimate.ts';
import { maskError } from '../graph/mask.ts';
import { schema } from '../schema.ts';
import { cachePartitionOf } from '../server/auth/authenticate.ts';
import { createFrontPage } from '../server/browsers/front-page.ts';
import { createBrowserPolicy } from '../server/browsers/origin-policy.ts';
import { createBudgets } from '../server/graphql/limits/budgets.ts';
import { createDocuments } from '../server/graphql/limits/documents.ts';
import { createOperations } from '../server/graphql/plugins/operation-observer.ts';
import type { TrustedDocuments } from '../server/graphql/trusted-documents.ts';
import { createGraphQL } from '../server/graphql/yoga.ts';
import { createHealthEndpoints, type HealthEndpoints } from '../server/http/health.ts';
import { traceOf } from '../server/http/request-id.ts';
import { createHttpServer, type HttpServer } from '../server/http/server.ts';
import { createUnsentLimit } from '../server/http/unsent-limit.ts';
import { createEventStreams } from '../server/sse/plugin.ts';
import { serveWebSockets } from '../server/websocket/server.ts';
import { createAuthenticate } from './authenticate.ts';
import type { Deliveries } from './deliveries.ts';
import { createOperationContext } from './operation-context.ts';
import type { Startup } from './startup.ts';
import type { Upstream } from './upstream.ts';

type Server = {
  /** Where it listens: `http://host:port`. */
  readonly url: string;
  readonly probes: HealthEndpoints;
  /** Is not ready any more, and gives kept-alive connections back; still accepts. */
  retire(): void;
  /** Resolves when the service takes the caller's key; see `requestKeyVerification` of webhooks. */
  requestKeyVerification(caller: Caller, signal: AbortSignal): Promise<void>;
};

/** Of a key or a token's subject. */
const MAX_SOCKETS_EACH = 1000;

/** Of answers that wait to be taken. Those of two clients fit in, however large answers may be. */
const MIN_UNSENT_BYTES = 64 * 1024 * 1024;

/** Serves every transport, and listens. Rejects with ConfigError where the address can't be bound. */
export const startServer = async (
  startup: Startup,
  upstream: Upstream,
  deliveries: Deliveries,
  trusted: TrustedDocuments | null,
): Promise<Server> => {
  const { config, log, now, telemetry, opened } = startup;
  const { sandbox, gatewayKey, client, pricing, invalidation, subscribed } = upstream;
  const { deliveryUrls } = deliveries;
  const { mode } = config.auth;
  let url = '';
  const publicUrl = () => config.publicUrl ?? url;

  const authenticate = createAuthenticate(config, gatewayKey, deliveries.secret, log, now);
  const answers = createAnswers(config.maxAnswerMb * 1024 * 1024);
  const contextOf = createOperationContext(startup, upstream, deliveries, answers, publicUrl);
  const mask = (error: unknown) =>
    maskError(error, (unexpected) =>
      log.error('an operation met an error that is not in the catalogue', {
        error: unexpected instanceof Error ? unexpected.stack : String(unexpected),
      }),
    );
  /** What holds on every transport. */
  const everywhere = {
    authenticate,
    documents: createDocuments({ schema, closed: config.production || trusted !== null, now }),
    operations: createOperations(telemetry.operations),
    trusted,
    unsent: createUnsentLimit(
      Math.max(MIN_UNSENT_BYTES, 2 * answers.maxBytes),
      (reason, bytes) =>
        log.info('a connection was cut whose peer does not take what it is sent', { reason, bytes }),
      now,
    ),
    mask,
    ...createBrowserPolicy({
      ...config,
      onLoopback: isLoopback(config.host),
      loopbackOrigins: sandbox !== null && !config.production,
      log,
      now,
    }),
  };
  const eventStreams = createEventStreams(mask, config.maxSockets);
  const { maxComputeUnits, clientComputeUnitsPerMinute } = config.cost;
  const graphql = createGraphQL({
    ...everywhere,
    schema,
    createContext: contextOf,
    estimate: createEstimate(schema, pricing),
    estimateAnswer: createAnswerEstimate(schema),
    maxAnswerBytes: answers.maxBytes,
    maxComputeUnits,
    budgets: clientComputeUnitsPerMinute === null ? null : createBudgets(clientComputeUnitsPerMinute, now),
    needsCredentials: mode !== 'open',
    isSandbox: sandbox !== null,
    production: config.production,
    eventStreams,
    events: telemetry.events,
    onComputeUnitRefusal: telemetry.onComputeUnitRefusal,
  });
  const probes = createHealthEndpoints({
    readLog: () => deliveries.log.check(),
    isUpstreamDown: client.isCircuitOpen,
    metrics: telemetry.scrape,
    now,
  });
  const http = createHttpServer({
    graphql,
    takeDelivery: createIngress({
      log: deliveries.log,
      deliveryUrls,
      signature: config.deliveries.signature,
      findSubscriber: (tenant, webhookId, happenedAt) =>
        subscribed.find({ cachePartition: cachePartitionOf(mode, tenant), webhookId }, happenedAt),
      onStored: (tenant, concerned) => invalidation.invalidate(cachePartitionOf(mode, tenant), concerned),
      observer: telemetry.ingest,
    }),
    frontPage: createFrontPage(!config.production && trusted === null),
    probes,
    eventStreams,
    observer: telemetry.http,
    unsent: everywhere.unsent,
    log,
  });
  const sockets = serveWebSockets({
    ...everywhere,
    server: http.server,
    graphql,
    verifyKey: (caller, trace, signal) => contextOf(caller, trace, signal).webhooks.verifyKey(),
    maxSockets: config.maxSockets,
    // Without credentials the address identifies a client, and all clients behind one proxy have the same.
    maxSocketsEach: mode === 'open' ? Number.POSITIVE_INFINITY : MAX_SOCKETS_EACH,
    observer: telemetry.sockets,
  });

  url = await listen(http, config);
  opened.defer(async () => {
    await Promise.all([http.stop(), sockets.stop()]);
  });
  if (sandbox !== null) {
    // Where tokens name tenants, the sandbox's webhooks deliver to one of that name.
    const { tenant } =
      mode === 'jwt' ? { tenant: 'demo' } : await authenticate({ get: () => sandbox.apiKey });
    sandbox.start((webhookId) => deliveryUrls.urlOf(publicUrl(), tenant, webhookId));
  }
  return {
    url,
    probes,
    retire: http.retire,
    requestKeyVerification: (caller, signal) =>
      contextOf(caller, traceOf(undefined, undefined), signal).webhooks.requestKeyVerification(signal),
  };
};

const listen = async (http: HttpServer, { host, port }: Config): Promise<string> => {
  try {
    return await http.listen(host, port);
  } catch (error) {
    throw new ConfigError([`HOST, PORT: ${host}:${port} can not be bound: ${messageOf(error)}`]);
  }
};
