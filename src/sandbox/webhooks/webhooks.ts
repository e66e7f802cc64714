import type { ChainReader } from '../chain-data.ts';
import type { Route } from '../http/http.ts';
import type { Block, Hex } from '../types.ts';
import { deliveriesOf } from './block-deliveries.ts';
import type { Log } from './dispatcher.ts';
import { createDispatcher } from './dispatcher.ts';
import { createRoutes } from './routes.ts';
import { createSender } from './sender.ts';
import { createStore, type Store } from './store.ts';
import { NO_FILTERS, type WebhookType } from './webhook.ts';

/** The webhooks that exist from the first block, one of each type. Their ids are the same at every start. */
export const DEMO_WEBHOOKS = [
  { id: '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41', type: 'transactions', name: 'Demo: transactions' },
  { id: '019a7b1c-5c01-7e2f-9b41-7c2a1d3f0e52', type: 'activities', name: 'Demo: activities' },
  { id: '019a7b1c-5c02-7f30-ac52-8d3b2e401f63', type: 'balances', name: 'Demo: balance changes' },
] as const satisfies readonly { id: string; type: WebhookType; name: string }[];

export type WebhooksOptions = {
  readonly simulator: ChainReader;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The addresses that the demo webhooks are subscribed to. Default: none. */
  readonly demoAddresses?: readonly Hex[];
  /** Milliseconds before the first of five retries, doubled for each further retry. Default: 1,000. */
  readonly retryBaseMs?: number;
  /** Milliseconds that a url has to answer a delivery. Default: 10,000. */
  readonly deliveryTimeoutMs?: number;
  /** The secret that signs deliveries with an HMAC-SHA256 of their raw body. Default: deliveries are unsigned. */
  readonly signatureSecret?: string;
  readonly log?: Log;
};

/** The sandbox's webhooks: their management API and their deliveries. */
export type Webhooks = {
  /** The route of the management API under /beta/evm/subscriptions/webhooks. */
  readonly route: Route;
  /** Sends the block's events to every active webhook that they match. Returns before they are delivered. */
  handleBlock(block: Block): void;
  /** Points the demo webhooks that still exist at a url: the same for all, or one for each id. */
  connectDemo(url: string | ((webhookId: string) => string)): void;
  /** Resolves when no delivery is pending: each was accepted, abandoned or dropped. */
  settled(): Promise<void>;
  /** Cancels pending retries and requests in flight. Resolves when none is left. */
  stop(): Promise<void>;
};

/** Creates the webhooks of a sandbox, with the demo webhooks. All state is in memory. */
export const createWebhooks = (options: WebhooksOptions): Webhooks => {
  const {
    simulator,
    now,
    demoAddresses = [],
    retryBaseMs = 1000,
    deliveryTimeoutMs = 10_000,
    log = () => {},
  } = options;
  const store = createStore(now);
  createDemoWebhooks(store, demoAddresses);

  const sender = createSender({
    now,
    timeoutMs: deliveryTimeoutMs,
    signatureSecret: options.signatureSecret,
  });
  const dispatcher = createDispatcher({
    sender,
    urlOf: (webhookId) => store.find(webhookId)?.webhook.url ?? null,
    retryBaseMs,
    log,
  });

  return {
    route: createRoutes({ store, chains: simulator.chains, cancelDeliveries: dispatcher.cancel }),
    handleBlock(block) {
      if (!block.chain.webhooks) return;
      for (const delivery of deliveriesOf(block, simulator, store)) dispatcher.deliver(delivery);
    },
    connectDemo(url) {
      for (const { id } of DEMO_WEBHOOKS) store.update(id, { url: typeof url === 'string' ? url : url(id) });
    },
    settled: dispatcher.settled,
    stop: dispatcher.stop,
  };
};

/** Creates the demo webhooks. They are active, but deliver nothing until they get a url. */
const createDemoWebhooks = (store: Store, addresses: readonly Hex[]): void => {
  for (const { id, type, name } of DEMO_WEBHOOKS)
    store.create({ type, addresses, settings: { name, url: null, active: true, ...NO_FILTERS } }, id);
};
