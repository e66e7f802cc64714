import { ACTIVITY_TYPES, ASSET_TYPES, type Chain, type Hex } from '../types.ts';
import {
  address,
  type Body,
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
import {
  type Filters,
  NO_FILTERS,
  type Settings,
  SIDES,
  WEBHOOK_TYPES,
  type WebhookType,
} from './webhook.ts';

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

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/**
 * The requested page size. Default: 100. Above 1,000 it is reduced, 0 is raised to 1, and anything but a number is a
 * 400.
 */
export const readLimit = (query: URLSearchParams): number => {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  if (!/^\d+$/.test(text))
    throw new HttpError(400, 'Failed to deserialize query string: limit: invalid digit found in string');
  return Math.min(Math.max(Number(text), 1), MAX_LIMIT);
};

/** An opaque offset: the list that it belongs to, and the number of the last item of the page. */
export const writeOffset = (list: string, sequence: number): string =>
  Buffer.from(`${list}/${sequence}`).toString('base64url');

/** The number in an offset. An offset that is made up or of another list has no effect: it is 0, the start. */
export const readOffset = (query: URLSearchParams, list: string): number => {
  const [name, sequence, ...rest] = Buffer.from(query.get('offset') ?? '', 'base64url')
    .toString()
    .split('/');
  if (name !== list || sequence === undefined || rest.length > 0 || !/^\d{1,15}$/.test(sequence)) return 0;
  return Number(sequence);
};

/**
 * The page of what was found. The caller finds one item more than the page holds, which shows whether another page
 * follows.
 */
export const withNext = <T>(
  found: readonly T[],
  limit: number,
  offset: (last: T) => string,
): { page: readonly T[]; next_offset?: string } => {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return found.length > limit && last !== undefined ? { page, next_offset: offset(last) } : { page };
};
