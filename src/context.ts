import type { Chains } from './chains/chains.ts';
import { createCollectiblesLoader } from './collectibles/loader.ts';
import type { Collectible } from './collectibles/rest.ts';
import type { FeedCache } from './deliveries/feed/cache.ts';
import type { WakeUps } from './deliveries/feed/change-notifier.ts';
import type { DeliveryAddresses } from './deliveries/ingress/delivery-url.ts';
import type { DeliveryLog } from './deliveries/log/log.ts';
import type { ReaderObserver } from './deliveries/log/observer.ts';
import { Searches } from './deliveries/log/search-limits.ts';
import { createTenantDeliveries } from './deliveries/tenant-deliveries.ts';
import { Answer, type Answers } from './graph/answer/answer.ts';
import type { CursorsOf } from './graph/pagination/cursor.ts';
import type { Scope } from './graph/scopes.ts';
import { createPatience } from './lib/deadline.ts';
import { createInOrder, type InOrder } from './lib/keyed-queue.ts';
import type { Trace } from './lib/trace-context.ts';
import { createTransactionsLoader } from './transactions/loader.ts';
import type { Transaction } from './transactions/rest.ts';
import type { PageStore } from './upstream/cache/page-cache.ts';
import type { ChainPrices } from './upstream/chain-pricing.ts';
import type { UpstreamClient } from './upstream/client/client.ts';
import type { Credential } from './upstream/client/credential.ts';
import { createOperationClient } from './upstream/client/operation-client.ts';
import { createMeter, type Meter } from './upstream/client/usage.ts';
import type { Freshness } from './upstream/list-loader.ts';
import type { Item } from './upstream/parse/page-parser.ts';
import { createWebhooks } from './webhooks/session.ts';
import type { SubscribedAddresses } from './webhooks/subscribed-addresses.ts';
import { createKeyProofs, type KeyProofs } from './webhooks/verified-keys.ts';

/** What all operations share. */
export type ContextParts = {
  readonly answers: Answers;
  readonly client: UpstreamClient;
  readonly stores: {
    readonly transactions: PageStore<Item<Transaction>>;
    readonly collectibles: PageStore<Item<Collectible>>;
  };
  readonly freshness: { readonly transactions: Freshness; readonly collectibles: Freshness };
  /** Milliseconds that an operation waits for the service in all. */
  readonly operationMs: number;
  /** What one operation may cost at most, whatever it was estimated at. */
  readonly maxComputeUnits: number;
  readonly prices: ChainPrices;
  readonly chains: Chains;
  readonly log: DeliveryLog;
  readonly wakeUps: WakeUps;
  readonly feedCache: FeedCache;
  readonly readers: ReaderObserver;
  readonly addresses: DeliveryAddresses;
  readonly subscribed: SubscribedAddresses;
  readonly cursorsOf: CursorsOf;
  /** How the service reaches this gateway, known once it listens. */
  readonly publicUrl: () => string;
};

/** On whose behalf an operation runs. */
export type Caller = {
  readonly credential: Credential;
  /** Whose deliveries it sees. */
  readonly tenant: string;
  /** With whom it shares kept pages. */
  readonly sharing: string;
  /** Whose budget it spends. */
  readonly payer: string;
  /** What it may use. */
  readonly scopes: ReadonlySet<Scope>;
  /** From when on it is refused, in milliseconds since 1970, however far away; null when it never is. */
  readonly expiresAt: number | null;
};

export type Context = ReturnType<ReturnType<typeof createContext>>;

/** What the resolvers of one event have, and what that event cost. */
type EventContext = { readonly upstream: Meter; readonly chains: Chains; readonly answer: Answer };

/** What one operation has: loaders that are born with it, and what it cost so far. `gone` aborts when nobody waits for it. */
export const createContext = (parts: ContextParts) => {
  const all: SharedParts = {
    ...parts,
    inOrder: createInOrder(),
    proofs: createKeyProofs(),
    searches: new Searches(),
  };
  return (caller: Caller, trace: Trace, gone: AbortSignal | null) => contextOf(all, caller, trace, gone);
};

type SharedParts = ContextParts & {
  readonly inOrder: InOrder;
  readonly proofs: KeyProofs;
  readonly searches: Searches;
};

const contextOf = (parts: SharedParts, caller: Caller, trace: Trace, gone: AbortSignal | null) => {
  const upstream = createMeter();
  const patience = createPatience(parts.operationMs, gone);
  const client = createOperationClient(parts.client, upstream, patience, trace, parts);
  const { credential, tenant, sharing, payer, scopes, expiresAt } = caller;
  const { freshness, prices, stores, inOrder, proofs, subscribed } = parts;
  const shared = { client, credential, meter: upstream, patience, sharing };
  return {
    upstream,
    chains: parts.chains,
    trace,
    payer,
    scopes,
    expiresAt,
    answer: new Answer(parts.answers, gone),
    /** Who has the same sees the same. */
    rights: () => JSON.stringify([tenant, sharing, [...scopes].sort()]),
    /** What the next event of the same caller's subscription has: each is an operation of its own. */
    forEvent: (): EventContext => contextOf(parts, caller, trace, null),
    /** As `proveKey` of webhooks, but by an operation of its own: nobody waits for it once the signal aborts. */
    proveKey: (signal: AbortSignal): Promise<void> =>
      contextOf(parts, caller, trace, signal).webhooks.proveKey(),
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
      prices,
    }),
    webhooks: createWebhooks({ client, credential, sharing, patience, inOrder, proofs, subscribed }),
    deliveries: createTenantDeliveries({
      ...parts,
      publicUrl: parts.publicUrl(),
      tenant,
      maxPageBytes: parts.answers.maxBytes / 3,
      client: payer,
      gone,
    }),
  };
};
