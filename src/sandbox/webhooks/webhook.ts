import type { Hex } from '../types.ts';

export const WEBHOOK_TYPES = ['transactions', 'activities', 'balances'] as const;
export const SIDES = ['sender', 'receiver'] as const;
export const ACTIVITY_TYPES = ['approve', 'mint', 'burn', 'receive', 'send', 'swap', 'call'] as const;
export const ASSET_TYPES = ['native', 'erc20', 'erc721', 'erc1155'] as const;

export type WebhookType = (typeof WEBHOOK_TYPES)[number];
/** Which side of a transaction the subscribed address is on. */
export type Side = (typeof SIDES)[number];
export type ActivityType = (typeof ACTIVITY_TYPES)[number];
export type AssetType = (typeof ASSET_TYPES)[number];

/** What narrows a webhook's events; null everywhere means every event of its type. */
export type Filters = {
  /** An empty list names no chain, so it lets nothing through; null lets all supported chains through. */
  readonly chain_ids: readonly number[] | null;
  readonly transaction_type: Side | null;
  readonly counterparty: Hex | null;
  readonly activity_type: ActivityType | null;
  readonly asset_type: AssetType | null;
  readonly token_address: Hex | null;
};

export type Settings = Filters & {
  readonly name: string | null;
  /** Null: nothing is delivered. */
  readonly url: string | null;
  readonly active: boolean;
};

/** A webhook as it is kept, under the wire's own field names; each change makes a new one. */
export type Webhook = Settings & {
  /** UUIDv7. */
  readonly id: string;
  /** ULID. */
  readonly team_id: string;
  readonly type: WebhookType;
  /** Microseconds since 1970. */
  readonly created_at: number;
  /** Microseconds since 1970; later than before after every accepted change. */
  readonly updated_at: number;
};

export const NO_FILTERS: Filters = {
  chain_ids: null,
  transaction_type: null,
  counterparty: null,
  activity_type: null,
  asset_type: null,
  token_address: null,
};

const NEVER_LEFT_OUT = new Set(['name', 'url']);

/** `2025-11-13T04:42:10.123456Z` from microseconds since 1970. */
const timestamp = (microseconds: number): string => {
  const milliseconds = Math.floor(microseconds / 1000);
  const rest = String(microseconds % 1000).padStart(3, '0');
  return new Date(milliseconds).toISOString().replace('Z', `${rest}Z`);
};

/** The webhook as clients see it: unset filters are left out, the address list has an operation of its own. */
export const resource = (webhook: Webhook): Readonly<Record<string, unknown>> => {
  const shown = {
    ...webhook,
    created_at: timestamp(webhook.created_at),
    updated_at: timestamp(webhook.updated_at),
  };
  return Object.fromEntries(
    Object.entries(shown).filter(([field, value]) => value !== null || NEVER_LEFT_OUT.has(field)),
  );
};
