import type { UpstreamRequest } from '../upstream/client/request.ts';
import type { ActivityType, AssetType, TransactionSide, WebhookType } from './rest.ts';

/** One of the service's operations on webhooks. */
export type Operation = Omit<UpstreamRequest, 'resource' | 'cost'> & {
  /** What it does, to follow "the service has no operation to …". */
  readonly purpose: string;
  /** Null for the operations on all webhooks. */
  readonly webhookId: string | null;
  /** Whether the contract promises it: the others are known of deployments only. */
  readonly guaranteed: boolean;
};

/** A filter that is undefined or absent is not sent, null is sent as null. */
export type WebhookFilters = {
  readonly chainIds?: readonly number[] | null | undefined;
  readonly transactionType?: TransactionSide | null | undefined;
  readonly counterparty?: string | null | undefined;
  readonly activityType?: ActivityType | null | undefined;
  readonly assetType?: AssetType | null | undefined;
  readonly tokenAddress?: string | null | undefined;
};

export type NewWebhook = WebhookFilters & {
  readonly name: string;
  readonly type: WebhookType;
  readonly url: string;
  readonly addresses: readonly string[];
};

/** What to change: a property that is undefined or absent is left as it is, null is sent as null. */
export type WebhookChanges = WebhookFilters & {
  readonly name?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly active?: boolean | null | undefined;
};

/** Removals are applied first, then additions; tri-state as in WebhookChanges. */
export type AddressChanges = {
  readonly addAddresses?: readonly string[] | null | undefined;
  readonly removeAddresses?: readonly string[] | null | undefined;
};

const PATH = '/beta/evm/subscriptions/webhooks';

/** The service's own default: no deployment says how many more it would give. */
export const PAGE_SIZE = 100;

export const listWebhooks = (offset: string | null, limit: number = PAGE_SIZE): Operation => ({
  purpose: 'list webhooks',
  webhookId: null,
  guaranteed: false,
  method: 'GET',
  path: PATH,
  query: pageQuery(offset, limit),
});

export const createWebhook = ({ type, name, url, addresses, ...filters }: NewWebhook): Operation => ({
  purpose: 'create a webhook',
  webhookId: null,
  guaranteed: false,
  method: 'POST',
  path: PATH,
  body: { name, url, type: type.toLowerCase(), addresses, ...filterFields(filters) },
});

export const getWebhook = (webhookId: string): Operation => ({
  purpose: 'get a webhook',
  webhookId,
  guaranteed: false,
  method: 'GET',
  path: `${PATH}/${webhookId}`,
});

export const updateWebhook = (
  webhookId: string,
  { name, url, active, ...filters }: WebhookChanges,
): Operation => ({
  purpose: 'update a webhook',
  webhookId,
  guaranteed: true,
  method: 'PATCH',
  path: `${PATH}/${webhookId}`,
  body: { name, url, active, ...filterFields(filters) },
});

export const deleteWebhook = (webhookId: string): Operation => ({
  purpose: 'delete a webhook',
  webhookId,
  guaranteed: false,
  method: 'DELETE',
  path: `${PATH}/${webhookId}`,
  ignoresBody: true,
});

export const listAddresses = (
  webhookId: string,
  offset: string | null,
  limit: number = PAGE_SIZE,
): Operation => ({
  purpose: "list a webhook's addresses",
  webhookId,
  guaranteed: false,
  method: 'GET',
  path: `${PATH}/${webhookId}/addresses`,
  query: pageQuery(offset, limit),
});

export const replaceAddresses = (webhookId: string, addresses: readonly string[]): Operation => ({
  purpose: "replace a webhook's addresses",
  webhookId,
  guaranteed: false,
  method: 'PUT',
  path: `${PATH}/${webhookId}/addresses`,
  ignoresBody: true,
  body: { addresses },
});

export const updateAddresses = (
  webhookId: string,
  { addAddresses, removeAddresses }: AddressChanges,
): Operation => ({
  purpose: "update a webhook's addresses",
  webhookId,
  guaranteed: true,
  method: 'PATCH',
  path: `${PATH}/${webhookId}/addresses`,
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
