import { expect, test } from 'vitest';
import { DeliveredAddresses } from '../../src/webhooks/delivered-addresses.ts';
import type { Webhook } from '../../src/webhooks/rest.ts';
import { sleep } from '../support/clients/queries.ts';

/** Which wallets' transactions are delivered here, as upstream's own lists say. */

const A = `0x${'a1'.repeat(20)}`;
const B = `0x${'b2'.repeat(20)}`;

const webhook = (webhookId: string, changes: Partial<Webhook> = {}): Webhook => ({
  webhookId,
  teamId: null,
  name: null,
  type: 'TRANSACTIONS',
  url: 'here',
  active: true,
  createdAt: null,
  unknownFilters: [],
  updatedAt: '1',
  chainIds: null,
  transactionType: null,
  counterparty: null,
  activityType: null,
  assetType: null,
  tokenAddress: null,
  polling: null,
  ...changes,
});

const start = (...initial: Webhook[]) => {
  let now = 1_000_000;
  const lists = {
    all: initial,
    addresses: new Map<string, readonly string[]>([['one', [A]]]),
    reads: [] as string[],
    fails: false,
  };
  const delivered = new DeliveredAddresses(
    {
      types: new Set(['TRANSACTIONS']),
      async webhooks() {
        lists.reads.push('webhooks');
        if (lists.fails) throw new Error('unavailable');
        return lists.all;
      },
      async addresses(webhookId) {
        lists.reads.push(webhookId);
        return lists.addresses.get(webhookId) ?? [];
      },
      deliversHere: ({ url }) => url === 'here',
    },
    () => now,
  );
  return {
    lists,
    delivered,
    /** Deliveries arrive, and pages are fetched: it is worth to read the lists. */
    begin() {
      delivered.named([]);
      for (let time = 0; time < 10; time += 1) delivered.fetched('another list', B, null, 0);
    },
    /** Lets the time pass, and the lists be read if they are due. */
    async wait(ms: number) {
      now += ms;
      delivered.deliveredForMs('TRANSACTIONS', A, null);
      await sleep(1);
    },
  };
};

test('the lists are read once deliveries arrive and ten newest pages are fetched, and then every 30 s', async () => {
  const { delivered, lists, wait } = start(webhook('one'));
  const fetch = (times: number) => {
    for (let time = 0; time < times; time += 1) delivered.fetched(`list ${time}`, B, null, 0);
  };
  fetch(20);
  await wait(60_000);
  delivered.named([]);
  fetch(9);
  await wait(60_000);
  expect(lists.reads).toEqual([]);
  fetch(1);
  await wait(0);
  expect(lists.reads).toEqual(['webhooks', 'one']);
  await wait(1000);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(1000);
  expect(delivered.deliveredForMs('TRANSACTIONS', B, null)).toBe(0);
  await wait(30_000);
  expect(lists.reads).toEqual(['webhooks', 'one', 'webhooks']);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(31_000);
});

test.each<[string, Partial<Webhook>]>([
  ['is not active', { active: false }],
  ['delivers activities', { type: 'ACTIVITIES' }],
  ['delivers elsewhere', { url: 'elsewhere' }],
  ['has no URL', { url: null }],
  ['delivers one side', { transactionType: 'SENDER' }],
  ['delivers those of one counterparty', { counterparty: B }],
  ['delivers those of one kind of asset', { assetType: 'NATIVE' }],
  ['delivers those of one token', { tokenAddress: B }],
])('a webhook that %s does not count', async (_what, changes) => {
  const { delivered, begin, wait } = start(webhook('one', changes));
  begin();
  await wait(0);
  await wait(1000);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(0);
});

test('a webhook of some chains counts for lookups of these chains alone', async () => {
  const { delivered, begin, wait } = start(webhook('one', { chainIds: [1, 10] }));
  begin();
  await wait(0);
  await wait(1000);
  for (const chains of ['1', '10', '1,10'])
    expect(delivered.deliveredForMs('TRANSACTIONS', A, chains), chains).toBe(1000);
  for (const chains of [null, '2', '1,2', 'mainnet', '1,mainnet'])
    expect(delivered.deliveredForMs('TRANSACTIONS', A, chains), `${chains}`).toBe(0);
});

test('a webhook that this gateway creates or changes delivers since then, as upstream answered', async () => {
  const { delivered, lists, wait } = start();
  delivered.created(webhook('one'), [A]);
  await wait(1000);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(1000);
  delivered.changing('one');
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(0);
  await wait(1000);
  delivered.changed(webhook('one', { chainIds: [1] }));
  await wait(1000);
  expect([null, '1'].map((chains) => delivered.deliveredForMs('TRANSACTIONS', A, chains))).toEqual([0, 1000]);
  delivered.changing('one');
  delivered.changed(webhook('one', { active: false }));
  await wait(1000);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, '1')).toBe(0);
  expect(lists.reads).toEqual([]);
});

test('a webhook whose addresses this gateway changes counts once the lists are read again', async () => {
  const { delivered, lists, begin, wait } = start(webhook('one'));
  begin();
  await wait(0);
  await wait(1000);
  delivered.changing('one');
  delivered.forget('one');
  // This lookup begins to read the lists, which may be older than the next change.
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(0);
  delivered.forget('one');
  await sleep(1);
  await wait(10);
  expect(lists.reads.filter((read) => read === 'webhooks')).toHaveLength(3);
  await wait(10);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(10);
});

test('a webhook that has changed elsewhere delivers since the lists showed it', async () => {
  const { delivered, lists, begin, wait } = start(webhook('one'));
  begin();
  await wait(0);
  lists.all = [webhook('one', { updatedAt: '2' })];
  await wait(31_000);
  await wait(10);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(10);
  lists.addresses.set('one', [A, B]);
  await wait(301_000);
  await wait(10);
  expect([A, B].map((address) => delivered.deliveredForMs('TRANSACTIONS', address, null))).toEqual([10, 10]);
});

test('lists that can no longer be read do not count after 90 s, and count again once they can', async () => {
  const { delivered, lists, begin, wait } = start(webhook('one'));
  begin();
  await wait(0);
  lists.fails = true;
  await wait(89_000);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(89_000);
  await wait(2000);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(0);
  lists.fails = false;
  await wait(31_000);
  await wait(0);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBeGreaterThan(89_000);
});

test('a wallet whose new transactions no delivery has named does not count, until one names it', async () => {
  const { delivered, begin, wait } = start(webhook('one'));
  begin();
  await wait(0);
  const fetched = (identity: string | null) => delivered.fetched('list', A, identity, 100);
  fetched('first');
  await wait(1000);
  fetched('first');
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(1000);
  delivered.named([B, A]);
  await wait(1000);
  fetched('second');
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(2000);
  await wait(1000);
  fetched('third');
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(0);
  delivered.named([A]);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(3000);
  await wait(1000);
  fetched('fourth');
  await wait(1000);
  fetched('fifth');
  await wait(599_000);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBe(0);
  for (const _ of [1, 2]) await wait(1000);
  expect(delivered.deliveredForMs('TRANSACTIONS', A, null)).toBeGreaterThan(0);
});

test("a delivery that names none of its webhook's addresses may concern them all", async () => {
  const { delivered, lists, begin, wait } = start(webhook('one'), webhook('two'));
  lists.addresses.set('two', [A, B]);
  begin();
  await wait(0);
  expect(delivered.unnamedBy('two', ['0xelse'])).toEqual([A, B]);
  expect(delivered.unnamedBy('two', [B])).toEqual([]);
  for (const unknown of ['three', null]) expect(delivered.unnamedBy(unknown, [])).toEqual([]);
});
