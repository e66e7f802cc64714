import type { Hex } from '../types.ts';
import type { AddressList } from './address-list.ts';
import { createAddressList } from './address-list.ts';
import type { AddressChange, Change, Creation } from './api/requests.ts';
import { uuidV7 } from './uuid.ts';
import type { Webhook } from './webhook.ts';

/** The ULID of the one team that the sandbox's key belongs to. */
const TEAM_ID = '01JZ4R2V8W7Q5N3M1K9H6F0D2B';

export type Subscription = {
  /** Its place in the list of webhooks; never given twice. */
  readonly sequence: number;
  webhook: Webhook;
  readonly addresses: Pick<AddressList, 'page' | 'values'>;
};

/** Every webhook, and who listens to an address. */
export type Store = {
  find(id: string): Subscription | null;
  /** At most `limit` of those created after the one numbered `after` (0: from the first). */
  page(after: number, limit: number): readonly Subscription[];
  /** Under a new id unless one is given. */
  create(creation: Creation, id?: string): Webhook;
  update(id: string, change: Change): void;
  remove(id: string): void;
  /** Removals first, then additions. */
  changeAddresses(id: string, change: AddressChange): void;
  replaceAddresses(id: string, addresses: readonly Hex[]): void;
  subscribers(address: Hex): Iterable<Webhook>;
};

type Kept = Subscription & { readonly addresses: AddressList };

/** `now` in milliseconds since 1970. An id that is not in the store is nobody's: changing it does nothing. */
export const createStore = (now: () => number): Store => {
  const kept = new Map<string, Kept>();
  const listeners = new Map<Hex, Set<Kept>>();
  let last = 0;

  const listen = (subscription: Kept, addresses: readonly Hex[]): void => {
    subscription.addresses.add(addresses);
    for (const address of addresses) {
      const set = listeners.get(address);
      if (set === undefined) listeners.set(address, new Set([subscription]));
      else set.add(subscription);
    }
  };

  const unlisten = (subscription: Kept, addresses: readonly Hex[]): void => {
    subscription.addresses.remove(addresses);
    for (const address of addresses) {
      const set = listeners.get(address);
      set?.delete(subscription);
      if (set?.size === 0) listeners.delete(address);
    }
  };

  const change = (id: string, apply: (subscription: Kept) => Change): void => {
    const subscription = kept.get(id);
    if (subscription === undefined) return;
    const settings = apply(subscription);
    const { webhook } = subscription;
    // Two changes within a microsecond, or a clock set back, must still be told apart.
    const updated_at = Math.max(Math.floor(now() * 1000), webhook.updated_at + 1);
    subscription.webhook = { ...webhook, ...settings, updated_at };
  };

  return {
    find: (id) => kept.get(id) ?? null,
    page: (after, limit) =>
      kept
        .values()
        .filter(({ sequence }) => sequence > after)
        .take(limit)
        .toArray(),
    create(creation, id = uuidV7(now())) {
      const created_at = Math.floor(now() * 1000);
      const { type, settings } = creation;
      const webhook = { id, team_id: TEAM_ID, type, ...settings, created_at, updated_at: created_at };
      const subscription: Kept = { sequence: ++last, webhook, addresses: createAddressList() };
      kept.set(id, subscription);
      listen(subscription, creation.addresses);
      return webhook;
    },
    update: (id, settings) => change(id, () => settings),
    remove(id) {
      const subscription = kept.get(id);
      if (subscription === undefined) return;
      unlisten(subscription, [...subscription.addresses.values()]);
      kept.delete(id);
    },
    changeAddresses(id, { remove, add }) {
      change(id, (subscription) => {
        unlisten(subscription, remove);
        listen(subscription, add);
        return {};
      });
    },
    replaceAddresses(id, addresses) {
      change(id, (subscription) => {
        unlisten(subscription, [...subscription.addresses.values()]);
        listen(subscription, addresses);
        return {};
      });
    },
    *subscribers(address) {
      for (const { webhook } of listeners.get(address) ?? []) yield webhook;
    },
  };
};
