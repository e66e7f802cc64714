import type { Collectible } from '../collectibles/rest.ts';
import type { Sandbox } from '../sandbox/server.ts';
import type { SharedLimits } from '../shared/limits/shared-limits.ts';
import type { Invalidations } from '../shared/pages/invalidations.ts';
import type { Transaction } from '../transactions/rest.ts';
import type { CacheBudget } from '../upstream/cache/cache-budget.ts';
import { createInvalidationBus, type InvalidationBus } from '../upstream/cache/invalidation.ts';
import { createPageCache, type PageCache } from '../upstream/cache/page-cache.ts';
import type { SharedPages } from '../upstream/cache/shared-pages.ts';
import { type ChainPricing, createChainPricing } from '../upstream/chain-pricing.ts';
import { createUpstreamClient, type UpstreamClient } from '../upstream/client/client.ts';
import { createPageKernel, type PageKernel } from '../upstream/kernel/page-kernel.ts';
import { createAddressLookup } from '../webhooks/address-lookup.ts';
import { SubscribedAddresses } from '../webhooks/subscribed-addresses.ts';
import { startSharedLimits, startSharedPages } from './shared.ts';
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
  const sharedLimits = await startSharedLimits(startup, { secret, upstreamUrl: url });
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
  const shared = await startSharedPages(startup, {
    secret,
    upstreamUrl: url,
    gatewayKey: key,
    memory: invalidation,
  });
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
