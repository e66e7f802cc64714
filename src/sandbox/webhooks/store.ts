import type { Hex } from '../types.ts';
import type { AddressList } from './address-list.ts';
import { createAddressList } from './address-list.ts';
import type { AddressChange, Change, Creation } from './api/requests.ts';
import { uuidV7 } from './uuid.ts';
import type { Webhook } from './webhook.ts';

/** The ULID of the one team that the sandbox's key belongs to. */
const TEAM_ID = '01JZ4R2V8W7Q5N3M1K9H6F0D2B';

export type Subscription = {
  /** Its position in the list of webhooks, which is never reused. */
  readonly sequence: number;
  webhook: Webhook;
  readonly addresses: Pick<AddressList, 'page' | 'values'>;
};

/** All webhooks, and an index from each address to the webhooks subscribed to it. */
export type Store = {
  find(id: string): Subscription | null;
  /** At most `limit` webhooks created after the one with the number `after`; 0 starts at the first. */
  page(after: number, limit: number): readonly Subscription[];
  /** Creates a webhook. Default: under a new id. */
  create(creation: Creation, id?: string): Webhook;
  update(id: string, change: Change): void;
  remove(id: string): void;
  /** Applies the removals first, then the additions. */
  changeAddresses(id: string, change: AddressChange): void;
  replaceAddresses(id: string, addresses: readonly Hex[]): void;
  subscribers(address: Hex): Iterable<Webhook>;
};

type StoredSubscription = Subscription & { readonly addresses: AddressList };

/** Creates an empty store. `now` is in milliseconds since 1970. Changes under an unknown id have no effect. */
export const createStore = (now: () => number): Store => {
  const subscriptions = new Map<string, StoredSubscription>();
  const subscribersOf = new Map<Hex, Set<StoredSubscription>>();
  let last = 0;

  const subscribe = (subscription: StoredSubscription, addresses: readonly Hex[]): void => {
    subscription.addresses.add(addresses);
    for (const address of addresses) {
      const set = subscribersOf.get(address);
      if (set === undefined) subscribersOf.set(address, new Set([subscription]));
      else set.add(subscription);
    }
  };

  const unsubscribe = (subscription: StoredSubscription, addresses: readonly Hex[]): void => {
    subscription.addresses.remove(addresses);
    for (const address of addresses) {
      const set = subscribersOf.get(address);
      set?.delete(subscription);
      if (set?.size === 0) subscribersOf.delete(address);
    }
  };

  const change = (id: string, apply: (subscription: StoredSubscription) => Change): void => {
    const subscription = subscriptions.get(id);
    if (subscription === undefined) return;
    const settings = apply(subscription);
    const { webhook } = subscription;
    // Each change has a later time than the one before, also within a microsecond or after the clock was set back.
    const updated_at = Math.max(Math.floor(now() * 1000), webhook.updated_at + 1);
    subscription.webhook = { ...webhook, ...settings, updated_at };
  };

  return {
    find: (id) => subscriptions.get(id) ?? null,
    page: (after, limit) =>
      subscriptions
        .values()
        .filter(({ sequence }) => sequence > after)
        .take(limit)
        .toArray(),
    create(creation, id = uuidV7(now())) {
      const created_at = Math.floor(now() * 1000);
      const { type, settings } = creation;
      const webhook = { id, team_id: TEAM_ID, type, ...settings, created_at, updated_at: created_at };
      const subscription: StoredSubscription = { sequence: ++last, webhook, addresses: createAddressList() };
      subscriptions.set(id, subscription);
      subscribe(subscription, creation.addresses);
      return webhook;
    },
    update: (id, settings) => change(id, () => settings),
    remove(id) {
      const subscription = subscriptions.get(id);
      if (subscription === undefined) return;
      unsubscribe(subscription, [...subscription.addresses.values()]);
      subscriptions.delete(id);
    },
    changeAddresses(id, { remove, add }) {
      change(id, (subscription) => {
        unsubscribe(subscription, remove);
        subscribe(subscription, add);
        return {};
      });
    },
    replaceAddresses(id, addresses) {
      change(id, (subscription) => {
        unsubscribe(subscription, [...subscription.addresses.values()]);
        subscribe(subscription, addresses);
        return {};
      });
    },
    *subscribers(address) {
      for (const { webhook } of subscribersOf.get(address) ?? []) yield webhook;
    },
  };
};
