import { createHmac } from 'node:crypto';
import type { RecordStore } from '../backend/explorer/client/shared-limits.ts';
import type { Ask } from '../backend/http/http.ts';
import type { IndexedConfig } from '../backend/indexer/config.ts';
import type { Sandbox } from '../backend/sandbox/sandbox.ts';
import type { Config } from '../config/config.ts';
import type { ContextParts } from '../context.ts';
import { rememberLast } from '../lib/memo.ts';
import { type ChainSource, createChainSource, readChainsOf } from '../lookups/chains/chains.ts';
import { type Chain, currencyOf, KNOWN_CHAINS } from '../lookups/chains/known-chains.ts';
import { lookups } from '../lookups/registry.ts';
import type { Invalidations } from '../redis/invalidations.ts';
import type { SharedLimits } from '../redis/limits.ts';
import type { CacheBudget, InvalidationBus } from '../upstream/cache/entries.ts';
import { createInvalidationBus } from '../upstream/cache/entries.ts';
import { ChangeStream } from '../upstream/changes.ts';
import {
  createConnectionPool,
  createUpstreamClient,
  type RequestDispatcher,
  type UpstreamClient,
} from '../upstream/client/client.ts';
import { createChainPricing } from '../upstream/client/request.ts';
import { createPageKernel } from '../upstream/kernel/page-kernel.ts';
import type { WatchedLists } from '../upstream/list-loader.ts';
import { createBackgroundScope, createWebhookClient } from '../webhooks/client.ts';
import { DeliveredAddresses } from '../webhooks/delivered-addresses.ts';
import { createAddressLookup, SubscribedAddresses } from '../webhooks/subscribed-addresses.ts';
import type { Deliveries } from './deliveries.ts';
import type { IndexThread } from './index-thread.ts';
import { hasLayer, type Startup } from './startup.ts';

/** Upstream, as the gateway uses it. */
export type Upstream = ContextParts['upstream'] & {
  /** Null when UPSTREAM_URL, CHAINS or BLOCKSCOUT is set. */
  readonly sandbox: Sandbox | null;
  /** Null unless CHAINS or BLOCKSCOUT is set. */
  readonly index: IndexThread | null;
  /** The gateway's own key; null when each client sends its own. */
  readonly gatewayKey: string | null;
  readonly sharedLimits: SharedLimits | null;
  /** Of the pages that other gateways see; null where this gateway is alone. */
  readonly sharedInvalidations: Invalidations | null;
  readonly chains: ChainSource;
};

/**
 * Creates the upstream client. Without UPSTREAM_URL it first starts a service over CHAINS and BLOCKSCOUT, or else the sandbox.
 * Pages are cached within `cacheBudget`, and shared with other gateways under names that the identity of the deliveries makes.
 */
export const startUpstream = async (
  startup: Startup,
  cacheBudget: CacheBudget,
  deliveries: Deliveries,
): Promise<Upstream> => {
  const { config, now, readPath, readsChains, telemetry, opened } = startup;
  const { identity: secret } = deliveries;
  const { perSecond } = config.upstream;
  const redis = await loadRedis(config);
  const shareLimits = async (upstreamUrl: string) =>
    redis === null ? null : redis.startSharedLimits(startup, redis.settings, { secret, upstreamUrl });
  const { url, connect, gatewayKey, sharedAs, sharedLimits, ...embedded } = await findService(
    startup,
    secret,
    shareLimits,
  );
  const client = createUpstreamClient({
    ...config.upstream,
    sharedRate: perSecond === null ? null : (sharedLimits?.rate(perSecond) ?? null),
    sharedCooldowns: sharedLimits?.cooldowns ?? null,
    keyHeader: config.upstream.apiKeyHeader,
    // A service apart may be of others, whom clients do not concern.
    clients: embedded.index && { header: embedded.index.clientHeader, nameOf: createClientNames(secret) },
    url,
    dispatcher: connect(config.upstream.connections, config.upstream.timeoutMs),
    observer: telemetry.upstream,
    now,
  });
  opened.defer(() => client.close());
  // Webhooks of a client can be read only with the client's own key.
  const key = config.auth.mode === 'key' ? null : gatewayKey;
  const invalidation = createInvalidationBus();
  const naming = { secret, upstreamUrl: sharedAs, gatewayKey: key };
  const shared =
    redis && (await redis.startSharedPages(startup, redis.settings, { ...naming, memory: invalidation }));
  const { watchedMs, newestMs, headMs } = config.cache;
  const delivered =
    watchedMs === 0 || key === null
      ? null
      : createDeliveredAddresses(startup, deliveries, client, invalidation, key);
  const told =
    gatewayKey === null
      ? null
      : followChanges(
          startup,
          { dispatcher: connect(1, CHANGES_CONNECT_MS), basePath: new URL(url).pathname, key: gatewayKey },
          invalidation,
          () => chains.changed(),
        );
  const own = config.indexed && [
    ...config.indexed.chains.map((chain) => chainOf(chain, true)),
    ...(config.indexed.explorers?.chains ?? []).map((chain) => chainOf(chain, false)),
  ];
  const chains: ChainSource = createChainSource({
    builtIn: own ?? undefined,
    leavesOut: config.indexed?.explorers ? ['logs', 'block_hash'] : undefined,
    // What an own chain is called is said by the service that has it, in its own list too.
    extra: config.extraChains.filter(({ chainId }) => !own?.some((chain) => chain.chainId === chainId)),
    read: readsChains
      ? readChainsOf(client, () => createBackgroundScope(NO_KEY, LISTS_TIMEOUT_MS, now))
      : null,
    onTelling: () => told?.start(),
    now,
  });
  return {
    ...embedded,
    gatewayKey,
    client,
    kernel: hasLayer(readPath, 'kernel') ? createPageKernel() : null,
    pricing: createChainPricing(
      config.cost.defaultChainCount,
      (detail) => chains.leavesOut().get(detail) ?? null,
    ),
    cacheBudget,
    invalidation,
    sharedPages: shared?.pages ?? null,
    sharedLimits,
    sharedKeys: sharedLimits?.keys ?? null,
    sharedInvalidations: shared?.invalidations ?? null,
    freshnessOf: (lookup) => ({ ...config.cache, headMs: newestMs[lookup] ?? headMs }),
    observerOf: telemetry.pages,
    subscribed: new SubscribedAddresses({
      ask: key === null ? null : createAddressLookup(client, { key, owner: 'gateway' }, now),
    }),
    delivered,
    watched: delivered && watchedLists(delivered, watchedMs),
    told: { isWhole: () => told?.isWhole() ?? false, maxAgeMs: watchedMs },
    chains,
    chainIdOf: (name) => chains.current().idOf(name),
    leavesOut: () => chains.leavesOut(),
    isFree: () => chains.isFree(),
    now,
  };
};

/** Names clients without saying who they are. */
const createClientNames = (secret: string) =>
  rememberLast((client) =>
    createHmac('sha256', secret).update(`client ${client}`).digest('base64url').slice(0, 22),
  );

const loadRedis = async ({ redis: settings }: Config) =>
  settings && { settings, ...(await import('./redis.ts')) };

type Service = Pick<Upstream, 'sandbox' | 'index' | 'gatewayKey' | 'sharedLimits'> & {
  /** Of a service in this process, it names no host. */
  readonly url: string;
  /** Makes the dispatcher of requests to the service, with a limit of connections and a timeout for connecting in milliseconds. */
  readonly connect: (connections: number, timeoutMs: number) => RequestDispatcher;
  /** Gateways of equal services share pages and limits: the URL, except of a service of which each gateway has one. */
  readonly sharedAs: string;
};

/** Returns the service at UPSTREAM_URL, or starts one. */
const findService = async (
  startup: Startup,
  secret: string,
  shareLimits: (name: string) => Promise<SharedLimits | null>,
): Promise<Service> => {
  const { upstream, indexed } = startup.config;
  if (indexed !== null) {
    const sharedAs = `embedded ${JSON.stringify(indexed.explorers?.chains ?? [])}`;
    const sharedLimits = await shareLimits(sharedAs);
    const index = await embedIndex(startup, indexed, secret, sharedLimits?.records ?? null);
    const { apiKey: gatewayKey, ask } = index;
    const connect = await connectWithin(ask);
    return { url: 'http://index', connect, sharedAs, sharedLimits, gatewayKey, sandbox: null, index };
  }
  const sandbox = upstream.url === null ? await embedSandbox(startup) : null;
  const url = sandbox?.url ?? upstream.url ?? '';
  const connect: Service['connect'] = sandbox
    ? await connectWithin(sandbox.ask)
    : (connections, timeoutMs) => createConnectionPool(url, connections, timeoutMs);
  const gatewayKey = sandbox?.apiKey ?? upstream.apiKey;
  const sharedLimits = await shareLimits(url);
  return { url, connect, sharedAs: url, sharedLimits, gatewayKey, sandbox, index: null };
};

/** Only a gateway with a service of its own loads it. */
const connectWithin = async (ask: Ask): Promise<Service['connect']> => {
  const { InProcessDispatcher } = await import('./in-process-dispatcher.ts');
  return () => new InProcessDispatcher(ask);
};

/** An own chain, until the service that has it lists it. The ids of devnets say nothing of what they are. */
const chainOf = (
  { id, named, native }: Pick<IndexedConfig['chains'][number], 'id' | 'named' | 'native'>,
  isIndexed: boolean,
): Chain => {
  const known = KNOWN_CHAINS.find(({ chainId, tags }) => chainId === id && !tags.includes('devnet'));
  const { name = known?.name ?? `chain_${id}`, tags = ['default'] } = named ?? {};
  return {
    chainId: id,
    name,
    tags,
    native: native ? { ...native, logo: null } : currencyOf('ETH'),
    isIndexed,
  };
};

const embedIndex = async (
  { config, log, telemetry, opened, deadline }: Startup,
  indexed: IndexedConfig,
  secret: string,
  records: RecordStore | null,
): Promise<IndexThread> => {
  const { startIndexThread } = await import('./index-thread.ts');
  const { apiKey, apiKeyHeader } = config.upstream;
  const settings = {
    ...indexed,
    host: '127.0.0.1',
    port: null,
    // It stays the same over a restart, so that cursors do as well.
    apiKey: apiKey ?? createHmac('sha256', secret).update('key of the embedded index').digest('hex'),
    keyHeader: apiKeyHeader,
    signatureSecret: config.deliveries.signature?.secrets[0] ?? null,
    isOneOfSeveral: records !== null,
  };
  const index = await startIndexThread(settings, log, records);
  opened.defer(() => index.stop(deadline));
  const chains = indexed.chains.map(({ id }) => id);
  const explored = indexed.explorers?.chains.map(({ id }) => id) ?? [];
  telemetry.indexed(chains, index.figures);
  log.info('index started', { chains, ...(explored.length > 0 && { explored }) });
  return index;
};

const embedSandbox = async ({ config, log, opened }: Startup): Promise<Sandbox> => {
  // A gateway over a real service does not load it.
  const { startSandbox } = await import('../backend/sandbox/sandbox.ts');
  const sandbox = await startSandbox({
    ...(config.upstream.apiKey !== null && { apiKey: config.upstream.apiKey }),
    keyHeader: config.upstream.apiKeyHeader,
    blockMs: config.sandboxBlockMs,
    log: (message, details) => log.warn(`sandbox: ${message}`, details),
  });
  opened.defer(() => sandbox.stop());
  log.warn('sandbox started', { url: sandbox.url, data: 'simulated: UPSTREAM_URL is not set' });
  return sandbox;
};

/** Follows the changes that the service tells of, once it says that it does. */
const followChanges = (
  { config, log, opened, now }: Startup,
  service: Pick<ConstructorParameters<typeof ChangeStream>[0], 'dispatcher' | 'basePath' | 'key'>,
  invalidation: InvalidationBus,
  onChange: () => void,
): ChangeStream => {
  const stream = new ChangeStream({
    ...{ ...service, invalidation, onChange, now },
    keyHeader: config.upstream.apiKeyHeader,
    onState(problem) {
      if (problem === null) log.info('changes are told: pages are fresh until one concerns them');
      else log.warn('changes are not told: pages are fresh by their ages', { problem });
    },
  });
  opened.defer(() => stream.stop());
  return stream;
};

const CHANGES_CONNECT_MS = 10_000;

/** Of requests that are sent without a key. */
const NO_KEY = { key: 'no key is sent', owner: 'gateway' } as const;

/** Longer than any attempt at one of upstream's lists of webhooks or chains takes. */
const LISTS_TIMEOUT_MS = 30_000;

/** Learns for which wallets each change of a list is delivered here, of the lists that deliveries can tell of. */
const createDeliveredAddresses = (
  { now, publicUrl }: Startup,
  { deliveryUrls }: Deliveries,
  client: UpstreamClient,
  invalidation: InvalidationBus,
  key: string,
): DeliveredAddresses => {
  const webhooks = () =>
    createWebhookClient({
      client,
      scope: createBackgroundScope({ key, owner: 'gateway' }, LISTS_TIMEOUT_MS, now),
    });
  const delivered = new DeliveredAddresses(
    {
      types: new Set(lookups.flatMap(({ watchedBy }) => watchedBy ?? [])),
      webhooks: () => webhooks().listAll(),
      addresses: (webhookId) => webhooks().listAllAddresses(webhookId),
      deliversHere: ({ webhookId, url }) =>
        url !== null && deliveryUrls.isUrlFor(publicUrl.get(), webhookId, url),
    },
    now,
  );
  invalidation.listen((_partition, addresses) => delivered.named(addresses));
  return delivered;
};

/** The newest page of such a list stays fresh until a delivery names its wallet, for `watchedMs` at most. */
const watchedLists = (delivered: DeliveredAddresses, watchedMs: number): WatchedLists => ({
  maxAgeMs: (types, { address, chains = null }) =>
    Math.min(watchedMs, ...types.map((type) => delivered.deliveredForMs(type, address, chains))),
  onNewest: (listName, { address }, { items, fetchedAt }) =>
    delivered.fetched(listName, address, items.length > 0 ? items.identity(0) : null, Date.now() - fetchedAt),
});
