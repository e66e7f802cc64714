import type { Credential } from '../upstream/credential.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { UpstreamRequest } from '../upstream/exchange.ts';
import {
  isObject,
  MalformedFieldError,
  malformed,
  optional,
  type RawObject,
  readAddress,
  readBoolean,
  readChainId,
  readList,
  readString,
  readTime,
} from '../upstream/fields.ts';

const PATH = '/beta/evm/subscriptions/webhooks';

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

/** What to change: a property that is undefined or absent is left as it is, null is sent as null. */
export type WebhookChanges = {
  readonly name?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly active?: boolean | null | undefined;
  readonly chainIds?: readonly number[] | null | undefined;
  readonly transactionType?: TransactionSide | null | undefined;
  readonly counterparty?: string | null | undefined;
  readonly activityType?: ActivityType | null | undefined;
  readonly assetType?: AssetType | null | undefined;
  readonly tokenAddress?: string | null | undefined;
};

/** Removals are applied first, then additions; tri-state as in WebhookChanges. */
export type AddressChanges = {
  readonly addAddresses?: readonly string[] | null | undefined;
  readonly removeAddresses?: readonly string[] | null | undefined;
};

/** Management is not billed. */
const COST = 0;

export const getWebhook = (webhookId: string, credential: Credential): UpstreamRequest => ({
  method: 'GET',
  path: `${PATH}/${webhookId}`,
  credential,
  cost: COST,
});

export const patchWebhook = (
  webhookId: string,
  changes: WebhookChanges,
  credential: Credential,
): UpstreamRequest => ({
  method: 'PATCH',
  path: `${PATH}/${webhookId}`,
  body: {
    name: changes.name,
    url: changes.url,
    active: changes.active,
    chain_ids: changes.chainIds,
    transaction_type: lower(changes.transactionType),
    counterparty: changes.counterparty,
    activity_type: lower(changes.activityType),
    asset_type: lower(changes.assetType),
    token_address: changes.tokenAddress,
  },
  credential,
  cost: COST,
  changes: webhookId,
});

export const patchAddresses = (
  webhookId: string,
  { addAddresses, removeAddresses }: AddressChanges,
  credential: Credential,
): UpstreamRequest => ({
  method: 'PATCH',
  path: `${PATH}/${webhookId}/addresses`,
  body: { remove_addresses: removeAddresses, add_addresses: addAddresses },
  credential,
  cost: COST,
  changes: webhookId,
});

/** Throws UpstreamError `invalidResponse`. Unset filters may be absent or null; an unknown enum value reads as null. */
export const readWebhook = (body: unknown): Webhook => {
  try {
    if (!isObject(body)) throw malformed('body', 'an object', body);
    return {
      webhookId: readString(body, 'id').toLowerCase(),
      teamId: optional(readString)(body, 'team_id'),
      name: optional(readString)(body, 'name'),
      type: oneOf(['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'], body.type),
      url: optional(readString)(body, 'url'),
      active: readBoolean(body, 'active'),
      createdAt: optional(readTime)(body, 'created_at'),
      updatedAt: optional(readTime)(body, 'updated_at'),
      chainIds: optional(readChainIds)(body, 'chain_ids'),
      transactionType: oneOf(['SENDER', 'RECEIVER'], body.transaction_type),
      counterparty: optional(readAddress)(body, 'counterparty'),
      activityType: oneOf(ACTIVITY_TYPES, body.activity_type),
      assetType: oneOf(ASSET_TYPES, body.asset_type),
      tokenAddress: optional(readAddress)(body, 'token_address'),
    };
  } catch (cause) {
    if (!(cause instanceof MalformedFieldError)) throw cause;
    throw new UpstreamError('invalidResponse', `The service's webhook does not read. ${cause.message}.`, {
      cause,
    });
  }
};

const ACTIVITY_TYPES = ['APPROVE', 'MINT', 'BURN', 'RECEIVE', 'SEND', 'SWAP', 'CALL'] as const;
const ASSET_TYPES = ['NATIVE', 'ERC20', 'ERC721', 'ERC1155'] as const;

const readChainIds = (raw: RawObject, field: string): readonly number[] =>
  readList(raw, field).map((id) => readChainId({ [field]: id }, field));

const oneOf = <Value extends string>(values: readonly Value[], raw: unknown): Value | null => {
  const name = typeof raw === 'string' ? raw.toUpperCase() : null;
  return values.find((value) => value === name) ?? null;
};

const lower = (value: string | null | undefined): string | null | undefined => value?.toLowerCase() ?? value;
