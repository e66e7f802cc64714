import type { Chain } from '../../types.ts';
import type { Filters, WebhookType } from '../webhook.ts';
import { HttpError } from './http-error.ts';

const BELONGS_TO = {
  transaction_type: 'transactions',
  counterparty: 'transactions',
  activity_type: 'activities',
} as const satisfies Partial<Record<keyof Filters, WebhookType>>;

const FILTERS_OF_ONE_TYPE = ['transaction_type', 'counterparty', 'activity_type'] as const;

/** Refuses a filter that another type of webhook has. Null is no filter, so it may be sent for any type. */
export const checkFiltersFit = (type: WebhookType, filters: Partial<Filters>): void => {
  for (const filter of FILTERS_OF_ONE_TYPE) {
    const value = filters[filter] ?? null;
    if (value !== null && BELONGS_TO[filter] !== type)
      throw new HttpError(400, `Webhook type ${type} cannot have ${filter}`);
  }
};

/** Refuses chains that the service does not know, or knows without delivering their events. */
export const checkChains = (chains: readonly Chain[], filters: Partial<Filters>): void => {
  const supported = new Set(chains.filter((chain) => chain.webhooks).map((chain) => chain.id));
  const others = (filters.chain_ids ?? []).filter((id) => !supported.has(id));
  if (others.length > 0) throw new HttpError(400, `Chains not supported for webhooks: ${others.join(', ')}`);
};
