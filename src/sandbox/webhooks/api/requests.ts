import type { Chain, Hex } from '../../types.ts';
import type { Filters, Settings, WebhookType } from '../webhook.ts';
import { ACTIVITY_TYPES, ASSET_TYPES, NO_FILTERS, SIDES, WEBHOOK_TYPES } from '../webhook.ts';
import type { Body } from './json-body.ts';
import {
  address,
  boolean,
  given,
  HttpError,
  integer,
  listOf,
  nullable,
  oneOf,
  required,
  string,
  url,
} from './json-body.ts';

/** The settings that a request changes. An absent setting stays as it is. */
export type Change = Partial<Settings>;

const filters = {
  chain_ids: nullable(listOf(integer)),
  transaction_type: nullable(oneOf(SIDES)),
  counterparty: nullable(address),
  activity_type: nullable(oneOf(ACTIVITY_TYPES)),
  asset_type: nullable(oneOf(ASSET_TYPES)),
  token_address: nullable(address),
};
const active = { active: nullable(boolean) };

/**
 * Reads an update. Null clears a filter. Null makes `name` and `url` null, and a webhook without a url delivers
 * nothing. `active` has no third state, so null leaves it unchanged.
 */
export const readUpdate = (body: Body): Change => {
  const settings = given(body, { name: nullable(string), url: nullable(url), ...filters });
  return { ...settings, ...readActive(body) };
};

const readActive = (body: Body): Change => {
  const said = given(body, active).active;
  return said === undefined || said === null ? {} : { active: said };
};

export type Creation = {
  readonly type: WebhookType;
  readonly settings: Settings;
  readonly addresses: readonly Hex[];
};

/** Reads a new webhook. Its name, url, type and addresses are required. Default: it is active. */
export const readCreation = (body: Body): Creation => ({
  type: required(body, 'type', oneOf(WEBHOOK_TYPES)),
  addresses: required(body, 'addresses', listOf(address)),
  settings: {
    name: required(body, 'name', string),
    url: required(body, 'url', url),
    active: true,
    ...NO_FILTERS,
    ...given(body, filters),
    ...readActive(body),
  },
});

export const readReplacement = (body: Body): readonly Hex[] => required(body, 'addresses', listOf(address));

export type AddressChange = { readonly remove: readonly Hex[]; readonly add: readonly Hex[] };

/** Reads a change of addresses. A list that is absent or null changes nothing. */
export const readAddressChange = (body: Body): AddressChange => {
  const list = nullable(listOf(address));
  const lists = given(body, { add_addresses: list, remove_addresses: list });
  return { remove: lists.remove_addresses ?? [], add: lists.add_addresses ?? [] };
};

const BELONGS_TO = {
  transaction_type: 'transactions',
  counterparty: 'transactions',
  activity_type: 'activities',
} as const satisfies Partial<Record<keyof Filters, WebhookType>>;

const FILTERS_OF_ONE_TYPE = ['transaction_type', 'counterparty', 'activity_type'] as const;

/** Throws a 400 for a filter of another type of webhook. Null is no filter, so any type may have it. */
export const checkFiltersFit = (type: WebhookType, filters: Partial<Filters>): void => {
  for (const filter of FILTERS_OF_ONE_TYPE) {
    const value = filters[filter] ?? null;
    if (value !== null && BELONGS_TO[filter] !== type)
      throw new HttpError(400, `Webhook type ${type} cannot have ${filter}`);
  }
};

/** Throws a 400 for chains that webhooks do not support. */
export const checkChains = (chains: readonly Chain[], filters: Partial<Filters>): void => {
  const supported = new Set(chains.filter((chain) => chain.webhooks).map((chain) => chain.id));
  const others = (filters.chain_ids ?? []).filter((id) => !supported.has(id));
  if (others.length > 0) throw new HttpError(400, `Chains not supported for webhooks: ${others.join(', ')}`);
};
