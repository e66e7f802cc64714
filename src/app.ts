import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createChains } from './chains/chains.ts';
import { isLoopback } from './config/auth.ts';
import { type Config, ConfigError } from './config.ts';
import { createContext } from './context.ts';
import { createDeliveryAddresses, isTenant } from './deliveries/address.ts';
import { LogOpenError, messageOf } from './deliveries/errors.ts';
import { FeedCache } from './deliveries/feed-cache.ts';
import { createIngress } from './deliveries/ingress.ts';
import { observeLog } from './deliveries/observed-log.ts';
import type { LogObserver } from './deliveries/observer.ts';
import { DeliverySecretError, loadDeliverySecret } from './deliveries/secret.ts';
import { openSqliteLog } from './deliveries/sqlite-log.ts';
import { WakeUps } from './deliveries/wake-ups.ts';
import { createAnswers } from './graph/answer/answer.ts';
import { createAnswerEstimate } from './graph/answer/estimate.ts';
import { createCursors } from './graph/cursor.ts';
import { createEstimate } from './graph/estimate.ts';
import { maskError } from './graph/mask.ts';
import type { Log } from './log.ts';
import { type Sandbox, startSandbox } from './sandbox/server.ts';
import { schema } from './schema.ts';
import {
  type Authenticate,
  authenticateAnyone,
  authenticateByKey,
  authenticateByToken,
  sharingOf,
} from './server/auth/auth.ts';
import { reportOnKey } from './server/auth/gateway-key.ts';
import { createTokens } from './server/auth/tokens.ts';
import { createFrontPage } from './server/browsers/front-page.ts';
import { createBrowserPolicy } from './server/browsers/policy.ts';
import { createGraphQL } from './server/graphql.ts';
import { createHttpServer, type HttpServer } from './server/http.ts';
import { createBudgets } from './server/limits/budgets.ts';
import { createDocuments } from './server/limits/documents.ts';
import { createUnsentLimit } from './server/limits/unsent.ts';
import { createOperations } from './server/operations/operations.ts';
import { traceOf } from './server/operations/trace.ts';
import {
  readTrustedDocuments,
  type TrustedDocuments,
  TrustedDocumentsError,
} from './server/operations/trusted-documents.ts';
import { createProbes } from './server/probes.ts';
import { createEventStreams } from './server/subscriptions/event-streams.ts';
import { serveWebSockets } from './server/websocket.ts';
import { createTelemetry } from './telemetry/telemetry.ts';
import { createUpstreamClient } from './upstream/client.ts';
import { createChainPrices } from './upstream/cost.ts';
import { createMemory } from './upstream/memory.ts';
import { createNews } from './upstream/news.ts';
import { createPageStore } from './upstream/pages.ts';
import { createAddressLookup } from './webhooks/address-lookup.ts';
import { SubscribedAddresses } from './webhooks/subscribed-addresses.ts';

export type App = {
  /** Where it listens: `http://host:port`. */
  readonly url: string;
  /** Asks the service about the gateway's own key, and says in the log what it answers; never rejects. */
  checkKey(): Promise<void>;
  /**
   * Is not ready any more, and gives kept-alive connections back. Goes on accepting until who watches readiness has had
   * time to see it; resolves at once when nobody does.
   */
  retire(): Promise<void>;
  /** Stops accepting, finishes what runs, lets subscribers resume, closes the log. */
  stop(): Promise<void>;
};

/** Builds and wires all parts, then listens. Rejects with ConfigError for what only the machine could tell. */
export const startApp = async (config: Config, log: Log): Promise<App> => {
  const parts = new AsyncDisposableStack();
  try {
    return await wire(config, log, parts);
  } catch (error) {
    await parts.disposeAsync();
    throw error;
  }
};

/** For a balancer that asks each second and takes out at the first refusal. With what stopping takes it must fit into 10 s. */
const NOTICE_MS = 2000;

/** One deadline for all that an operation asks, in attempts that take as long as one may. */
const ATTEMPTS_AN_OPERATION_WAITS_FOR = 3;

/** Of events that were executed lately, for subscribers that come to them soon. */
const FEED_CACHE_BYTES = 32 * 1024 * 1024;

/** Of a key or a token's subject. */
const MAX_SOCKETS_EACH = 1000;

const wire = async (config: Config, log: Log, parts: AsyncDisposableStack): Promise<App> => {
  const trusted = await loadTrustedDocuments(config);
  const sandbox = config.upstream.url === null ? await embedSandbox(config, log, parts) : null;
  const upstreamUrl = config.upstream.url ?? sandbox?.url;
  const gatewayKey = config.upstream.apiKey ?? sandbox?.apiKey ?? null;
  if (upstreamUrl === undefined) throw new TypeError('Expected a service or a sandbox, got neither.');

  const { headMs, tailMs, staleMs, collectiblesMs, maxMb } = config.cache;
  const memory = createMemory(
    Math.max(headMs, tailMs, staleMs, collectiblesMs) > 0 ? maxMb * 1024 * 1024 : 0,
  );
  const telemetry = createTelemetry(log, memory.bytes);

  const { secret, deliveryLog } = await openDeliveries(config, telemetry.log, log);
  parts.defer(() => deliveryLog.close());
  const addresses = createDeliveryAddresses(secret);
  const client = createUpstreamClient({
    ...config.upstream,
    keyHeader: config.upstream.apiKeyHeader,
    url: upstreamUrl,
    observer: telemetry.upstream,
  });
  parts.defer(() => client.close());

  const news = createNews();
  let url = '';
  const publicUrl = () => config.publicUrl ?? url;
  const authenticate = createAuthenticate(config, gatewayKey, secret, log);
  const { defaultChainCount, clientComputeUnitsPerMinute } = config.cost;
  const prices = createChainPrices(defaultChainCount);
  const browsers = createBrowserPolicy({
    ...config,
    onLoopback: isLoopback(config.host),
    loopbackOrigins: sandbox !== null && !config.production,
    log,
  });
  const mask = (error: unknown) =>
    maskError(error, (stranger) =>
      log.error('an operation met an error that is not in the catalogue', {
        error: stranger instanceof Error ? stranger.stack : String(stranger),
      }),
    );
  const eventStreams = createEventStreams(mask, config.maxSockets);
  const operations = createOperations(telemetry.operations);
  const { mode } = config.auth;
  // A client's webhooks can't be asked about with another key than the client's own.
  const ownKey = mode === 'key' || gatewayKey === null ? null : gatewayKey;
  const subscribed = new SubscribedAddresses({
    ask: ownKey === null ? null : createAddressLookup(client, { key: ownKey, heldBy: 'gateway' }),
  });
  const answers = createAnswers(config.maxAnswerMb * 1024 * 1024);
  const unsent = createUnsentLimit((reason, bytes) =>
    log.info('a connection was cut whose peer does not take what it is sent', { reason, bytes }),
  );
  const contextOf = createContext({
    answers,
    client,
    stores: {
      transactions: createPageStore(memory, news, telemetry.pages('transactions')),
      collectibles: createPageStore(memory, news, telemetry.pages('collectibles')),
    },
    freshness: { transactions: config.cache, collectibles: { ...config.cache, headMs: collectiblesMs } },
    operationMs: config.upstream.timeoutMs * ATTEMPTS_AN_OPERATION_WAITS_FOR,
    maxComputeUnits: config.cost.maxComputeUnits,
    prices,
    chains: createChains(config.extraChains),
    log: deliveryLog,
    wakeUps: new WakeUps(deliveryLog),
    feedCache: new FeedCache(FEED_CACHE_BYTES),
    readers: telemetry.readers,
    addresses,
    subscribed,
    cursorsOf: createCursors(secret),
    publicUrl,
  });
  const documents = createDocuments({ schema, closed: config.production || trusted !== null });
  const graphql = createGraphQL({
    schema,
    authenticate,
    documents,
    createContext: contextOf,
    estimate: createEstimate(schema, prices),
    estimateAnswer: createAnswerEstimate(schema),
    maxAnswerBytes: answers.maxBytes,
    maxComputeUnits: config.cost.maxComputeUnits,
    budgets: clientComputeUnitsPerMinute === null ? null : createBudgets(clientComputeUnitsPerMinute),
    needsCredentials: config.auth.mode !== 'open',
    isSandbox: sandbox !== null,
    ...browsers,
    trusted,
    production: config.production,
    mask,
    eventStreams,
    events: telemetry.events,
    operations,
    unsent,
    onComputeUnitRefusal: telemetry.onComputeUnitRefusal,
  });
  const probes = createProbes({
    readLog: () => deliveryLog.probe(),
    isUpstreamDown: client.isTakenForDown,
    metrics: telemetry.scrape,
  });
  const http = createHttpServer({
    graphql,
    takeDelivery: createIngress({
      log: deliveryLog,
      addresses,
      signature: config.deliveries.signature,
      findSubscriber: (tenant, webhookId, happenedAt) =>
        subscribed.find({ sharing: sharingOf(mode, tenant), webhookId }, happenedAt),
      onStored: (tenant, concerned) => news.tell(sharingOf(mode, tenant), concerned),
      observer: telemetry.ingest,
    }),
    frontPage: createFrontPage(!config.production && trusted === null),
    probes,
    eventStreams,
    observer: telemetry.http,
    unsent,
    log,
  });
  const sockets = serveWebSockets({
    server: http.server,
    graphql,
    authenticate,
    documents,
    proveKey: (caller, trace, signal) => contextOf(caller, trace, signal).webhooks.proveKey(),
    mask,
    ...browsers,
    maxSockets: config.maxSockets,
    // Where nobody says who it is, an address may be that of many behind a proxy.
    maxSocketsEach: config.auth.mode === 'open' ? Number.POSITIVE_INFINITY : MAX_SOCKETS_EACH,
    operations,
    trusted,
    unsent,
    observer: telemetry.sockets,
  });
  url = await listen(http, config);
  if (sandbox !== null) {
    const tenant = await sandboxTenant(config, authenticate, sandbox);
    sandbox.start((webhookId) => addresses.deliveryUrl(publicUrl(), tenant, webhookId));
  }

  const stopping = new AbortController();
  return {
    url,
    async checkKey() {
      if (gatewayKey === null || sandbox !== null || config.auth.mode === 'key') return;
      const gateway = await authenticateAnyone(gatewayKey)({ get: () => null });
      const { webhooks } = contextOf(gateway, traceOf(undefined, undefined), stopping.signal);
      await reportOnKey(webhooks.askAboutKey, log, stopping.signal);
    },
    async retire() {
      http.retire();
      if (probes.isWatched()) await delay(NOTICE_MS);
    },
    async stop() {
      stopping.abort();
      await Promise.all([http.stop(), sockets.stop()]);
      await parts.disposeAsync();
    },
  };
};

const createAuthenticate = (
  { auth, upstream }: Config,
  gatewayKey: string | null,
  secret: string,
  log: Log,
): Authenticate => {
  if (auth.mode === 'key') return authenticateByKey(upstream.apiKeyHeader, secret);
  if (gatewayKey === null) throw new TypeError(`AUTH=${auth.mode} needs a key of the gateway, got none`);
  if (auth.mode === 'open') return authenticateAnyone(gatewayKey);
  return authenticateByToken(gatewayKey, createTokens({ ...auth, isTenant, log }));
};

/** Whom the sandbox's webhooks deliver to: who has its key, or where tokens say who it is, the tenant `demo`. */
const sandboxTenant = async (
  { auth }: Config,
  authenticate: Authenticate,
  { apiKey }: Sandbox,
): Promise<string> => (auth.mode === 'jwt' ? 'demo' : (await authenticate({ get: () => apiKey })).tenant);

/** A file that can't be read, or whose documents could not run, is a problem of the configuration. */
const loadTrustedDocuments = async ({ trustedDocuments: path }: Config): Promise<TrustedDocuments | null> => {
  if (path === null) return null;
  const json = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ConfigError([`TRUSTED_DOCUMENTS: ${messageOf(error)}`]);
  });
  try {
    return readTrustedDocuments(json, schema);
  } catch (error) {
    if (!(error instanceof TrustedDocumentsError)) throw error;
    throw new ConfigError(error.problems.map((problem) => `TRUSTED_DOCUMENTS: ${problem}`));
  }
};

/** An address that can't be bound is a problem of the configuration. */
const listen = async (http: HttpServer, { host, port }: Config): Promise<string> => {
  try {
    return await http.listen(host, port);
  } catch (error) {
    throw new ConfigError([`HOST, PORT: ${host}:${port} can not be bound: ${messageOf(error)}`]);
  }
};

const embedSandbox = async (config: Config, log: Log, parts: AsyncDisposableStack): Promise<Sandbox> => {
  const sandbox = await startSandbox({
    ...(config.upstream.apiKey !== null && { apiKey: config.upstream.apiKey }),
    keyHeader: config.upstream.apiKeyHeader,
    blockMs: config.sandboxBlockMs,
    log: (message, details) => log.warn(`sandbox: ${message}`, details),
  });
  parts.defer(() => sandbox.stop());
  log.warn('sandbox', { url: sandbox.url, data: 'made up: UPSTREAM_URL names no service' });
  return sandbox;
};

/** A folder that can't be made, read or written is a problem of the configuration. */
const openDeliveries = async ({ deliveries }: Config, observer: LogObserver, log: Log) => {
  const onTrimError = (error: unknown) =>
    log.warn('old deliveries could not be dropped', { error: messageOf(error) });
  try {
    const secret = deliveries.secret ?? (await loadDeliverySecret(deliveries.dataDir));
    const deliveryLog = await openSqliteLog({ ...deliveries, onTrimError, observer });
    return { secret, deliveryLog: observeLog(deliveryLog, observer) };
  } catch (error) {
    if (error instanceof DeliverySecretError || error instanceof LogOpenError)
      throw new ConfigError([`DATA_DIR: ${error.message}`]);
    throw error;
  }
};
