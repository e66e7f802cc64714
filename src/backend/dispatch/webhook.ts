import type { ActivityType, AssetType, Hex } from '../types.ts';

export const WEBHOOK_TYPES = ['transactions', 'activities', 'balances'] as const;
export const SIDES = ['sender', 'receiver'] as const;

export type WebhookType = (typeof WEBHOOK_TYPES)[number];
/** The side of a transaction that the subscribed address is on. */
export type Side = (typeof SIDES)[number];

/** The filters of a webhook's events. When all are null, every event of its type passes. */
export type Filters = {
  /** An empty list lets no event through; null lets all supported chains through. */
  readonly chain_ids: readonly number[] | null;
  readonly transaction_type: Side | null;
  readonly counterparty: Hex | null;
  readonly activity_type: ActivityType | null;
  readonly asset_type: AssetType | null;
  readonly token_address: Hex | null;
};

export type Settings = Filters & {
  readonly name: string | null;
  /** The destination of deliveries; null when the webhook delivers nothing. */
  readonly url: string | null;
  readonly active: boolean;
};

/** A stored webhook, under the field names of the API. Each change replaces it by a new object. */
export type Webhook = Settings & {
  /** UUIDv7. */
  readonly id: string;
  /** ULID. */
  readonly team_id: string;
  readonly type: WebhookType;
  /** Microseconds since 1970. */
  readonly created_at: number;
  /** Microseconds since 1970. Each accepted change increases it. */
  readonly updated_at: number;
};

/** What a new webhook is made from. */
export type Creation = {
  readonly type: WebhookType;
  readonly settings: Settings;
  readonly addresses: readonly Hex[];
};

export const NO_FILTERS: Filters = {
  chain_ids: null,
  transaction_type: null,
  counterparty: null,
  activity_type: null,
  asset_type: null,
  token_address: null,
};

/** The ULID of the one team that the service's key belongs to. */
const TEAM_ID = '01JZ4R2V8W7Q5N3M1K9H6F0D2B';

/** A new webhook. `now` is in milliseconds since 1970. */
export const newWebhook = (id: string, { type, settings }: Creation, now: number): Webhook => {
  const created_at = Math.floor(now * 1000);
  return { id, team_id: TEAM_ID, type, ...settings, created_at, updated_at: created_at };
};

/** The webhook after a change. Each has a later time than the one before, also after the clock was set back. */
export const changed = (webhook: Webhook, settings: Partial<Settings>, now: number): Webhook => ({
  ...webhook,
  ...settings,
  updated_at: Math.max(Math.floor(now * 1000), webhook.updated_at + 1),
});

/** Whether it delivers anything. */
export const delivers = ({ active, url }: Webhook): boolean => active && url !== null;

const NEVER_LEFT_OUT = new Set(['name', 'url']);

/** Formats microseconds since 1970 as `2025-11-13T04:42:10.123456Z`. */
const timestamp = (microseconds: number): string => {
  const milliseconds = Math.floor(microseconds / 1000);
  const rest = String(microseconds % 1000).padStart(3, '0');
  return new Date(milliseconds).toISOString().replace('Z', `${rest}Z`);
};

/**
 * The webhook as the API returns it: without unset filters, and without the addresses, which have operations of their
 * own.
 */
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
