import type { Hex } from '../types.ts';
import type { AddressChange, Change } from './requests.ts';
import type { Creation, Webhook, WebhookType } from './webhook.ts';

/** One webhook's events of one block. */
export type Delivery = {
  readonly webhookId: string;
  readonly type: WebhookType;
  readonly chainId: number;
  readonly blockNumber: number;
  /** Serialised once, so that every retry sends the same bytes. */
  readonly body: string;
};

/** A delivery that its webhook's url has not accepted yet. */
export type PendingDelivery = Delivery & {
  /** Never reused. */
  readonly id: number;
  /** The number of failed attempts. */
  readonly retry: number;
};

/** What became of an attempt. */
export type Outcome = {
  readonly delivery: PendingDelivery;
  /** When to try again, in milliseconds since 1970; null when the delivery is done with. */
  readonly retryAt: number | null;
};

/** The deliveries that are pending. Times are in milliseconds since 1970. */
export type DeliveryQueue = {
  add(delivery: Delivery, due: number): void;
  count(webhookId: string): number;
  /** Of all webhooks: how many are pending, and since when the one that was added first is; null without any. */
  pending(): { readonly count: number; readonly oldestAt: number | null };
  /** The webhooks that have pending deliveries. */
  webhookIds(): readonly string[];
  /** At most `limit` deliveries of a webhook that are due at a time, those that were due first. */
  due(webhookId: string, time: number, limit: number): readonly PendingDelivery[];
  /** When the first delivery of a webhook is due after a time; null when none is. */
  nextAfter(webhookId: string, time: number): number | null;
  /** Outcomes of deliveries that are not pending any more have no effect. */
  record(outcomes: readonly Outcome[]): void;
  /** Drops the deliveries of a chain's blocks from this number on. */
  dropBlocks(chainId: number, fromNumber: number): void;
};

/** An item with its position in a list. Positions are never reused, so a walk survives additions and removals. */
export type Listed<T> = { readonly position: number; readonly item: T };

/**
 * All webhooks, the addresses that each is subscribed to, and the pending deliveries. Everything is synchronous. Changes
 * under an unknown id have no effect. A webhook that is paused or deleted, or that loses its url, loses its pending
 * deliveries.
 */
export type Store = {
  /** A webhook is one object until it changes. */
  find(id: string): Webhook | null;
  /** At most `limit` webhooks after a position; 0 starts at the first. */
  page(after: number, limit: number): readonly Listed<Webhook>[];
  /** Creates a webhook. Default: under a new id. */
  create(creation: Creation, id?: string): Webhook;
  update(id: string, change: Change): void;
  remove(id: string): void;
  /** At most `limit` addresses of a webhook after a position, each once, in the order in which they were added. */
  addresses(id: string, after: number, limit: number): readonly Listed<Hex>[];
  /** Applies the removals first, then the additions. An address that is there already keeps its position. */
  changeAddresses(id: string, change: AddressChange): void;
  replaceAddresses(id: string, addresses: readonly Hex[]): void;
  /** The webhooks that are subscribed to an address. */
  subscribers(address: Hex): Iterable<Webhook>;
  readonly deliveries: DeliveryQueue;
};
