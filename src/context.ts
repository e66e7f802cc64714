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
import type { PageKernel } from './upstream/kernel/page-kernel.ts';
import type { Freshness, PageRead } from './upstream/list-loader.ts';
import { createWebhookSession } from './webhooks/session.ts';
import type { SubscribedAddresses } from './webhooks/subscribed-addresses.ts';
import { createVerifiedKeys, type VerifiedKeys } from './webhooks/verified-keys.ts';

/** The parts that all operations share. */
export type ContextParts = {
  readonly answers: Answers;
  readonly client: UpstreamClient;
  /** Null where the plain parser reads all pages. */
  readonly kernel: PageKernel | null;
  readonly stores: {
    readonly transactions: PageCache<Transaction>;
    readonly collectibles: PageCache<Collectible>;
  };
  readonly freshness: { readonly transactions: Freshness; readonly collectibles: Freshness };
  /** The deadline of an operation's upstream requests, all together, in milliseconds. */
  readonly operationMs: number;
  /** The most compute units that one operation may cost, whatever its estimate. */
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
  /** Returns the URL at which upstream reaches this gateway. It is known once the gateway listens. */
  readonly publicUrl: () => string;
  readonly now: Clock;
};

/** The caller of an operation, and its rights. */
export type Caller = {
  readonly credential: Credential;
  /** The tenant whose deliveries the caller sees. */
  readonly tenant: string;
  /** Callers with the same partition share cached pages. */
  readonly cachePartition: string;
  /** Callers with the same key share a compute-unit budget and the limits of a client. */
  readonly billingKey: string;
  /** The scopes of its token; all scopes for a caller without one. */
  readonly scopes: ReadonlySet<Scope>;
  /** When its rights expire, in milliseconds since 1970; null when they do not expire. */
  readonly expiresAt: number | null;
};

export type Context = ReturnType<ReturnType<typeof createContext>>;

/** The context in which the resolvers of one event run. */
type EventContext = { readonly upstream: Usage; readonly chains: Chains; readonly answer: Answer };

/**
 * Returns a function that creates the context of one operation: its loaders, and its upstream usage so far. `clientSignal`
 * aborts when the client no longer waits for the operation; null for an operation that no client can abort.
 */
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
  const reads: PageRead[] = [];
  const deadline = createDeadline(parts.operationMs, clientSignal, parts.now);
  const { credential, tenant, cachePartition, billingKey, scopes, expiresAt } = caller;
  const {
    client,
    kernel,
    maxComputeUnits,
    freshness,
    pricing,
    stores,
    keyedQueue,
    verifiedKeys,
    subscribed,
  } = parts;
  const scope: RequestScope = { credential, deadline, usage: upstream, maxComputeUnits, trace };
  const shared = { client, scope, cachePartition };
  return {
    upstream,
    /** The pages that the operation has read so far. */
    reads,
    chains: parts.chains,
    trace,
    billingKey,
    scopes,
    expiresAt,
    answer: new Answer(parts.answers, clientSignal),
    /** Callers with equal keys see the same data. */
    authorizationKey: () => JSON.stringify([tenant, cachePartition, [...scopes].sort()]),
    /** Creates the context of one event of the caller's subscription: each event is an operation of its own. */
    forEvent: (): EventContext => contextOf(parts, caller, trace, null),
    /** As `verifyKey` of webhooks, in an operation of its own, which the signal aborts. */
    verifyKey: (signal: AbortSignal): Promise<void> =>
      contextOf(parts, caller, trace, signal).webhooks.verifyKey(),
    cursorsOf: parts.cursorsOf,
    transactions: createTransactionsLoader({
      ...shared,
      kernel,
      reads,
      store: stores.transactions,
      freshness: freshness.transactions,
    }),
    collectibles: createCollectiblesLoader({
      ...shared,
      kernel,
      reads,
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
