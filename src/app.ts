import { type Config, ConfigError } from './config.ts';
import { createContext } from './context.ts';
import { createDeliveryAddresses } from './deliveries/address.ts';
import { LogOpenError, messageOf } from './deliveries/errors.ts';
import { createIngress } from './deliveries/ingress.ts';
import { createOutage } from './deliveries/outage.ts';
import { DeliverySecretError, loadDeliverySecret } from './deliveries/secret.ts';
import { openSqliteLog } from './deliveries/sqlite-log.ts';
import { createEstimate } from './graph/estimate.ts';
import { maskError } from './graph/mask.ts';
import type { Log } from './log.ts';
import { type Sandbox, startSandbox } from './sandbox/server.ts';
import { schema } from './schema.ts';
import { createAuthenticate, scopeOf } from './server/auth.ts';
import { createBudgets } from './server/budgets.ts';
import { createEventStreams } from './server/event-streams.ts';
import { createGraphQL } from './server/graphql.ts';
import { createHttpServer, type HttpServer } from './server/http.ts';
import { createOriginCheck } from './server/origins.ts';
import { serveWebSockets } from './server/websocket.ts';
import { createUpstreamClient } from './upstream/client.ts';
import { createChainPrices } from './upstream/cost.ts';
import { createMemory } from './upstream/memory.ts';
import { createNews } from './upstream/news.ts';
import { createPageStore } from './upstream/pages.ts';

export type App = {
  /** Where it listens: `http://host:port`. */
  readonly url: string;
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

/** One deadline for all that an operation asks, in attempts that take as long as one may. */
const ATTEMPTS_AN_OPERATION_WAITS_FOR = 3;

const wire = async (config: Config, log: Log, parts: AsyncDisposableStack): Promise<App> => {
  const sandbox = config.upstream.url === null ? await embedSandbox(config, log, parts) : null;
  const upstreamUrl = config.upstream.url ?? sandbox?.url;
  const gatewayKey = config.upstream.apiKey ?? sandbox?.apiKey ?? null;
  if (upstreamUrl === undefined) throw new TypeError('Expected a service or a sandbox, got neither.');

  const { secret, deliveryLog } = await openDeliveries(config, log);
  parts.defer(() => deliveryLog.close());
  const addresses = createDeliveryAddresses(secret);
  const client = createUpstreamClient({
    ...config.upstream,
    keyHeader: config.upstream.apiKeyHeader,
    url: upstreamUrl,
  });
  parts.defer(() => client.close());

  const { headMs, tailMs, staleMs, maxMb } = config.cache;
  const memory = createMemory(Math.max(headMs, tailMs, staleMs) > 0 ? maxMb * 1024 * 1024 : 0);
  const news = createNews();
  let url = '';
  const publicUrl = () => config.publicUrl ?? url;
  const keyHeader = config.upstream.apiKeyHeader;
  const authenticate = createAuthenticate({ mode: config.auth, gatewayKey, keyHeader, secret });
  const { defaultChainCount, clientComputeUnitsPerMinute } = config.cost;
  const prices = createChainPrices(defaultChainCount);
  const eventStreams = createEventStreams();
  const mask = (error: unknown) =>
    maskError(error, (stranger) =>
      log.error('an operation met an error that is not in the catalogue', {
        error: stranger instanceof Error ? stranger.stack : String(stranger),
      }),
    );
  const graphql = createGraphQL({
    schema,
    authenticate,
    createContext: createContext({
      client,
      stores: { transactions: createPageStore(memory, news), collectibles: createPageStore(memory, news) },
      freshness: config.cache,
      operationMs: config.upstream.timeoutMs * ATTEMPTS_AN_OPERATION_WAITS_FOR,
      maxComputeUnits: config.cost.maxComputeUnits,
      prices,
      log: deliveryLog,
      addresses,
      publicUrl,
    }),
    estimate: createEstimate(schema, prices),
    maxComputeUnits: config.cost.maxComputeUnits,
    budgets: clientComputeUnitsPerMinute === null ? null : createBudgets(clientComputeUnitsPerMinute),
    allowedOrigins: config.allowedOrigins,
    production: config.production,
    mask,
    eventStreams,
  });
  const outage = createOutage({
    began: (error) => log.error('deliveries can not be stored', { error: messageOf(error) }),
    ended: () => log.info('deliveries are stored again'),
  });
  const http = createHttpServer({
    graphql,
    takeDelivery: createIngress({
      log: deliveryLog,
      addresses,
      signature: config.deliveries.signature,
      onStored: (tenant, concerned) => {
        outage.worked();
        news.tell(scopeOf(config.auth, tenant), concerned);
      },
      onUnavailable: outage.failed,
    }),
    notReady: () =>
      // A head is known without looking; this looks.
      deliveryLog.read('default', { limit: 0 }).then(
        () => [],
        () => ['deliveries'],
      ),
    eventStreams,
    log,
  });
  const sockets = serveWebSockets({
    server: http.server,
    graphql,
    mask,
    isAllowedOrigin: createOriginCheck(config.allowedOrigins),
    maxSockets: config.maxSockets,
  });
  url = await listen(http, config);
  if (sandbox !== null) {
    const { tenant } = authenticate({ get: () => sandbox.apiKey });
    sandbox.start((webhookId) => addresses.deliveryUrl(publicUrl(), tenant, webhookId));
  }

  return {
    url,
    async stop() {
      await Promise.all([http.stop(), sockets.stop()]);
      await parts.disposeAsync();
    },
  };
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
  return sandbox;
};

/** A folder that can't be made, read or written is a problem of the configuration. */
const openDeliveries = async ({ deliveries }: Config, log: Log) => {
  const onTrimError = (error: unknown) =>
    log.warn('old deliveries could not be dropped', { error: messageOf(error) });
  try {
    const secret = deliveries.secret ?? (await loadDeliverySecret(deliveries.dataDir));
    return { secret, deliveryLog: await openSqliteLog({ ...deliveries, onTrimError }) };
  } catch (error) {
    if (error instanceof DeliverySecretError || error instanceof LogOpenError)
      throw new ConfigError([`DATA_DIR: ${error.message}`]);
    throw error;
  }
};
