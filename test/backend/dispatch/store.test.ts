import { describe, expect, test } from 'vitest';
import { createMemoryStore } from '../../../src/backend/dispatch/memory-store.ts';
import type { Delivery, PendingDelivery, Store } from '../../../src/backend/dispatch/store.ts';
import { type Creation, NO_FILTERS, type Settings } from '../../../src/backend/dispatch/webhook.ts';
import { openDatabase } from '../../../src/backend/indexer/database/database.ts';
import { createWebhookStore } from '../../../src/backend/indexer/database/webhook-store.ts';
import type { Hex } from '../../../src/backend/types.ts';
import { ALICE, BOB, CAROL } from './support/builders.ts';

const NOON = Date.UTC(2026, 5, 1, 12);

const STORES: Readonly<Record<string, (now: () => number) => Store>> = {
  memory: createMemoryStore,
  SQLite: (now) => createWebhookStore(openDatabase(':memory:'), now),
};

const creation = (addresses: readonly Hex[] = [ALICE], settings: Partial<Settings> = {}): Creation => ({
  type: 'activities',
  addresses,
  settings: { name: 'test', url: 'https://example.com/', active: true, ...NO_FILTERS, ...settings },
});

const idsOf = (store: Store, address: Hex) => [...store.subscribers(address)].map(({ id }) => id).sort();
const addressesOf = (store: Store, id: string) => store.addresses(id, 0, 1e6).map(({ item }) => item);

describe.each(Object.keys(STORES))('a store in %s', (name) => {
  const open = (now = () => NOON): Store => {
    const opened = STORES[name]?.(now);
    if (opened === undefined) throw new Error(`expected a kind of store, got ${name}`);
    return opened;
  };

  test('finds each webhook as it was made and changed, with later times', () => {
    const store = open();
    const made = store.create(creation([ALICE], { chain_ids: [1, 2 ** 40], asset_type: 'erc20' }));
    expect(store.find(made.id)).toEqual(made);
    store.update(made.id, { name: null, chain_ids: null });
    const changed = store.find(made.id);
    expect(changed).toEqual({ ...made, name: null, chain_ids: null, updated_at: made.updated_at + 1 });
    // Deliveries are collected by webhook: one object each, as long as it does not change.
    expect([...store.subscribers(ALICE)][0]).toBe(changed);
  });

  test('lists webhooks in the order in which they were made, also after some are gone', () => {
    const store = open();
    const ids = Array.from({ length: 7 }, () => store.create(creation()).id);
    for (const at of [2, 6]) store.remove(ids[at] ?? '');
    ids.push(store.create(creation()).id);
    const listed: string[] = [];
    for (let page = store.page(0, 2); page.length > 0; page = store.page(page.at(-1)?.position ?? 0, 2))
      listed.push(...page.map(({ item }) => item.id));
    expect(listed).toEqual(ids.filter((_, at) => at !== 2 && at !== 6));
  });

  test('keeps addresses once each, in their order, and walks survive changes', () => {
    const store = open();
    const { id } = store.create(creation([BOB, ALICE, BOB]));
    expect(addressesOf(store, id)).toEqual([BOB, ALICE]);
    const [first] = store.addresses(id, 0, 1);
    store.changeAddresses(id, { remove: [BOB], add: [CAROL, ALICE, BOB] });
    expect(addressesOf(store, id)).toEqual([ALICE, CAROL, BOB]);
    expect(store.addresses(id, first?.position ?? 0, 2).map(({ item }) => item)).toEqual([ALICE, CAROL]);
    store.replaceAddresses(id, [CAROL]);
    expect(addressesOf(store, id)).toEqual([CAROL]);
    store.changeAddresses(id, { remove: [CAROL], add: [CAROL] });
    expect(addressesOf(store, id)).toEqual([CAROL]);
    expect(addressesOf(store, 'nobody')).toEqual([]);
  });

  test('finds the webhooks of an address', () => {
    const store = open();
    const one = store.create(creation([ALICE, BOB])).id;
    const other = store.create(creation([BOB])).id;
    expect([idsOf(store, ALICE), idsOf(store, BOB), idsOf(store, CAROL)]).toEqual([
      [one],
      [one, other].sort(),
      [],
    ]);
    store.replaceAddresses(one, [CAROL]);
    store.remove(other);
    expect([idsOf(store, ALICE), idsOf(store, BOB), idsOf(store, CAROL)]).toEqual([[], [], [one]]);
  });

  test('a change under an unknown id has no effect', () => {
    const store = open();
    store.update('nobody', { active: false });
    store.remove('nobody');
    store.changeAddresses('nobody', { remove: [], add: [ALICE] });
    store.replaceAddresses('nobody', [ALICE]);
    expect([store.page(0, 9), idsOf(store, ALICE), store.find('nobody')]).toEqual([[], [], null]);
  });

  test('100,000 addresses of a webhook are walked, changed and replaced', { timeout: 60_000 }, () => {
    const store = open();
    const many = Array.from({ length: 100_000 }, (_, at): Hex => `0x${at.toString(16).padStart(40, '0')}`);
    const { id } = store.create(creation(many));
    const walked: Hex[] = [];
    for (let after = 0; ; ) {
      const page = store.addresses(id, after, 1_000);
      if (page.length === 0) break;
      walked.push(...page.map(({ item }) => item));
      after = page.at(-1)?.position ?? 0;
    }
    expect(walked).toEqual(many);
    for (const address of many.slice(0, 1_000)) expect(idsOf(store, address)).toEqual([id]);
    store.changeAddresses(id, { remove: many.slice(0, 50_000), add: many.slice(0, 10) });
    expect(addressesOf(store, id)).toEqual([...many.slice(50_000), ...many.slice(0, 10)]);
    store.replaceAddresses(id, many.toReversed());
    expect(addressesOf(store, id)).toEqual(many.toReversed());
  });

  describe('its queue of deliveries', () => {
    const queued = (settings?: Partial<Settings>) => {
      const store = open();
      const { id } = store.create(creation([ALICE], settings));
      const delivery = (blockNumber: number, chainId = 1): Delivery => ({
        ...{ webhookId: id, type: 'activities', chainId, blockNumber },
        body: `{"block":${blockNumber},"text":"\u00e9\u{1F98A}"}`,
      });
      /** The numbers of the blocks in the order in which the queue gives their deliveries at a time. It has none afterwards. */
      const blocksAt = (time: number): readonly number[] => {
        const delivery = store.deliveries.next(id, time);
        if (delivery === null) return [];
        store.deliveries.record([{ delivery, next: null }]);
        return [delivery.blockNumber, ...blocksAt(time)];
      };
      const nextAt = (time: number): PendingDelivery => {
        const delivery = store.deliveries.next(id, time);
        if (delivery === null) throw new Error('expected a delivery');
        return delivery;
      };
      return { store, queue: store.deliveries, id, delivery, blocksAt, nextAt };
    };

    test('gives what is not held in the order in which it was added, byte for byte', () => {
      const { queue, id, delivery, blocksAt, nextAt } = queued();
      for (const block of [3, 1, 2]) queue.add(delivery(block), NOON + block);
      expect(nextAt(NOON)).toMatchObject({ ...delivery(3), id: expect.any(Number), retry: 0, due: NOON + 3 });
      expect([queue.count(id), queue.webhookIds(), queue.heldUntil(id)]).toEqual([3, [id], null]);
      expect(blocksAt(NOON)).toEqual([3, 1, 2]);
      expect([queue.count(id), queue.webhookIds(), queue.next(id, NOON)]).toEqual([0, [], null]);
    });

    test('gives what is held at its time, in its place', () => {
      const { queue, id, delivery, blocksAt, nextAt } = queued();
      for (const block of [1, 2, 3]) queue.add(delivery(block), NOON);
      const first = nextAt(NOON);
      queue.record([{ delivery: first, next: { retry: 1, due: NOON + 1_000, held: 'until due' } }]);
      const second = nextAt(NOON);
      queue.record([{ delivery: second, next: { retry: 3, due: NOON + 2_000, held: 'until accepted' } }]);
      expect([queue.heldUntil(id), nextAt(NOON + 999).blockNumber]).toEqual([NOON + 1_000, 3]);
      queue.release(id);
      expect(nextAt(NOON + 999)).toMatchObject({ id: second.id, retry: 3, due: NOON + 2_000 });
      expect(queue.heldUntil(id)).toBe(NOON + 1_000);
      expect(nextAt(NOON + 1_000)).toMatchObject({ id: first.id, retry: 1, due: NOON + 1_000 });
      expect(blocksAt(NOON + 1_000)).toEqual([1, 2, 3]);
      // What is no longer pending does not come back.
      queue.record([{ delivery: second, next: { retry: 1, due: NOON, held: 'no' } }]);
      expect([queue.next(id, NOON + 9_000), queue.count(id)]).toEqual([null, 0]);
    });

    test('drops what was due at a time, and no others', () => {
      const { store, queue, id, delivery, blocksAt } = queued();
      const other = store.create(creation()).id;
      queue.add({ ...delivery(1), webhookId: other }, NOON);
      for (const block of [1, 2, 3]) queue.add(delivery(block), NOON + block);
      expect([queue.dropDue(id, NOON + 2), queue.dropDue(id, NOON + 2), queue.count(other)]).toEqual([
        2, 0, 1,
      ]);
      expect(blocksAt(NOON)).toEqual([3]);
    });

    test('says how many are pending, and since when the first of them is, also after a retry', () => {
      const { store, queue, id, delivery } = queued();
      const other = store.create(creation()).id;
      expect(queue.pending()).toEqual({ count: 0, oldestAt: null });
      queue.add(delivery(1), NOON);
      queue.add({ ...delivery(1), webhookId: other }, NOON + 1);
      const first = queue.next(id, NOON);
      if (first === null) throw new Error('expected a delivery');
      queue.record([{ delivery: first, next: { retry: 1, due: NOON + 9_000, held: 'until due' } }]);
      expect(queue.pending()).toEqual({ count: 2, oldestAt: NOON });
      queue.record([{ delivery: first, next: null }]);
      expect(queue.pending()).toEqual({ count: 1, oldestAt: NOON + 1 });
    });

    test('never gives an id twice', () => {
      const { queue, id, delivery } = queued();
      const ids = [1, 2, 3].map((block) => {
        queue.add(delivery(block), NOON);
        const added = queue.next(id, NOON);
        queue.dropBlocks(1, 0);
        return added?.id;
      });
      expect(new Set(ids).size).toBe(3);
    });

    test('drops the blocks of a chain from a number on, and no others', () => {
      const { queue, delivery, blocksAt } = queued();
      for (const block of [7, 8, 9]) queue.add(delivery(block), NOON);
      queue.add(delivery(10, 8453), NOON);
      queue.dropBlocks(1, 8);
      expect(blocksAt(NOON)).toEqual([7, 10]);
    });

    test.each([
      ['paused', (store: Store, id: string) => store.update(id, { active: false })],
      ['without its url', (store: Store, id: string) => store.update(id, { url: null })],
      ['deleted', (store: Store, id: string) => store.remove(id)],
    ])('drops those of a webhook that is %s, and no others', (_, change) => {
      const { store, queue, id, delivery } = queued();
      const other = store.create(creation()).id;
      queue.add(delivery(1), NOON);
      queue.add({ ...delivery(1), webhookId: other }, NOON);
      store.update(other, { name: 'another' });
      change(store, id);
      store.update(id, { active: true, url: 'https://example.com/' });
      expect([queue.count(id), queue.count(other)]).toEqual([0, 1]);
      expect(queue.next(id, NOON)).toBeNull();
    });
  });
});
