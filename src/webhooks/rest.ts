import { isObject, type RawObject } from '../lib/json/raw-object.ts';
import type { Page } from '../upstream/cache/page-cache.ts';
import { UpstreamError } from '../upstream/client/errors.ts';
import {
  MalformedFieldError,
  malformed,
  optional,
  readAddress,
  readBoolean,
  readChainId,
  readList,
  readString,
  readTime,
} from '../upstream/parse/fields.ts';
import { type PageItem, parsePage } from '../upstream/parse/page-parser.ts';

export type WebhookType = 'TRANSACTIONS' | 'ACTIVITIES' | 'BALANCES';
export type ActivityType = 'APPROVE' | 'MINT' | 'BURN' | 'RECEIVE' | 'SEND' | 'SWAP' | 'CALL';
export type AssetType = 'NATIVE' | 'ERC20' | 'ERC721' | 'ERC1155';
export type TransactionSide = 'SENDER' | 'RECEIVER';

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
};

/** One of the addresses that a webhook is subscribed to. */
export type Subscribed = { readonly address: string };

/** Throws UpstreamError `invalidResponse`. Unset filters may be absent or null; an unknown enum value reads as null. */
export const readWebhook = (body: unknown): Webhook => {
  try {
    if (!isObject(body)) throw malformed('body', 'an object', body);
    return readFields(body);
  } catch (cause) {
    if (!(cause instanceof MalformedFieldError)) throw cause;
    throw new UpstreamError('invalidResponse', `The service's webhook does not read. ${cause.message}.`, {
      cause,
    });
  }
};

/** The only address of a whole list; null when there are none or several, or an item is malformed. */
export const soleAddressIn = (items: readonly PageItem<Subscribed>[]): string | null => {
  const addresses = items.map(({ value }) => (value instanceof MalformedFieldError ? null : value.address));
  return soleAddress(addresses.every((address) => address !== null) ? addresses : []);
};

/** The only address, however often it is listed; null for none or several. */
export const soleAddress = (addresses: readonly string[]): string | null => {
  const [address = null, ...others] = new Set(addresses);
  return others.length === 0 ? address : null;
};

/** Throws UpstreamError `invalidResponse` when the body is no list of webhooks. */
export const readWebhooksPage = (
  body: unknown,
  limit: number,
  fetchedAt: number,
): Promise<Page<PageItem<Webhook>>> =>
  parsePage(
    body,
    {
      entriesField: 'webhooks',
      maxEntries: limit,
      read: readFields,
      identity: ({ webhookId }) => webhookId,
      time: () => null,
    },
    fetchedAt,
  );

/** Throws UpstreamError `invalidResponse` when the body is no list of addresses. */
export const readAddressesPage = (
  body: unknown,
  limit: number,
  fetchedAt: number,
): Promise<Page<PageItem<Subscribed>>> =>
  parsePage(
    isObject(body) && Array.isArray(body.addresses)
      ? { ...body, addresses: body.addresses.map((address: unknown) => ({ address })) }
      : body,
    {
      entriesField: 'addresses',
      maxEntries: limit,
      read: (raw) => ({ address: readAddress(raw, 'address') }),
      identity: ({ address }) => address,
      time: () => null,
    },
    fetchedAt,
  );

const readFields = (raw: RawObject): Webhook => ({
  webhookId: readString(raw, 'id').toLowerCase(),
  teamId: optional(readString)(raw, 'team_id'),
  name: optional(readString)(raw, 'name'),
  type: oneOf(['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'], raw.type),
  url: optional(readString)(raw, 'url'),
  active: readBoolean(raw, 'active'),
  createdAt: optional(readTime)(raw, 'created_at'),
  updatedAt: optional(readTime)(raw, 'updated_at'),
  chainIds: optional(readChainIds)(raw, 'chain_ids'),
  transactionType: oneOf(['SENDER', 'RECEIVER'], raw.transaction_type),
  counterparty: optional(readAddress)(raw, 'counterparty'),
  activityType: oneOf(ACTIVITY_TYPES, raw.activity_type),
  assetType: oneOf(ASSET_TYPES, raw.asset_type),
  tokenAddress: optional(readAddress)(raw, 'token_address'),
});

const ACTIVITY_TYPES = ['APPROVE', 'MINT', 'BURN', 'RECEIVE', 'SEND', 'SWAP', 'CALL'] as const;
const ASSET_TYPES = ['NATIVE', 'ERC20', 'ERC721', 'ERC1155'] as const;

const readChainIds = (raw: RawObject, field: string): readonly number[] =>
  readList(raw, field).map((id) => readChainId({ [field]: id }, field));

const oneOf = <Value extends string>(values: readonly Value[], raw: unknown): Value | null => {
  const name = typeof raw === 'string' ? raw.toUpperCase() : null;
  return values.find((value) => value === name) ?? null;
};
