import { ConfigError } from '../config/config.ts';
import { isLoopback } from '../config/kinds.ts';
import { readVersion } from '../config/version.ts';
import { type Caller, createContext } from '../context.ts';
import { createIngress } from '../deliveries/ingress/ingress.ts';
import { createInvalidation } from '../deliveries/invalidation.ts';
import { observeLog } from '../deliveries/log/observer.ts';
import { createAnswers } from '../graph/answer/answer.ts';
import { createSharedAnswers } from '../graph/answer/shared-answers.ts';
import { createEstimate } from '../graph/cost/estimate.ts';
import { createCursors } from '../graph/pagination/cursor.ts';
import { messageOf } from '../lib/errors.ts';
import { plannedSchema, schema } from '../schema.ts';
import { cachePartitionOf } from '../server/auth/authenticate.ts';
import { createVerifyKeyFailOpen } from '../server/auth/verify-key.ts';
import { createConsole } from '../server/browsers/console.ts';
import { createFrontPage } from '../server/browsers/graphiql.ts';
import { createBrowserPolicy, createCorsHeaders } from '../server/browsers/origin-policy.ts';
import { createAttribute } from '../server/graphql/attribution.ts';
import { createErrorMask } from '../server/graphql/errors.ts';
import { createGraphQL } from '../server/graphql/graphql.ts';
import { createBudgets } from '../server/graphql/limits/compute-units.ts';
import { createDocuments } from '../server/graphql/limits/documents.ts';
import { createOperations } from '../server/graphql/observe.ts';
import { createKnownAnswers } from '../server/graphql/over-http/conditional-gets.ts';
import { createPersistedQueries } from '../server/graphql/persisted-queries.ts';
import type { TrustedDocuments } from '../server/graphql/trusted-documents.ts';
import { createClientAddress } from '../server/http/client-address.ts';
import { createTrace, traceOf, writeHeaderBlock } from '../server/http/exchange.ts';
import { createHealthEndpoints, type HealthEndpoints } from '../server/http/health.ts';
import { createHttpServer, type HttpServer } from '../server/http/server.ts';
import { createUnsentLimit } from '../server/http/unsent-limit.ts';
import { createEventStreams } from '../server/subscriptions/event-stream.ts';
import { serveWebSockets } from '../server/websocket/server.ts';
import type { Deliveries } from './deliveries.ts';
import type { AgentTools } from './mcp.ts';
import { createAuthenticate, hasLayer, type Startup } from './startup.ts';
import type { Upstream } from './upstream.ts';

/** The deadline of an operation, in upstream timeouts: all its upstream requests and their retries share it. */
const TIMEOUTS_AN_OPERATION = 3;

type Server = {
  /** The address that it listens on: `http://host:port`. */
  readonly url: string;
  readonly health: HealthEndpoints;
  /**
   * Makes the gateway not ready and closes kept-alive connections after their next responses; it still accepts. Resolves
   * once every client of such a connection was told.
   */
  beginShutdown(): Promise<void>;
  /** Resolves when upstream accepts the caller's key; see `requestKeyVerification` of webhooks. */
  requestKeyVerification(caller: Caller, signal: AbortSignal): Promise<void>;
};

/** The most WebSockets, and event streams, of one key, of one token's subject, or of one address behind a trusted proxy. */
const MAX_SOCKETS_EACH = 1000;

/** The least memory for unsent answers. It is raised to fit one and a half of the largest. */
const MIN_UNSENT_BYTES = 48 * 1024 * 1024;

/** Serves every transport, and listens. Rejects with ConfigError when the address can't be bound. */
export const startServer = async (
  startup: Startup,
  upstream: Upstream,
  deliveries: Deliveries,
  trusted: TrustedDocuments | null,
  agents: AgentTools | null,
): Promise<Server> => {
  const { config, log, now, readPath, times, telemetry, opened, deadline, publicUrl, machine } = startup;
  const { sandbox, index, gatewayKey, client, pricing, subscribed, delivered } = upstream;
  const { deliveryUrls } = deliveries;
  const { mode } = config.auth;
  const authenticate = await createAuthenticate(config, gatewayKey, deliveries.identity, log, now);
  const maxAnswerBytes = config.maxAnswerMb * 1024 * 1024;
  const unsent = createUnsentLimit(
    Math.max(MIN_UNSENT_BYTES, 1.5 * maxAnswerBytes),
    telemetry.connections,
    now,
    times.unsent,
  );
  const answers = createAnswers(maxAnswerBytes, unsent.isExceeded);
  const invalidation = createInvalidation({
    log: deliveries.log,
    memory: upstream.invalidation,
    shared: upstream.sharedInvalidations,
    cachePartitionOf: (tenant) => cachePartitionOf(mode, tenant),
    unnamedBy: (webhookId, named) => delivered?.unnamedBy(webhookId, named) ?? [],
    now,
  });
  const deliveryLog = observeLog(deliveries.log, telemetry.log, invalidation.reads);
  const contextOf = createContext({
    upstream,
    deliveries: { ...deliveries, log: deliveryLog },
    settings: {
      answers,
      chains: upstream.chains,
      cursorsOf: createCursors(deliveries.identity),
      operationMs: config.upstream.timeoutMs * TIMEOUTS_AN_OPERATION,
      maxComputeUnits: config.cost.maxComputeUnits,
      maxWatchedWallets: config.maxWatchedWallets,
      publicUrl: () => publicUrl.get(),
    },
  });
  const mask = createErrorMask(telemetry.onUnexpectedError);
  const attribute = createAttribute({
    ...config.metrics,
    trusted,
    tenantSecret: config.metrics.tenants ? deliveries.identity : null,
  });
  /** What all transports share. */
  const shared = {
    authenticate,
    clientAddress: createClientAddress({
      trustedProxies: config.trustedProxies,
      identifies: mode === 'open',
      log,
    }),
    documents: createDocuments({
      schema,
      closed: config.production || trusted !== null,
      now,
      observer: telemetry.documents,
    }),
    attribute,
    operations: createOperations(telemetry.operations, attribute),
    trusted,
    persisted: createPersistedQueries(),
    unsent,
    mask,
    ...createBrowserPolicy({
      ...config,
      onLoopback: isLoopback(config.host),
      loopbackOrigins: sandbox !== null && !config.production,
      log,
      now,
    }),
  };
  const verifyKeyFailOpen = createVerifyKeyFailOpen(times.keyVerification);
  // Without credentials a client is identified by its address, which all clients behind an unknown proxy share.
  const maxEach =
    mode === 'open' && config.trustedProxies.length === 0 ? Number.POSITIVE_INFINITY : MAX_SOCKETS_EACH;
  const eventStreams = createEventStreams({
    mask,
    verifyKeyFailOpen,
    maxStreams: config.maxSockets,
    maxStreamsEach: maxEach,
    closeMs: times.closeMs,
  });
  const { maxComputeUnits, clientComputeUnitsPerMinute } = config.cost;
  const ownBudgets =
    clientComputeUnitsPerMinute === null ? null : createBudgets(clientComputeUnitsPerMinute, now);
  const clientBudgets = ownBudgets && (upstream.sharedLimits?.budgets(ownBudgets) ?? ownBudgets);
  const graphql = createGraphQL({
    ...shared,
    schema,
    planned: hasLayer(readPath, 'plans') ? plannedSchema : null,
    createContext: contextOf,
    estimate: createEstimate(schema, pricing),
    sharedAnswers: hasLayer(readPath, 'shared-answers')
      ? createSharedAnswers(upstream.cacheBudget, telemetry.sharedAnswers)
      : null,
    knownAnswers: createKnownAnswers(upstream.cacheBudget),
    maxAnswerBytes,
    maxComputeUnits,
    budgets: clientBudgets,
    credentialHeader: { open: null, key: config.upstream.apiKeyHeader, jwt: 'Authorization' }[mode],
    isSandbox: sandbox !== null,
    production: config.production,
    eventStreams,
    compression: config.compression,
    directPosts: hasLayer(readPath, 'direct-posts'),
    events: telemetry.events,
    onComputeUnitRejection: telemetry.onComputeUnitRejection,
  });
  const mcp =
    agents &&
    trusted &&
    agents.serve(trusted, {
      ...shared,
      schema,
      graphql,
      corsHeaders: createCorsHeaders({ ...shared, compression: false }),
      maxAnswerBytes,
      version: readVersion(),
    });
  const hasGraphiQL = !config.production && trusted === null;
  const health = createHealthEndpoints({
    checks: [{ part: 'deliveries', run: () => deliveryLog.check() }, ...deliveries.checks],
    degradations: () =>
      client.openCircuits().map((resource) => ({
        part: 'upstream',
        message: `the circuit breaker of ${resource} is open: the last requests have failed`,
      })),
    index: index?.health,
    metrics: machine?.metrics ?? telemetry.scrape,
    reportOfAll: machine?.health,
    now,
  });
  const http = createHttpServer({
    graphql,
    mcp,
    ingest: createIngress({
      log: deliveryLog,
      deliveryUrls,
      signature: config.deliveries.signature,
      limits: times.deliveryBody,
      findSubscriber: (tenant, webhookId, happenedAt) =>
        subscribed.find({ cachePartition: cachePartitionOf(mode, tenant), webhookId }, happenedAt),
      onReceived: invalidation.received,
      onStored: invalidation.stored,
      onRefused: (tenant, refused) => deliveries.refused.record(tenant, refused),
      observer: telemetry.ingest,
      traceOf,
      writeHead: writeHeaderBlock,
    }),
    hostRejectionOf: shared.hostRejectionOf,
    frontPage: createFrontPage(hasGraphiQL),
    console: config.console.isOn
      ? createConsole({
          auth: mode,
          keyHeader: config.upstream.apiKeyHeader,
          trustedDocuments: trusted !== null,
          graphiql: hasGraphiQL,
          images: config.console.images,
          sandboxOrigin: sandbox?.url ?? null,
          isServiceLocal:
            config.upstream.url === null ||
            isLoopback(new URL(config.upstream.url).hostname.replace(/^\[|\]$/g, '')),
          wallets: sandbox?.wallets ?? [],
        })
      : null,
    health,
    eventStreams,
    observer: telemetry.http,
    unsent,
    log,
    times: times.http,
  });
  const sockets = serveWebSockets({
    ...shared,
    server: http.server,
    graphql,
    verifyKeyFailOpen,
    times: times.sockets,
    closeMs: times.closeMs,
    verifyKey: (caller, trace, signal) => contextOf(caller, trace, signal).webhooks.verifyKey(),
    maxSockets: config.maxSockets,
    maxSocketsEach: maxEach,
    observer: telemetry.sockets,
  });

  const url = await listen(http, startup);
  publicUrl.listening(url);
  opened.defer(async () => {
    await Promise.all([http.stop(deadline), sockets.stop(deadline)]);
  });
  if (sandbox !== null) {
    // Where tokens name tenants, the sandbox's webhooks deliver to the tenant `demo`.
    const { tenant } =
      mode === 'jwt' ? { tenant: 'demo' } : await authenticate({ get: () => sandbox.apiKey });
    sandbox.start((webhookId) => deliveryUrls.urlOf(publicUrl.get(), tenant, webhookId));
  }
  // The deliveries of blocks that came meanwhile find a gateway that listens.
  index?.follow({ url: publicUrl.get(), answer: http.answerWithin });
  return {
    url,
    health,
    beginShutdown: http.beginShutdown,
    requestKeyVerification: (caller, signal) =>
      contextOf(caller, createTrace(), signal).webhooks.requestKeyVerification(signal),
  };
};

/** Other workers of a machine may listen on the port already. */
const listen = async (http: HttpServer, { config: { host, port }, machine }: Startup): Promise<string> => {
  try {
    return await http.listen(host, port, machine !== null && machine.port !== null);
  } catch (error) {
    throw new ConfigError([`HOST, PORT: ${host}:${port} cannot be bound: ${messageOf(error)}`]);
  }
};
