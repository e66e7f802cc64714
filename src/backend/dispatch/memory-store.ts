import type { Hex } from '../types.ts';
import type { DeliveryQueue, Held, Listed, PendingDelivery, Store } from './store.ts';
import { uuidV7 } from './uuid.ts';
import { changed, delivers, newWebhook, type Webhook } from './webhook.ts';

type Subscription = { readonly position: number; webhook: Webhook; readonly addresses: AddressList };

/** A store that is lost with the process. `now` is in milliseconds since 1970. */
export const createMemoryStore = (now: () => number): Store => {
  const subscriptions = new Map<string, Subscription>();
  const subscribersOf = new Map<Hex, Set<Subscription>>();
  const deliveries = createDeliveryQueue();
  let last = 0;

  const subscribe = (subscription: Subscription, addresses: readonly Hex[]): void => {
    subscription.addresses.add(addresses);
    for (const address of addresses) {
      const set = subscribersOf.get(address);
      if (set === undefined) subscribersOf.set(address, new Set([subscription]));
      else set.add(subscription);
    }
  };

  const unsubscribe = (subscription: Subscription, addresses: readonly Hex[]): void => {
    subscription.addresses.remove(addresses);
    for (const address of addresses) {
      const set = subscribersOf.get(address);
      set?.delete(subscription);
      if (set?.size === 0) subscribersOf.delete(address);
    }
  };

  const changeAddresses = (id: string, apply: (subscription: Subscription) => void): void => {
    const subscription = subscriptions.get(id);
    if (subscription === undefined) return;
    apply(subscription);
    subscription.webhook = changed(subscription.webhook, {}, now());
  };

  return {
    deliveries,
    find: (id) => subscriptions.get(id)?.webhook ?? null,
    page: (after, limit) =>
      subscriptions
        .values()
        .filter(({ position }) => position > after)
        .take(limit)
        .map(({ position, webhook }) => ({ position, item: webhook }))
        .toArray(),
    create(creation, id = uuidV7(now())) {
      const webhook = newWebhook(id, creation, now());
      const subscription = { position: ++last, webhook, addresses: createAddressList() };
      subscriptions.set(id, subscription);
      subscribe(subscription, creation.addresses);
      return webhook;
    },
    update(id, change) {
      const subscription = subscriptions.get(id);
      if (subscription === undefined) return;
      subscription.webhook = changed(subscription.webhook, change, now());
      if (!delivers(subscription.webhook)) deliveries.dropAll(id);
    },
    remove(id) {
      const subscription = subscriptions.get(id);
      if (subscription === undefined) return;
      unsubscribe(subscription, subscription.addresses.values());
      subscriptions.delete(id);
      deliveries.dropAll(id);
    },
    addresses: (id, after, limit) => subscriptions.get(id)?.addresses.page(after, limit) ?? [],
    changeAddresses(id, { remove, add }) {
      changeAddresses(id, (subscription) => {
        unsubscribe(subscription, remove);
        subscribe(subscription, add);
      });
    },
    replaceAddresses(id, addresses) {
      changeAddresses(id, (subscription) => {
        unsubscribe(subscription, subscription.addresses.values());
        subscribe(subscription, addresses);
      });
    },
    *subscribers(address) {
      for (const { webhook } of subscribersOf.get(address) ?? []) yield webhook;
    },
  };
};

type AddressList = {
  values(): readonly Hex[];
  add(addresses: readonly Hex[]): void;
  remove(addresses: readonly Hex[]): void;
  page(after: number, limit: number): readonly Listed<Hex>[];
};

/** The index of the first item whose position is greater than `after`, by binary search. */
const firstBeyond = (items: readonly Listed<Hex>[], after: number): number => {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.position ?? 0) > after) high = middle;
    else low = middle + 1;
  }
  return low;
};

const createAddressList = (): AddressList => {
  const positions = new Map<Hex, number>();
  let last = 0;
  // A cached array, so that paging through 100,000 addresses does not copy them for each page.
  let ordered: readonly Listed<Hex>[] | null = null;

  return {
    values: () => [...positions.keys()],
    add(addresses) {
      ordered = null;
      for (const address of addresses) {
        if (!positions.has(address)) positions.set(address, ++last);
      }
    },
    remove(addresses) {
      ordered = null;
      for (const address of addresses) positions.delete(address);
    },
    page(after, limit) {
      ordered ??= Array.from(positions, ([item, position]) => ({ position, item }));
      const start = firstBeyond(ordered, after);
      return ordered.slice(start, start + limit);
    },
  };
};

type Queued = PendingDelivery & { readonly held: Held; readonly addedAt: number };

const createDeliveryQueue = (): DeliveryQueue & { dropAll(webhookId: string): void } => {
  const pending = new Map<string, Map<number, Queued>>();
  let last = 0;

  const remove = (webhookId: string, id: number): void => {
    const queued = pending.get(webhookId);
    queued?.delete(id);
    if (queued?.size === 0) pending.delete(webhookId);
  };

  const of = (webhookId: string): Iterable<Queued> => pending.get(webhookId)?.values() ?? [];

  const drop = (isDropped: (queued: Queued) => boolean, webhookIds: Iterable<string>): number => {
    let dropped = 0;
    for (const webhookId of [...webhookIds])
      for (const queued of [...of(webhookId)]) {
        if (!isDropped(queued)) continue;
        remove(webhookId, queued.id);
        dropped += 1;
      }
    return dropped;
  };

  return {
    add(delivery, due) {
      const id = ++last;
      const queued: Queued = { ...delivery, id, retry: 0, due, held: 'no', addedAt: due };
      const others = pending.get(delivery.webhookId);
      if (others === undefined) pending.set(delivery.webhookId, new Map([[id, queued]]));
      else others.set(id, queued);
    },
    count: (webhookId) => pending.get(webhookId)?.size ?? 0,
    pending() {
      const all = [...pending.values()].flatMap((each) => [...each.values()]);
      const first = all.toSorted((one, other) => one.id - other.id)[0];
      return { count: all.length, oldestAt: first?.addedAt ?? null };
    },
    webhookIds: () => [...pending.keys()],
    next: (webhookId, time) =>
      Iterator.from(of(webhookId)).find(({ held, due }) => held === 'no' || due <= time) ?? null,
    heldUntil(webhookId) {
      const times = [...of(webhookId)].filter(({ held }) => held !== 'no').map(({ due }) => due);
      return times.length === 0 ? null : Math.min(...times);
    },
    record(outcomes) {
      for (const { delivery, next } of outcomes) {
        const { id, webhookId } = delivery;
        const queued = pending.get(webhookId)?.get(id);
        if (queued === undefined) continue;
        if (next === null) remove(webhookId, id);
        else pending.get(webhookId)?.set(id, { ...queued, ...next });
      }
    },
    release(webhookId) {
      for (const queued of [...of(webhookId)])
        if (queued.held === 'until accepted')
          pending.get(webhookId)?.set(queued.id, { ...queued, held: 'no' });
    },
    dropDue: (webhookId, time) => drop(({ due }) => due <= time, [webhookId]),
    dropBlocks(chainId, fromNumber) {
      const isIts = (queued: Queued) => queued.chainId === chainId && queued.blockNumber >= fromNumber;
      drop(isIts, pending.keys());
    },
    dropAll: (webhookId) => void pending.delete(webhookId),
  };
};
