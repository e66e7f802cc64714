import { describe, expect, test } from 'vitest';
import type { Transaction } from '../../../src/backend/types.ts';
import {
  ALICE,
  APES,
  approval,
  BASE,
  BOB,
  block,
  CAROL,
  KNOWN_CALL,
  MAINNET,
  NOBODY,
  nativeTransfer,
  nftTransfer,
  POTIONS,
  ROUTER,
  SILENT,
  swap,
  transaction,
  transfer,
  UNKNOWN_CALL,
  USDC,
  WETH,
} from './support/builders.ts';
import { itemsFor, startDelivering } from './support/service.ts';

/** Alice's transactions by name, numbered by the nonce. */
const ACTIONS: Readonly<Record<string, Partial<Transaction>>> = {
  'pays Bob': { value: 1n, effects: [nativeTransfer()] },
  'is paid by Carol': {
    from: CAROL,
    to: ALICE,
    value: 1n,
    effects: [nativeTransfer({ from: CAROL, to: ALICE })],
  },
  'sends USDC': { to: USDC, data: KNOWN_CALL, effects: [transfer()] },
  'approves USDC': { to: USDC, data: KNOWN_CALL, effects: [approval()] },
  'mints an ape': { to: APES, data: UNKNOWN_CALL, effects: [nftTransfer({ from: NOBODY, to: ALICE })] },
  'burns a potion': {
    to: POTIONS,
    data: UNKNOWN_CALL,
    effects: [nftTransfer({ asset: 'erc1155', token: POTIONS, to: NOBODY })],
  },
  'swaps USDC for WETH': {
    to: ROUTER,
    data: UNKNOWN_CALL,
    effects: [
      transfer({ to: ROUTER }),
      transfer({ from: ROUTER, to: ALICE, token: WETH, value: swap().bought.value }),
      swap(),
    ],
  },
  'calls the router': { to: ROUTER, data: UNKNOWN_CALL },
  'calls WETH': { to: WETH, data: UNKNOWN_CALL },
  'fails to send USDC': { to: USDC, data: KNOWN_CALL, success: false },
};

const EVENTFUL = block(
  Object.entries(ACTIONS).map(([_, fields], index) =>
    transaction({ ...fields, index, hash: `0x${index.toString(16).padStart(64, '0')}` }),
  ),
);

/** The names of the transactions that a webhook for Alice receives. */
const notified = async (fields: Record<string, unknown>): Promise<string[]> => {
  const items = await itemsFor({ addresses: [ALICE], ...fields }, EVENTFUL);
  const names = items.map(({ hash, tx_hash, transaction_hash }) =>
    String(Object.keys(ACTIONS)[Number(hash ?? tx_hash ?? transaction_hash)]),
  );
  return [...new Set(names)];
};

const all = Object.keys(ACTIONS);

describe('filters of transactions', () => {
  test.each([
    [{}, all],
    [{ transaction_type: 'sender' }, all.filter((name) => name !== 'is paid by Carol')],
    [{ transaction_type: 'receiver' }, ['is paid by Carol']],
    [{ counterparty: BOB }, ['pays Bob']],
    [{ counterparty: CAROL }, ['is paid by Carol']],
    [{ counterparty: ROUTER }, ['swaps USDC for WETH', 'calls the router']],
    [{ counterparty: WETH }, ['calls WETH']],
    [{ counterparty: CAROL, transaction_type: 'sender' }, []],
    [{ asset_type: 'native' }, ['pays Bob', 'is paid by Carol']],
    [
      { asset_type: 'erc20' },
      ['sends USDC', 'approves USDC', 'swaps USDC for WETH', 'calls WETH', 'fails to send USDC'],
    ],
    [{ token_address: USDC }, ['sends USDC', 'approves USDC', 'swaps USDC for WETH', 'fails to send USDC']],
    [{ token_address: WETH }, ['swaps USDC for WETH', 'calls WETH']],
    [{ token_address: APES, asset_type: 'erc20' }, []],
  ])('%j', async (filter, expected) => {
    expect(await notified({ type: 'transactions', ...filter })).toEqual(expected);
  });
});

test('a payment concerns the native asset even when it failed, and moved nothing', async () => {
  const failed = block([transaction({ value: 1n, success: false })]);
  expect(await itemsFor({ asset_type: 'native' }, failed)).toHaveLength(1);
});

describe('filters of activities', () => {
  const activities = all.filter((name) => name !== 'fails to send USDC');
  test.each([
    [{}, activities],
    [{ activity_type: 'send' }, ['pays Bob', 'sends USDC']],
    [{ activity_type: 'receive' }, ['is paid by Carol']],
    [{ activity_type: 'approve' }, ['approves USDC']],
    [{ activity_type: 'mint' }, ['mints an ape']],
    [{ activity_type: 'burn' }, ['burns a potion']],
    [{ activity_type: 'swap' }, ['swaps USDC for WETH']],
    [{ activity_type: 'call' }, ['calls the router', 'calls WETH']],
    [{ activity_type: 'call', asset_type: 'erc20' }, []],
    [{ asset_type: 'native' }, ['pays Bob', 'is paid by Carol']],
    [{ asset_type: 'erc20' }, ['sends USDC', 'approves USDC', 'swaps USDC for WETH']],
    [{ asset_type: 'erc721' }, ['mints an ape']],
    [{ asset_type: 'erc1155' }, ['burns a potion']],
    [{ token_address: WETH }, []],
    [{ token_address: USDC }, ['sends USDC', 'approves USDC']],
    [{ token_address: USDC, asset_type: 'erc721' }, []],
  ])('%j', async (filter, expected) => {
    expect(await notified({ type: 'activities', ...filter })).toEqual(expected);
  });
});

describe('filters of balance changes', () => {
  test.each([
    [
      {},
      ['pays Bob', 'is paid by Carol', 'sends USDC', 'mints an ape', 'burns a potion', 'swaps USDC for WETH'],
    ],
    [{ asset_type: 'native' }, ['pays Bob', 'is paid by Carol']],
    [{ asset_type: 'erc20' }, ['sends USDC', 'swaps USDC for WETH']],
    [{ asset_type: 'erc721' }, ['mints an ape']],
    [{ token_address: POTIONS }, ['burns a potion']],
    [{ token_address: WETH, asset_type: 'erc20' }, ['swaps USDC for WETH']],
    [{ token_address: WETH, asset_type: 'erc721' }, []],
  ])('%j', async (filter, expected) => {
    expect(await notified({ type: 'balances', ...filter })).toEqual(expected);
  });
});

describe('chains', () => {
  const everywhere = [MAINNET, BASE, SILENT].map((chain) => block([transaction()], chain));
  test.each([
    [null, [1, 8453]],
    [[8453], [8453]],
    [
      [8453, 1],
      [1, 8453],
    ],
    [[], []],
  ])(
    '%j: a block on a chain that webhooks do not support is never delivered',
    async (chain_ids, expected) => {
      const items = await itemsFor({ chain_ids }, ...everywhere);
      expect(items.map(({ chain_id }) => chain_id).sort()).toEqual(expected);
    },
  );
});

describe('addresses', () => {
  test('a webhook without addresses delivers nothing', async () => {
    expect(await itemsFor({ addresses: [] }, EVENTFUL)).toEqual([]);
    expect(await itemsFor({ addresses: [ROUTER], transaction_type: 'sender' }, EVENTFUL)).toEqual([]);
  });

  test('match whatever their case', async () => {
    const shouted = `0x${ALICE.slice(2).toUpperCase()}`;
    expect(await itemsFor({ addresses: [shouted], counterparty: BOB }, EVENTFUL)).toHaveLength(1);
  });

  test('count from their addition until their removal', async () => {
    await using service = await startDelivering();
    const id = service.create({ addresses: [CAROL] });
    const deliver = async (): Promise<number> => {
      service.webhooks.handleBlock(block([transaction()]));
      await service.webhooks.settled();
      return service.receiver.received.length;
    };
    expect(await deliver()).toBe(0);
    service.ask('PATCH', `/${id}/addresses`, { add_addresses: [ALICE], remove_addresses: [ALICE] });
    expect(await deliver()).toBe(1);
    service.ask('PATCH', `/${id}/addresses`, { remove_addresses: [ALICE] });
    expect(await deliver()).toBe(1);
    service.ask('PUT', `/${id}/addresses`, { addresses: [BOB] });
    expect(await deliver()).toBe(2);
    service.ask('DELETE', `/${id}`);
    expect(await deliver()).toBe(2);
  });
});

test('a cleared filter lets events through again', async () => {
  await using service = await startDelivering();
  const id = service.create({ counterparty: CAROL });
  service.webhooks.handleBlock(block([transaction()]));
  service.json('PATCH', `/${id}`, { counterparty: null });
  service.webhooks.handleBlock(block([transaction({ nonce: 10 })]));
  await service.webhooks.settled();
  const [only, ...others] = service.receiver.received;
  expect(JSON.parse(only?.body ?? '')).toMatchObject({ transactions: [{ nonce: '0xa' }] });
  expect(others).toEqual([]);
});
