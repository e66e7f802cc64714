import { beforeEach, expect, test } from 'vitest';
import { ALICE, BOB, CAROL } from '../backend/dispatch/support/builders.ts';
import { type Gateway, heldKey, type Variables } from '../support/gateway/start.ts';
import { createdId } from './support/documents.ts';
import { type Managed, startManaged } from './support/managed.ts';
import { changed, ownStatesOf, watched } from './support/watching.ts';

/** The webhooks of a watched wallet that something else has changed, as the service's own site does. */

let managed: Managed;
let gateway: Gateway;
beforeEach(async () => {
  managed = await startManaged();
  gateway = managed.gateway;
  return () => managed[Symbol.asyncDispose]();
});

/** Changes a webhook at the service. */
const atService = async (method: 'PATCH' | 'PUT', path: string, body: Variables) => {
  const response = await fetch(`${managed.sandbox.url}/beta/evm/subscriptions/webhooks/${path}`, {
    method,
    headers: { 'x-service-api-key': heldKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
};

/** A watch of which each webhook differs in something else, and the ids of its webhooks. */
const brokenWatch = async () => {
  const { watchedWallet } = await changed(gateway, 'watchWallet', { address: ALICE });
  expect(await watched(gateway)).toEqual([watchedWallet]);
  const [transactions = '', activities = '', balances = ''] =
    watchedWallet?.webhooks.map(({ webhookId }) => webhookId) ?? [];
  return { transactions, activities, balances, whole: watchedWallet };
};

test('repeating it repairs whatever differs, and only what is true is listed until then', async () => {
  const { transactions, activities, balances, whole } = await brokenWatch();
  const steps: [change: () => Promise<void>, types: string[], webhooks: string[]][] = [
    [
      () => atService('PUT', `${transactions}/addresses`, { addresses: [BOB] }),
      ['ACTIVITIES', 'BALANCES'],
      [activities, balances],
    ],
    [() => atService('PATCH', `${activities}/addresses`, { add_addresses: [BOB] }), ['BALANCES'], [balances]],
    [() => atService('PATCH', balances, { token_address: CAROL }), [], [balances]],
  ];
  for (const [change, types, ids] of steps) {
    await change();
    const [shown] = await watched(gateway);
    expect(shown?.types).toEqual(types);
    expect(shown?.webhooks.map(({ webhookId }) => webhookId)).toEqual(ids);
  }
  await atService('PATCH', transactions, { transaction_type: 'sender', counterparty: BOB, chain_ids: [1] });
  await atService('PATCH', activities, { activity_type: 'swap', asset_type: 'erc20', active: false });
  expect(await changed(gateway, 'watchWallet', { address: ALICE })).toEqual({ watchedWallet: whole });
  for (const id of [transactions, activities, balances]) {
    expect(await managed.addresses(id)).toEqual([ALICE]);
    const state = await managed.state(id);
    expect(state).toMatchObject({ active: true, url: expect.stringContaining(`?webhook=${id}`) });
    const filters = ['chain_ids', 'transaction_type', 'counterparty', 'activity_type', 'asset_type'];
    for (const filter of [...filters, 'token_address']) expect(state?.[filter] ?? null).toBeNull();
  }
  expect(await ownStatesOf(managed)).toHaveLength(3);
  expect(await watched(gateway)).toEqual([whole]);
});

test('a delivery URL that names another webhook, or none, is repaired; one elsewhere is not this watch', async () => {
  const { transactions, activities, balances, whole } = await brokenWatch();
  const url = (await managed.state(transactions))?.url;
  const own = `${url}`.split('?')[0];
  await atService('PATCH', transactions, { url: `${own}?webhook=${balances}` });
  await atService('PATCH', activities, { url: own });
  await atService('PATCH', balances, { url: 'https://elsewhere.test/' });
  const [shown] = await watched(gateway);
  expect(shown).toMatchObject({ types: ['ACTIVITIES'] });
  expect(shown?.webhooks.map(({ webhookId }) => webhookId)).toEqual([transactions, activities]);

  const { watchedWallet } = await changed(gateway, 'watchWallet', { address: ALICE });
  expect(watchedWallet).toMatchObject({ types: whole?.types });
  expect(await managed.state(transactions)).toMatchObject({ url });
  expect(await managed.state(activities)).toMatchObject({ url: `${own}?webhook=${activities}` });
  expect(await managed.state(balances)).toMatchObject({ url: 'https://elsewhere.test/', active: true });
  expect(await ownStatesOf(managed)).toHaveLength(4);
  await changed(gateway, 'unwatchWallet', { address: ALICE });
  expect((await ownStatesOf(managed)).map(({ id }) => id)).toEqual([balances]);
});

test('unwatchWallet removes what is left of a watch, whatever has become of it', async () => {
  const { transactions, activities, balances } = await brokenWatch();
  await atService('PUT', `${transactions}/addresses`, { addresses: [BOB] });
  await atService('PUT', `${activities}/addresses`, { addresses: [] });
  await atService('PATCH', balances, { active: false, asset_type: 'erc20' });
  expect(await watched(gateway)).toMatchObject([{ types: [], webhooks: [{ webhookId: balances }] }]);
  await changed(gateway, 'unwatchWallet', { address: ALICE });
  expect(await ownStatesOf(managed)).toEqual([]);
});

test('a name alone is no watch: its webhook must hold that address alone', async () => {
  for (const addresses of [[CAROL], [BOB, CAROL]])
    await createdId(gateway, { name: `watchWallet ${BOB}`, addresses });
  for (const name of ['', 'a b', BOB.slice(1), `${BOB}0`, ` ${BOB}`, `${BOB}?chain_ids=1`, `../${BOB}`])
    await createdId(gateway, { name: `watchWallet ${name}`, addresses: [BOB] });
  expect(await watched(gateway)).toEqual([]);
  await createdId(gateway, { name: `watchWallet ${BOB}`, addresses: [BOB] });
  expect(await watched(gateway)).toMatchObject([{ wallet: { address: BOB }, types: ['TRANSACTIONS'] }]);
});

test('of two webhooks of one type, which two gateways have created, the older one stays', async () => {
  const first = await changed(gateway, 'watchWallet', { address: ALICE, types: ['BALANCES'] });
  await createdId(gateway, { name: `watchWallet ${ALICE}`, type: 'BALANCES', addresses: [ALICE] });
  expect(await watched(gateway)).toEqual([first.watchedWallet]);
  expect(await changed(gateway, 'watchWallet', { address: ALICE, types: ['BALANCES'] })).toEqual(first);
  expect(await ownStatesOf(managed)).toHaveLength(1);
});
