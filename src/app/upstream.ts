import type { Config } from '../config/config.ts';
import type { Collectible } from '../lookups/collectibles-rest.ts';
import type { Transaction, TransactionsList } from '../lookups/transactions-rest.ts';
import type { Sandbox } from '../sandbox/server.ts';
import type { Invalidations } from '../shared/invalidations.ts';
import type { SharedLimits } from '../shared/limits.ts';
import type { CacheBudget } from '../upstream/cache/entries.ts';
import { createInvalidationBus, type InvalidationBus } from '../upstream/cache/entries.ts';
import { createPageCache, type PageCache } from '../upstream/cache/page-cache.ts';
import type { SharedPages } from '../upstream/cache/shared-fetch.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client/client.ts';
import { type ChainPricing, createChainPricing } from '../upstream/client/request.ts';
import { createPageKernel, type PageKernel } from '../upstream/kernel/page-kernel.ts';
import type { WatchedLists } from '../upstream/list-loader.ts';
import { createBackgroundScope, createWebhookClient } from '../webhooks/client.ts';
import { DeliveredAddresses } from '../webhooks/delivered-addresses.ts';
import { createAddressLookup, SubscribedAddresses } from '../webhooks/subscribed-addresses.ts';
import type { Deliveries } from './deliveries.ts';
import type { Startup } from './startup.ts';

/** Upstream, as the gateway uses it. */
export type Upstream = {
  /** Null when UPSTREAM_URL is set. */
  readonly sandbox: Sandbox | null;
  /** The gateway's own key; null when each client sends its own. */
  readonly gatewayKey: string | null;
  readonly client: UpstreamClient;
  /** Null where the plain parser reads all pages. */
  readonly kernel: PageKernel | null;
  readonly pricing: ChainPricing;
  readonly cacheBudget: CacheBudget;
  readonly invalidation: InvalidationBus;
  /** Null where this gateway is alone. */
  readonly sharedPages: SharedPages | null;
  readonly sharedLimits: SharedLimits | null;
  /** Of the pages that other gateways see; null where this gateway is alone. */
  readonly sharedInvalidations: Invalidations | null;
  readonly stores: {
    readonly transactions: PageCache<Transaction>;
    readonly collectibles: PageCache<Collectible>;
  };
  readonly subscribed: SubscribedAddresses;
};

/**
 * Creates the upstream client. Without UPSTREAM_URL it starts the sandbox first. Pages are cached within `cacheBudget`, and
 * shared with other gateways under names that `secret` makes.
 */
export const startUpstream = async (
  startup: Startup,
  cacheBudget: CacheBudget,
  secret: string,
): Promise<Upstream> => {
  const { config, now, readPath, telemetry, opened } = startup;
  const sandbox = config.upstream.url === null ? await embedSandbox(startup) : null;
  const url = config.upstream.url ?? sandbox?.url;
  if (url === undefined) throw new TypeError('Expected UPSTREAM_URL or a sandbox, got neither.');
  const gatewayKey = config.upstream.apiKey ?? sandbox?.apiKey ?? null;
  const { perSecond } = config.upstream;
  const redis = await loadRedis(config);
  const sharedLimits =
    redis && (await redis.startSharedLimits(startup, redis.settings, { secret, upstreamUrl: url }));
  const client = createUpstreamClient({
    ...config.upstream,
    sharedRate: perSecond === null ? null : (sharedLimits?.rate(perSecond) ?? null),
    sharedCooldowns: sharedLimits?.cooldowns ?? null,
    keyHeader: config.upstream.apiKeyHeader,
    url,
    observer: telemetry.upstream,
    now,
  });
  opened.defer(() => client.close());
  // Webhooks of a client can be read only with the client's own key.
  const key = config.auth.mode === 'key' ? null : gatewayKey;
  const invalidation = createInvalidationBus();
  const naming = { secret, upstreamUrl: url, gatewayKey: key };
  const shared =
    redis && (await redis.startSharedPages(startup, redis.settings, { ...naming, memory: invalidation }));
  const createCache = <Value>(resource: 'transactions' | 'collectibles'): PageCache<Value> =>
    createPageCache(cacheBudget, invalidation, telemetry.pages(resource), now, shared !== null);
  return {
    sandbox,
    gatewayKey,
    client,
    kernel: readPath === 'fast' ? createPageKernel() : null,
    pricing: createChainPricing(config.cost.defaultChainCount),
    cacheBudget,
    invalidation,
    sharedPages: shared?.pages ?? null,
    sharedLimits,
    sharedInvalidations: shared?.invalidations ?? null,
    stores: { transactions: createCache('transactions'), collectibles: createCache('collectibles') },
    subscribed: new SubscribedAddresses({
      ask: key === null ? null : createAddressLookup(client, { key, owner: 'gateway' }, now),
    }),
  };
};

const loadRedis = async ({ redis: settings }: Config) =>
  settings && { settings, ...(await import('./redis.ts')) };

const embedSandbox = async ({ config, log, opened }: Startup): Promise<Sandbox> => {
  // A gateway over a real service does not load it.
  const { startSandbox } = await import('../sandbox/server.ts');
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

/** Longer than any attempt at one of upstream's lists of webhooks takes. */
const LISTS_TIMEOUT_MS = 30_000;

/**
 * Starts to learn which wallets' transactions are delivered here, so that their newest pages stay fresh until then. Null
 * where CACHE_WATCHED_MS is off, and where each client has its own key: nothing then lists its webhooks for the gateway.
 */
export const createWatchedTransactions = (
  { config, now }: Startup,
  { client, gatewayKey, invalidation }: Upstream,
  { deliveryUrls }: Deliveries,
  publicUrl: () => string,
): WatchedTransactions | null => {
  const { watchedMs } = config.cache;
  if (watchedMs === 0 || gatewayKey === null || config.auth.mode === 'key') return null;
  const webhooks = () =>
    createWebhookClient({
      client,
      scope: createBackgroundScope({ key: gatewayKey, owner: 'gateway' }, LISTS_TIMEOUT_MS, now),
    });
  const delivered = new DeliveredAddresses(
    {
      webhooks: () => webhooks().listAll(),
      addresses: (webhookId) => webhooks().listAllAddresses(webhookId),
      deliversHere: ({ webhookId, url }) =>
        url !== null && deliveryUrls.isUrlFor(publicUrl(), webhookId, url),
    },
    now,
  );
  invalidation.listen((_partition, addresses) => delivered.named(addresses));
  return {
    lists: {
      maxAgeMs: ({ address, chains }) => Math.min(watchedMs, delivered.deliveredForMs(address, chains)),
      onNewest: (listName, { address }, { items, fetchedAt }) =>
        delivered.fetched(
          listName,
          address,
          items.length > 0 ? items.identity(0) : null,
          Date.now() - fetchedAt,
        ),
    },
    delivered,
  };
};

/** What is delivered here, and what that means for pages of transactions. */
export type WatchedTransactions = {
  readonly lists: WatchedLists<TransactionsList>;
  readonly delivered: DeliveredAddresses;
};
