import type { Route } from '../http/route.ts';
import type { Block, ChainReader, Hex } from '../types.ts';
import { createRoutes } from './api/routes.ts';
import { deliveriesOf } from './sending/block-deliveries.ts';
import type { Log } from './sending/dispatcher.ts';
import { createDispatcher } from './sending/dispatcher.ts';
import { createPost } from './sending/sender.ts';
import { createStore, type Store } from './store.ts';
import { NO_FILTERS, type WebhookType } from './webhook.ts';

/** The webhooks that are there from the first block, one of each type; ids are the same at every start. */
export const DEMO_WEBHOOKS = [
  { id: '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41', type: 'transactions', name: 'Demo: transactions' },
  { id: '019a7b1c-5c01-7e2f-9b41-7c2a1d3f0e52', type: 'activities', name: 'Demo: activities' },
  { id: '019a7b1c-5c02-7f30-ac52-8d3b2e401f63', type: 'balances', name: 'Demo: balance changes' },
] as const satisfies readonly { id: string; type: WebhookType; name: string }[];

export type WebhooksOptions = {
  readonly simulator: ChainReader;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The wallets that the demo webhooks are subscribed to; none unless given. */
  readonly demoAddresses?: readonly Hex[];
  /** The pause before the first of five retries, doubled for each further one. 1,000 unless given. */
  readonly retryBaseMs?: number;
  /** How long a url may take to answer. 10,000 unless given. */
  readonly deliveryTimeoutMs?: number;
  /** Signs deliveries with an HMAC-SHA256 of their raw body; unsigned unless given. */
  readonly signatureSecret?: string;
  readonly log?: Log;
};

/** The webhook side of the service. */
export type Webhooks = {
  /** Answers what is asked under /beta/evm/subscriptions/webhooks. */
  readonly route: Route;
  /** Tells the block's events to every active webhook that wants them; returns before they are delivered. */
  handleBlock(block: Block): void;
  /** Points the demo webhooks, as far as they still exist, at a url: the same, or one for each id. */
  connectDemo(url: string | ((webhookId: string) => string)): void;
  /** Resolves once nothing is pending: every delivery was taken, abandoned or dropped. */
  settled(): Promise<void>;
  /** Ends pending retries and posts in flight; resolves when none is left. */
  stop(): Promise<void>;
};

/** Starts with the demo webhooks; all state is in memory. */
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

  const post = createPost({ now, timeoutMs: deliveryTimeoutMs, signatureSecret: options.signatureSecret });
  const dispatcher = createDispatcher({
    post,
    urlOf: (webhookId) => store.find(webhookId)?.webhook.url ?? null,
    retryBaseMs,
    log,
  });

  return {
    route: createRoutes({ store, chains: simulator.chains, silenced: dispatcher.cancel }),
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

/** They are active, but deliver nothing until they get a url. */
const createDemoWebhooks = (store: Store, addresses: readonly Hex[]): void => {
  for (const { id, type, name } of DEMO_WEBHOOKS)
    store.create({ type, addresses, settings: { name, url: null, active: true, ...NO_FILTERS } }, id);
};
