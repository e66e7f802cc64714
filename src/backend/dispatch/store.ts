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

/** What a delivery waits for before it is sent in its turn. */
export type Held =
  /** Nothing. */
  | 'no'
  /** Its time: it alone was refused. */
  | 'until due'
  /** Its time, or that the url accepts another one. */
  | 'until accepted';

/** A delivery that its webhook's url has not accepted yet. */
export type PendingDelivery = Delivery & {
  /** Never reused. Those of a webhook are in the order in which they were added. */
  readonly id: number;
  /** The number of failed attempts of its schedule. */
  readonly retry: number;
  /** When its next attempt is due by its schedule, in milliseconds since 1970. */
  readonly due: number;
};

/** The outcome of an attempt: how the delivery waits for the next one, or null when it is finished. */
export type Outcome = {
  readonly delivery: PendingDelivery;
  readonly next: { readonly retry: number; readonly due: number; readonly held: Held } | null;
};

/** The deliveries that are pending. Times are in milliseconds since 1970. */
export type DeliveryQueue = {
  /** Adds a delivery, whose first attempt is due. */
  add(delivery: Delivery, due: number): void;
  count(webhookId: string): number;
  /** How many deliveries are pending, of all webhooks, and since when the oldest is; null without any. */
  pending(): { readonly count: number; readonly oldestAt: number | null };
  /** The webhooks that have pending deliveries. */
  webhookIds(): readonly string[];
  /**
   * The first delivery of a webhook that is not held, or whose time has come, which is then no longer held. `time` never
   * decreases.
   */
  next(webhookId: string, time: number): PendingDelivery | null;
  /** When the first held delivery of a webhook is due; null if none is held. */
  heldUntil(webhookId: string): number | null;
  /** Outcomes of deliveries that are no longer pending have no effect. */
  record(outcomes: readonly Outcome[]): void;
  /** Releases the deliveries of a webhook that are held until its url accepts another one. */
  release(webhookId: string): void;
  /** Drops those of a webhook that were due at a time or before. Returns how many these were. */
  dropDue(webhookId: string, time: number): number;
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
