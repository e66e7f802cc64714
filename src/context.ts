import type { Chains } from './chains/chains.ts';
import { createCollectiblesLoader } from './collectibles/loader.ts';
import type { Collectible } from './collectibles/rest.ts';
import type { FeedCache } from './deliveries/feed/cache.ts';
import type { ChangeNotifier } from './deliveries/feed/change-notifier.ts';
import type { ReaderObserver } from './deliveries/feed/feed.ts';
import type { DeliveryUrls } from './deliveries/ingress/delivery-url.ts';
import type { DeliveryLog } from './deliveries/log/log.ts';
import { SearchLimiter } from './deliveries/log/search-limits.ts';
import { createTenantDeliveries } from './deliveries/tenant-deliveries.ts';
import { Answer, type Answers } from './graph/answer/answer.ts';
import type { CursorsOf } from './graph/pagination/cursor.ts';
import type { Clock } from './lib/clock.ts';
import { createDeadline } from './lib/deadline.ts';
import { createKeyedQueue, type KeyedQueue } from './lib/keyed-queue.ts';
import type { Trace } from './lib/trace-context.ts';
import type { Scope } from './scopes.ts';
import { createTransactionsLoader } from './transactions/loader.ts';
import type { Transaction } from './transactions/rest.ts';
import type { PageCache } from './upstream/cache/page-cache.ts';
import type { ChainPricing } from './upstream/chain-pricing.ts';
import type { UpstreamClient } from './upstream/client/client.ts';
import type { Credential, RequestScope } from './upstream/client/request-scope.ts';
import { createUsage, type Usage } from './upstream/client/usage.ts';
import type { Freshness } from './upstream/list-loader.ts';
import type { PageItem } from './upstream/parse/page-parser.ts';
import { createWebhookSession } from './webhooks/session.ts';
import type { SubscribedAddresses } from './webhooks/subscribed-addresses.ts';
import { createVerifiedKeys, type VerifiedKeys } from './webhooks/verified-keys.ts';

/** What all operations share. */
export type ContextParts = {
  readonly answers: Answers;
  readonly client: UpstreamClient;
  readonly stores: {
    readonly transactions: PageCache<PageItem<Transaction>>;
    readonly collectibles: PageCache<PageItem<Collectible>>;
  };
  readonly freshness: { readonly transactions: Freshness; readonly collectibles: Freshness };
  /** Milliseconds that an operation waits for the service in all. */
  readonly operationMs: number;
  /** What one operation may cost at most, whatever it was estimated at. */
  readonly maxComputeUnits: number;
  readonly pricing: ChainPricing;
  readonly chains: Chains;
  readonly log: DeliveryLog;
  readonly changeNotifier: ChangeNotifier;
  readonly feedCache: FeedCache;
  readonly readerObserver: ReaderObserver;
  readonly deliveryUrls: DeliveryUrls;
  readonly subscribed: SubscribedAddresses;
  readonly cursorsOf: CursorsOf;
  /** How the service reaches this gateway, known once it listens. */
  readonly publicUrl: () => string;
  readonly now: Clock;
};

/** On whose behalf an operation runs. */
export type Caller = {
  readonly credential: Credential;
  /** Whose deliveries it sees. */
  readonly tenant: string;
  /** With whom it shares kept pages. */
  readonly cachePartition: string;
  /** Whose budget it spends. */
  readonly billingKey: string;
  /** What it may use. */
  readonly scopes: ReadonlySet<Scope>;
  /** From when on it is refused, in milliseconds since 1970, however far away; null when it never is. */
  readonly expiresAt: number | null;
};

export type Context = ReturnType<ReturnType<typeof createContext>>;

/** What the resolvers of one event have, and what that event cost. */
type EventContext = { readonly upstream: Usage; readonly chains: Chains; readonly answer: Answer };

/** What one operation has: loaders that are born with it, and what it cost so far. `clientSignal` aborts when nobody waits for it. */
export const createContext = (parts: ContextParts) => {
  const all: SharedParts = {
    ...parts,
    keyedQueue: createKeyedQueue(),
    verifiedKeys: createVerifiedKeys(parts.now),
    searchLimiter: new SearchLimiter(),
  };
  return (caller: Caller, trace: Trace, clientSignal: AbortSignal | null) =>
    contextOf(all, caller, trace, clientSignal);
};

type SharedParts = ContextParts & {
  readonly keyedQueue: KeyedQueue;
  readonly verifiedKeys: VerifiedKeys;
  readonly searchLimiter: SearchLimiter;
};

const contextOf = (parts: SharedParts, caller: Caller, trace: Trace, clientSignal: AbortSignal | null) => {
  const upstream = createUsage();
  const deadline = createDeadline(parts.operationMs, clientSignal, parts.now);
  const { credential, tenant, cachePartition, billingKey, scopes, expiresAt } = caller;
  const { client, maxComputeUnits, freshness, pricing, stores, keyedQueue, verifiedKeys, subscribed } = parts;
  const scope: RequestScope = { credential, deadline, usage: upstream, maxComputeUnits, trace };
  const shared = { client, scope, cachePartition };
  return {
    upstream,
    chains: parts.chains,
    trace,
    billingKey,
    scopes,
    expiresAt,
    answer: new Answer(parts.answers, clientSignal),
    /** Who has the same sees the same. */
    authorizationKey: () => JSON.stringify([tenant, cachePartition, [...scopes].sort()]),
    /** What the next event of the same caller's subscription has: each is an operation of its own. */
    forEvent: (): EventContext => contextOf(parts, caller, trace, null),
    /** As `verifyKey` of webhooks, but by an operation of its own: nobody waits for it once the signal aborts. */
    verifyKey: (signal: AbortSignal): Promise<void> =>
      contextOf(parts, caller, trace, signal).webhooks.verifyKey(),
    cursorsOf: parts.cursorsOf,
    transactions: createTransactionsLoader({
      ...shared,
      store: stores.transactions,
      freshness: freshness.transactions,
    }),
    collectibles: createCollectiblesLoader({
      ...shared,
      store: stores.collectibles,
      freshness: freshness.collectibles,
      pricing,
    }),
    webhooks: createWebhookSession({
      ...shared,
      keyedQueue,
      verifiedKeys,
      subscribed,
    }),
    deliveries: createTenantDeliveries({
      ...parts,
      publicUrl: parts.publicUrl(),
      tenant,
      maxPageBytes: parts.answers.maxBytes / 3,
      client: billingKey,
      clientSignal,
    }),
  };
};
