import type { Hex } from '../types.ts';
import type { Store } from './store.ts';
import type { WebhookType } from './webhook.ts';
import { NO_FILTERS } from './webhook.ts';

/** The webhooks that are there from the first block, one of each type; ids are the same at every start. */
export const DEMO_WEBHOOKS = [
  { id: '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41', type: 'transactions', name: 'Demo: transactions' },
  { id: '019a7b1c-5c01-7e2f-9b41-7c2a1d3f0e52', type: 'activities', name: 'Demo: activities' },
  { id: '019a7b1c-5c02-7f30-ac52-8d3b2e401f63', type: 'balances', name: 'Demo: balance changes' },
] as const satisfies readonly { id: string; type: WebhookType; name: string }[];

/** They are active, but deliver nothing until they get a url. */
export const createDemoWebhooks = (store: Store, addresses: readonly Hex[]): void => {
  for (const { id, type, name } of DEMO_WEBHOOKS)
    store.create({ type, addresses, settings: { name, url: null, active: true, ...NO_FILTERS } }, id);
};
