import { isObject, type RawObject } from '../lib/json/exact-json.ts';
import { UpstreamError } from '../upstream/client/errors.ts';
import type { UpstreamRequest } from '../upstream/client/request.ts';
import type { Page } from '../upstream/page.ts';
import {
  ACTIVITY_TYPES,
  type ActivityType,
  ASSET_TYPES,
  type AssetType,
  MalformedFieldError,
  malformed,
  oneOf,
  optional,
  type Reader,
  readAddress,
  readBoolean,
  readChainId,
  readList,
  readString,
  readTime,
  readUuid,
  TRANSACTION_SIDES,
  type TransactionSide,
  WEBHOOK_TYPES,
  type WebhookType,
} from '../upstream/parse/fields.ts';
import type { ItemReader } from '../upstream/parse/items.ts';
import { UNORDERED } from '../upstream/parse/list-order.ts';
import { parsePage } from '../upstream/parse/page-parser.ts';

/** Upstream's default page size. No deployment documents a larger one. */
const PAGE_SIZE = 100;

const PATH = ['beta', 'evm', 'subscriptions', 'webhooks'];

/** A webhook as clients see it. */
export type Webhook = {
  readonly webhookId: string;
  readonly teamId: string | null;
  readonly name: string | null;
  readonly type: WebhookType | null;
  readonly url: string | null;
  readonly active: boolean;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly chainIds: readonly number[] | null;
  readonly transactionType: TransactionSide | null;
  readonly counterparty: string | null;
  readonly activityType: ActivityType | null;
  readonly assetType: AssetType | null;
  readonly tokenAddress: string | null;
  /** The filters whose values this gateway does not know. They are null above, but still limit what is delivered. */
  readonly unknownFilters: readonly EnumFilter[];
  /** How the service finds its events where it has to ask for them; null where it does not say that it has to. */
  readonly polling: Polling | null;
};

/** How a service finds the events of chains on which it does not follow each block. */
export type Polling = {
  readonly chainIds: readonly number[];
  /** From one request for an address to the next, at the present number of addresses. */
  readonly everySeconds: number;
  /** What that takes of an explorer's credits for each address; null where nobody counts any. */
  readonly creditsPerDay: number | null;
  /** The blocks on top of a block before its events are delivered. */
  readonly confirmations: number;
};

const ENUM_FILTERS = {
  transactionType: 'transaction_type',
  activityType: 'activity_type',
  assetType: 'asset_type',
} as const;

type EnumFilter = keyof typeof ENUM_FILTERS;

const FILTERS = ['transactionType', 'counterparty', 'activityType', 'assetType', 'tokenAddress'] as const;

/** The filters other than chains by which a webhook delivers only some events of its addresses. */
export const filtersOf = (webhook: Webhook): readonly (typeof FILTERS)[number][] =>
  FILTERS.filter(
    (name) => webhook[name] !== null || webhook.unknownFilters.some((unknown) => unknown === name),
  );

/** One of the addresses that a webhook is subscribed to. */
export type Subscribed = { readonly address: string };

/** The filters of a request. An undefined or absent filter is not sent; null is sent as null. */
type WebhookFilters = {
  readonly [Name in
    | 'chainIds'
    | 'transactionType'
    | 'counterparty'
    | 'activityType'
    | 'assetType'
    | 'tokenAddress']?: Webhook[Name] | undefined;
};

export type NewWebhook = WebhookFilters & {
  readonly name: string;
  readonly type: WebhookType;
  readonly url: string;
  readonly addresses: readonly string[];
};

/** The changes to a webhook. An undefined or absent property stays as it is; null is sent as null. */
export type WebhookChanges = WebhookFilters & {
  readonly name?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly active?: boolean | null | undefined;
};

/** Upstream applies the removals first, then the additions. Undefined, absent and null work as in WebhookChanges. */
export type AddressChanges = {
  readonly addAddresses?: readonly string[] | null | undefined;
  readonly removeAddresses?: readonly string[] | null | undefined;
};

/** A request for one of upstream's operations on webhooks. */
export type Operation = Omit<UpstreamRequest, 'resource' | 'cost'> & {
  /** Completes the sentence "the service has no operation to …". */
  readonly purpose: string;
  /** Null for the operations on all webhooks. */
  readonly webhookId: string | null;
  /** Whether the contract specifies the operation. The others are only known from deployments. */
  readonly guaranteed: boolean;
};

const onAll = (purpose: string): Pick<Operation, 'purpose' | 'webhookId' | 'guaranteed' | 'path'> => ({
  purpose,
  webhookId: null,
  guaranteed: false,
  path: PATH,
});

const onOne = (purpose: string, webhookId: string, ...path: readonly string[]) => ({
  purpose,
  webhookId,
  guaranteed: false,
  path: [...PATH, webhookId, ...path],
});

export const listWebhooks = (offset: string | null, limit: number = PAGE_SIZE): Operation => ({
  ...onAll('list webhooks'),
  method: 'GET',
  query: pageQuery(offset, limit),
});

export const createWebhook = ({ type, name, url, addresses, ...filters }: NewWebhook): Operation => ({
  ...onAll('create a webhook'),
  method: 'POST',
  body: { name, url, type: type.toLowerCase(), addresses, ...filterFields(filters) },
});

export const getWebhook = (webhookId: string): Operation => ({
  ...onOne('get a webhook', webhookId),
  method: 'GET',
});

export const updateWebhook = (
  webhookId: string,
  { name, url, active, ...filters }: WebhookChanges,
): Operation => ({
  ...onOne('update a webhook', webhookId),
  guaranteed: true,
  method: 'PATCH',
  body: { name, url, active, ...filterFields(filters) },
});

export const deleteWebhook = (webhookId: string): Operation => ({
  ...onOne('delete a webhook', webhookId),
  method: 'DELETE',
  ignoresBody: true,
});

/** Makes upstream post an event that did not happen to the webhook's url. No public deployment is known to have it. */
export const sendTestEvent = (webhookId: string): Operation => ({
  ...onOne('send a test event', webhookId, 'test'),
  method: 'POST',
  ignoresBody: true,
});

/** No public deployment is known to have this operation, or the next one. */
export const listAttempts = (webhookId: string): Operation => ({
  ...onOne("list a webhook's attempts to deliver", webhookId, 'attempts'),
  method: 'GET',
});

/** `deliveryIds` null: all that failed. */
export const resendDeliveries = (webhookId: string, deliveryIds: readonly string[] | null): Operation => ({
  ...onOne('send deliveries again', webhookId, 'resend'),
  method: 'POST',
  body: { delivery_ids: deliveryIds },
});

export const listAddresses = (
  webhookId: string,
  offset: string | null,
  limit: number = PAGE_SIZE,
): Operation => ({
  ...onOne("list a webhook's addresses", webhookId, 'addresses'),
  method: 'GET',
  query: pageQuery(offset, limit),
});

export const replaceAddresses = (webhookId: string, addresses: readonly string[]): Operation => ({
  ...onOne("replace a webhook's addresses", webhookId, 'addresses'),
  method: 'PUT',
  ignoresBody: true,
  body: { addresses },
});

export const updateAddresses = (
  webhookId: string,
  { addAddresses, removeAddresses }: AddressChanges,
): Operation => ({
  ...onOne("update a webhook's addresses", webhookId, 'addresses'),
  guaranteed: true,
  method: 'PATCH',
  ignoresBody: true,
  body: { remove_addresses: removeAddresses, add_addresses: addAddresses },
});

const pageQuery = (offset: string | null, limit: number): URLSearchParams =>
  new URLSearchParams({ limit: String(limit), ...(offset !== null && { offset }) });

const filterFields = (filters: WebhookFilters) => ({
  chain_ids: filters.chainIds,
  transaction_type: lower(filters.transactionType),
  counterparty: filters.counterparty,
  activity_type: lower(filters.activityType),
  asset_type: lower(filters.assetType),
  token_address: filters.tokenAddress,
});

const lower = (value: string | null | undefined): string | null | undefined => value?.toLowerCase() ?? value;

/**
 * Parses a webhook. Unset filters may be absent or null; an unknown enum value becomes null. Throws UpstreamError
 * `invalidResponse` if the body is not a webhook.
 */
export const readWebhook = (body: unknown): Webhook => {
  try {
    if (!isObject(body)) throw malformed('body', 'an object', body);
    return readFields(body);
  } catch (cause) {
    if (!(cause instanceof MalformedFieldError)) throw cause;
    const message = `The service's webhook could not be parsed. ${cause.message}.`;
    throw new UpstreamError('invalidResponse', message, { cause });
  }
};

/** Parses one page of the webhooks. Rejects with UpstreamError `invalidResponse` if the body is not such a page. */
export const readWebhooksPage = (body: unknown, fetchedAt: number): Promise<Page<Webhook>> =>
  parsePage(body, WEBHOOKS, { subject: '', limit: PAGE_SIZE, fetchedAt });

/** Parses one page of a webhook's addresses. Rejects with UpstreamError `invalidResponse` if the body is not such a page. */
export const readAddressesPage = (body: unknown, fetchedAt: number): Promise<Page<Subscribed>> =>
  parsePage(
    isObject(body) && Array.isArray(body.addresses)
      ? { ...body, addresses: body.addresses.map((address: unknown) => ({ address })) }
      : body,
    ADDRESSES,
    { subject: '', limit: PAGE_SIZE, fetchedAt },
  );

const readFields = (raw: RawObject): Webhook => {
  const enumFilters = {
    transactionType: oneOf(TRANSACTION_SIDES, raw.transaction_type),
    activityType: oneOf(ACTIVITY_TYPES, raw.activity_type),
    assetType: oneOf(ASSET_TYPES, raw.asset_type),
  };
  const isUnknown = (name: EnumFilter) =>
    enumFilters[name] === null && (raw[ENUM_FILTERS[name]] ?? '') !== '';
  return {
    ...enumFilters,
    unknownFilters: (['transactionType', 'activityType', 'assetType'] as const).filter(isUnknown),
    webhookId: readUuid(raw.id, 'id'),
    teamId: optional(readString)(raw.team_id, 'team_id'),
    name: optional(readString)(raw.name, 'name'),
    type: oneOf(WEBHOOK_TYPES, raw.type),
    url: optional(readString)(raw.url, 'url'),
    active: readBoolean(raw.active, 'active'),
    createdAt: optional(readTime)(raw.created_at, 'created_at'),
    updatedAt: optional(readTime)(raw.updated_at, 'updated_at'),
    chainIds: optional(readChainIds)(raw.chain_ids, 'chain_ids'),
    counterparty: optional(readAddress)(raw.counterparty, 'counterparty'),
    tokenAddress: optional(readAddress)(raw.token_address, 'token_address'),
    polling: readPolling(raw.polling),
  };
};

/** Only services of this project say it: what is not as theirs is not said. */
const readPolling = (raw: unknown): Polling | null => {
  if (!isObject(raw) || !Array.isArray(raw.chain_ids)) return null;
  const everySeconds = readCount(raw.every_seconds);
  const confirmations = readCount(raw.confirmations);
  if (everySeconds === null || confirmations === null) return null;
  const chainIds = raw.chain_ids.flatMap((id) => (Number.isSafeInteger(id) && id > 0 ? [Number(id)] : []));
  return { chainIds, everySeconds, creditsPerDay: readCount(raw.credits_per_day), confirmations };
};

const MAX_INT = 2 ** 31 - 1;

const readCount = (raw: unknown): number | null =>
  typeof raw === 'number' && Number.isInteger(raw) && raw >= 0 ? Math.min(MAX_INT, raw) : null;

const readChainIds: Reader<readonly number[]> = (value, field) =>
  readList(value, field).map((id) => readChainId(id, field));

const WEBHOOKS: ItemReader<Webhook> = {
  itemsField: 'webhooks',
  read: readFields,
  identity: ['webhookId'],
  order: UNORDERED,
};

const ADDRESSES: ItemReader<Subscribed> = {
  itemsField: 'addresses',
  read: (raw) => ({ address: readAddress(raw.address, 'address') }),
  identity: ['address'],
  order: UNORDERED,
};
