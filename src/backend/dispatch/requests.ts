import { ACTIVITY_TYPES, ASSET_TYPES, type Chain, type Hex } from '../types.ts';
import {
  type Creation,
  type Filters,
  NO_FILTERS,
  type Settings,
  SIDES,
  WEBHOOK_TYPES,
  type WebhookType,
} from './webhook.ts';

/** A refused request: the status, and the message that becomes the text/plain body. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

/** Parses the JSON value at a place in the body. Throws a 422 that names the place. */
export type Reader<T> = (value: unknown, place: string) => T;

type Body = Readonly<Record<string, unknown>>;

const undeserializable = (problem: string): HttpError =>
  new HttpError(422, `Failed to deserialize the JSON body into the target type: ${problem}`);

const described = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'sequence';
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`;
  if (typeof value === 'boolean') return `boolean \`${value}\``;
  if (typeof value === 'number')
    return `${Number.isInteger(value) ? 'integer' : 'floating point'} \`${value}\``;
  return 'map';
};

const wrongType = (value: unknown, place: string, expected: string): HttpError =>
  undeserializable(`${place}: invalid type: ${described(value)}, expected ${expected}`);

const wrongValue = (value: unknown, place: string, expected: string): HttpError =>
  undeserializable(`${place}: invalid value: ${described(value)}, expected ${expected}`);

/** Parses the body to a JSON object. Throws a 400 when it is not JSON, and a 422 when it is not an object. */
export const parseBody = (text: string): Body => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HttpError(
      400,
      `Failed to parse the request body as JSON: ${error instanceof Error ? error.message : ''}`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw undeserializable(`invalid type: ${described(value)}, expected a JSON object`);
  return { ...value };
};

/** A page of 1,000 webhooks is within what clients take of an answer, and a url within what servers take of a request. */
const MAX_CHARACTERS = 8_192;

const string: Reader<string> = (value, place) => {
  if (typeof value !== 'string') throw wrongType(value, place, 'a string');
  if (value.length > MAX_CHARACTERS)
    throw undeserializable(
      `${place}: invalid length: ${value.length} characters, expected at most ${MAX_CHARACTERS}`,
    );
  return value;
};

const boolean: Reader<boolean> = (value, place) => {
  if (typeof value !== 'boolean') throw wrongType(value, place, 'a boolean');
  return value;
};

const integer: Reader<number> = (value, place) => {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(value, place, 'i64');
  return value;
};

/** An http or https url, unchanged. */
const url: Reader<string> = (value, place) => {
  const text = string(value, place);
  const protocol = URL.parse(text)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw wrongValue(value, place, 'an absolute http or https URL');
  return text;
};

/** An EVM address in any case, with or without a checksum, converted to lower case. */
const address: Reader<Hex> = (value, place) => {
  const text = string(value, place);
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw wrongValue(value, place, 'an EVM address');
  return `0x${text.slice(2).toLowerCase()}`;
};

const oneOf =
  <T extends string>(variants: readonly T[]): Reader<T> =>
  (value, place) => {
    const text = string(value, place);
    const variant = variants.find((candidate) => candidate === text);
    if (variant !== undefined) return variant;
    const expected = variants.map((candidate) => `\`${candidate}\``).join(', ');
    throw undeserializable(`${place}: unknown variant \`${text}\`, expected one of ${expected}`);
  };

const listOf =
  <T>(item: Reader<T>): Reader<readonly T[]> =>
  (value, place) => {
    if (!Array.isArray(value)) throw wrongType(value, place, 'a sequence');
    return value.map((each, index) => item(each, `${place}[${index}]`));
  };

/** A list of different numbers. */
const integers: Reader<readonly number[]> = (value, place) => [...new Set(listOf(integer)(value, place))];

const nullable =
  <T>(reader: Reader<T>): Reader<T | null> =>
  (value, place) =>
    value === null ? null : reader(value, place);

/** Reads a required field. Throws a 422 when it is missing. */
const required = <T>(body: Body, field: string, reader: Reader<T>): T => {
  if (!Object.hasOwn(body, field)) throw undeserializable(`missing field \`${field}\``);
  return reader(body[field], field);
};

type Given<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] extends Reader<infer T> ? T : never };

/** Reads those of the fields that the body has. Other members of the body are ignored. */
const given = <Fields extends Readonly<Record<string, Reader<unknown>>>>(
  body: Body,
  fields: Fields,
): Given<Fields> => {
  const named = Object.entries(fields).filter(([field]) => Object.hasOwn(body, field));
  return Object.fromEntries(
    named.map(([field, reader]) => [field, reader(body[field], field)]),
  ) as Given<Fields>;
};

/** The settings that a request changes. An absent setting stays as it is. */
export type Change = Partial<Settings>;

const filters = {
  chain_ids: nullable(integers),
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

/** Reads which deliveries to send again; null for all that failed. */
export const readResend = (body: Body): readonly string[] | null =>
  given(body, { delivery_ids: nullable(listOf(string)) }).delivery_ids ?? null;

const BELONGS_TO = {
  transaction_type: 'transactions',
  counterparty: 'transactions',
  activity_type: 'activities',
} as const satisfies Partial<Record<keyof Filters, WebhookType>>;

const FILTERS_OF_ONE_TYPE = ['transaction_type', 'counterparty', 'activity_type'] as const;

/** Throws a 400 for a filter of another type of webhook. Null means no filter, so any type may have it. */
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
