import { createCollectiblesLoader } from './collectibles/loader.ts';
import type { Collectible } from './collectibles/rest.ts';
import type { DeliveryAddresses } from './deliveries/address.ts';
import type { DeliveryLog } from './deliveries/log.ts';
import { createTenantDeliveries } from './deliveries/tenant.ts';
import type { CursorsOf } from './graph/cursor.ts';
import { createTransactionsLoader } from './transactions/loader.ts';
import type { Transaction } from './transactions/rest.ts';
import type { UpstreamClient } from './upstream/client.ts';
import type { ChainPrices } from './upstream/cost.ts';
import type { Credential } from './upstream/credential.ts';
import { createInOrder, type InOrder } from './upstream/in-order.ts';
import type { Item } from './upstream/items.ts';
import type { Freshness } from './upstream/list-loader.ts';
import { createMeter } from './upstream/meter.ts';
import { createOperationClient } from './upstream/operation-client.ts';
import type { PageStore } from './upstream/pages.ts';
import { createPatience } from './upstream/patience.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

/** What all operations share. */
export type ContextParts = {
  readonly client: UpstreamClient;
  readonly stores: {
    readonly transactions: PageStore<Item<Transaction>>;
    readonly collectibles: PageStore<Item<Collectible>>;
  };
  readonly freshness: Freshness;
  /** Milliseconds that an operation waits for the service in all. */
  readonly operationMs: number;
  /** What one operation may cost at most, whatever it was estimated at. */
  readonly maxComputeUnits: number;
  readonly prices: ChainPrices;
  readonly log: DeliveryLog;
  readonly addresses: DeliveryAddresses;
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
  readonly scope: string;
  /** Whose budget it spends. */
  readonly payer: string;
};

export type Context = ReturnType<ReturnType<typeof createContext>>;

/** What one operation has: loaders that are born with it, and what it cost so far. `gone` aborts when nobody waits for it. */
export const createContext = (parts: ContextParts) => {
  const inOrder = createInOrder();
  return (caller: Caller, gone: AbortSignal | null) => contextOf(parts, inOrder, caller, gone);
};

const contextOf = (parts: ContextParts, inOrder: InOrder, caller: Caller, gone: AbortSignal | null) => {
  const upstream = createMeter();
  const patience = createPatience(parts.operationMs, gone);
  const client = createOperationClient(parts.client, upstream, patience, parts);
  const { credential, tenant, scope, payer } = caller;
  const { freshness, prices, stores } = parts;
  const shared = { client, credential, meter: upstream, patience, scope, freshness };
  return {
    upstream,
    payer,
    cursorsOf: parts.cursorsOf,
    transactions: createTransactionsLoader({ ...shared, store: stores.transactions }),
    collectibles: createCollectiblesLoader({ ...shared, store: stores.collectibles, prices }),
    webhooks: createWebhooks({ client, credential, scope, inOrder }),
    deliveries: createTenantDeliveries({ ...parts, publicUrl: parts.publicUrl(), tenant }),
  };
};
