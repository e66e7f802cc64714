import { describe, expect, test } from 'vitest';
import {
  ALICE,
  APES,
  approval,
  BOB,
  block,
  KNOWN_CALL,
  log,
  logoOf,
  NOBODY,
  nativeTransfer,
  nftTransfer,
  ROUTER,
  swap,
  transaction,
  transfer,
  UNKNOWN_CALL,
  USDC,
  WETH,
  wallet,
} from './support/builders.ts';
import { itemsFor } from './support/service.ts';

describe('transactions', () => {
  test('have the documented fields: decoded by default, integers for block and index, the side instead of the type', async () => {
    const sent = transaction({
      to: USDC,
      data: KNOWN_CALL,
      index: 3,
      value: 255n,
      logs: [log(), log({ topics: ['0x99'] })],
    });
    const [item] = await itemsFor({}, block([sent]));
    expect(item).toEqual({
      address: ALICE,
      block_hash: sent.blockHash,
      block_number: 17,
      block_time: '2025-11-13T04:42:10+00:00',
      chain: 'ethereum',
      chain_id: 1,
      created_contract: null,
      data: KNOWN_CALL,
      decoded: { name: 'transfer', inputs: [{ name: 'to', type: 'address', value: BOB }] },
      effective_gas_price: '0x384',
      fee: '0x1206420',
      from: ALICE,
      gas_price: '0x3e8',
      gas_used: '0x5208',
      hash: sent.hash,
      index: 3,
      logs: [
        {
          ...log(),
          decoded: { name: 'Transfer', inputs: [{ name: 'value', type: 'uint256', value: '5' }] },
        },
        { ...log(), topics: ['0x99'] },
      ],
      nonce: '0x9',
      success: true,
      to: USDC,
      transaction_type: 'Sender',
      value: '0xff',
    });
  });

  test('include a creation with a null receiver, a failure, and an unknown call without decoded data', async () => {
    const creation = transaction({ to: null, data: UNKNOWN_CALL, success: false });
    const [item] = await itemsFor({}, block([creation]));
    expect(item).toMatchObject({ to: null, success: false, logs: [] });
    expect(item).not.toHaveProperty('decoded');
  });

  test('are one item for each subscribed side: the sender and the receiver of one transaction are two items', async () => {
    const items = await itemsFor({ addresses: [BOB, ALICE] }, block([transaction()]));
    expect(items.map((item) => [item.address, item.transaction_type])).toEqual([
      [ALICE, 'Sender'],
      [BOB, 'Receiver'],
    ]);
  });

  test('to oneself are one item, of the sender, or of the receiver when the webhook filters for receivers', async () => {
    const toSelf = block([transaction({ to: ALICE })]);
    const sides = async (fields: Record<string, unknown>) =>
      (await itemsFor(fields, toSelf)).map((item) => item.transaction_type);
    expect(await sides({})).toEqual(['Sender']);
    expect(await sides({ transaction_type: 'sender' })).toEqual(['Sender']);
    expect(await sides({ transaction_type: 'receiver' })).toEqual(['Receiver']);
  });

  test('do not go to the receiver of a token', async () => {
    const paid = transaction({ to: USDC, data: KNOWN_CALL, effects: [transfer()] });
    expect(await itemsFor({ addresses: [BOB] }, block([paid]))).toEqual([]);
  });
});

/** The activities of an address in a transaction with these effects. */
const activities = (address: string, fields: Parameters<typeof transaction>[0]) =>
  itemsFor({ type: 'activities', addresses: [address] }, block([transaction(fields)]));

const USDC_METADATA = {
  symbol: 'USDC',
  decimals: 6,
  name: 'USD Coin',
  logo: logoOf(USDC),
  price_usd: 1,
  pool_size: 2_000_000,
};

describe('activities', () => {
  test('send: only the receiver is named, and the USD value is computed', async () => {
    expect(await activities(ALICE, { to: USDC, data: KNOWN_CALL, value: 7n, effects: [transfer()] })).toEqual(
      [
        {
          chain_id: 1,
          block_number: 17,
          block_time: '2025-11-13T04:42:10+00:00',
          tx_hash: transaction().hash,
          tx_from: ALICE,
          tx_to: USDC,
          tx_value: '7',
          type: 'send',
          asset_type: 'erc20',
          token_address: USDC,
          value: '5000000',
          value_usd: 5,
          token_metadata: USDC_METADATA,
          to: BOB,
          subscribed_address: ALICE,
        },
      ],
    );
  });

  test('receive: only the sender is named', async () => {
    const [item, ...others] = await activities(BOB, { effects: [transfer()] });
    expect(item).toMatchObject({ type: 'receive', from: ALICE });
    expect(item).not.toHaveProperty('to');
    expect(others).toEqual([]);
  });

  test('the native asset has no token address, and its own name and price', async () => {
    const [item] = await activities(BOB, { effects: [nativeTransfer()] });
    expect(item).toMatchObject({
      asset_type: 'native',
      value: '1000000000000000000',
      value_usd: 2500,
      token_metadata: { symbol: 'ETH', decimals: 18, name: 'Ether', logo: logoOf(null), price_usd: 2500 },
    });
    expect(item).not.toHaveProperty('token_address');
  });

  test('mint and burn: a movement from and to the zero address, with the token id', async () => {
    const [minted] = await activities(BOB, { effects: [nftTransfer({ from: NOBODY })] });
    expect(minted).toMatchObject({
      type: 'mint',
      asset_type: 'erc721',
      token_address: APES,
      id: '77',
      from: NOBODY,
    });
    const [burned] = await activities(ALICE, { effects: [nftTransfer({ to: NOBODY })] });
    expect(burned).toMatchObject({ type: 'burn', id: '77', value: '1', to: NOBODY });
    expect(burned).not.toHaveProperty('value_usd');
    expect(burned?.token_metadata).toEqual({ symbol: 'APE', decimals: 0, name: 'Apes' });
  });

  test('the zero address has no activities of its own', async () => {
    expect(await activities(NOBODY, { effects: [nftTransfer({ from: NOBODY })] })).toEqual([]);
  });

  test('approve: the owner gets the spender and the exact amount, without a USD value', async () => {
    const [item, ...others] = await activities(ALICE, { to: USDC, data: KNOWN_CALL, effects: [approval()] });
    expect(item).toMatchObject({
      type: 'approve',
      spender: ROUTER,
      value: (2n ** 256n - 1n).toString(),
      token_metadata: USDC_METADATA,
    });
    expect(item).not.toHaveProperty('value_usd');
    expect(others).toEqual([]);
  });

  test('swap: one item for the trader, without items for its two transfers; the pool gets transfers', async () => {
    const trade = swap();
    const pool = wallet('9001');
    const effects = [
      transfer({ to: pool }),
      transfer({ from: pool, to: ALICE, token: WETH, value: trade.bought.value }),
      trade,
    ];
    const fields = { to: ROUTER, data: UNKNOWN_CALL, effects };
    expect(await activities(ALICE, fields)).toEqual([
      expect.objectContaining({
        type: 'swap',
        asset_type: 'erc20',
        value_usd: 5,
        to: ROUTER,
        from_token_address: USDC,
        from_token_value: '5000000',
        from_token_metadata: USDC_METADATA,
        to_token_address: WETH,
        to_token_value: '2000000000000000',
        to_token_metadata: {
          symbol: 'WETH',
          decimals: 18,
          name: 'Wrapped Ether',
          logo: logoOf(WETH),
          price_usd: 2500,
          pool_size: 2_000_000,
        },
      }),
    ]);
    for (const field of ['token_address', 'token_metadata', 'value', 'id'])
      expect((await activities(ALICE, fields))[0]).not.toHaveProperty(field);
    expect((await activities(pool, fields)).map(({ type }) => type)).toEqual(['receive', 'send']);
  });

  test.each([
    ['another amount', { value: 1n }],
    ['another token', { token: USDC }],
  ])('a transfer of %s than the swap bought is an item of its own', async (_, other) => {
    const incoming = transfer({ from: ROUTER, to: ALICE, token: WETH, value: swap().bought.value, ...other });
    const items = await activities(ALICE, { to: ROUTER, data: UNKNOWN_CALL, effects: [incoming, swap()] });
    expect(items.map(({ type }) => type)).toEqual(['receive', 'swap']);
  });

  test('swap of the native asset has no from_token_address', async () => {
    const [item] = await activities(ALICE, { effects: [swap({ sold: { token: null, value: 10n ** 18n } })] });
    expect(item).toMatchObject({ asset_type: 'native', value_usd: 2500, to_token_address: WETH });
    expect(item).not.toHaveProperty('from_token_address');
  });

  test('call: outgoing for the caller, incoming for the contract, with the function when it can be decoded', async () => {
    const fields = { to: ROUTER, data: KNOWN_CALL, value: 3n };
    expect(await activities(ALICE, fields)).toEqual([
      expect.objectContaining({
        type: 'call',
        call_type: 'outgoing',
        to: ROUTER,
        value: '3',
        data: KNOWN_CALL,
        function: {
          signature: '0xa9059cbb',
          name: 'transfer',
          inputs: [{ name: 'to', type: 'address', value: BOB }],
        },
      }),
    ]);
    const [incoming] = await activities(ROUTER, { ...fields, data: UNKNOWN_CALL });
    expect(incoming).toMatchObject({ type: 'call', call_type: 'incoming', from: ALICE });
    expect(incoming).not.toHaveProperty('function');
  });

  test('a call has no asset, also where the contract is a token', async () => {
    for (const [concerned, other] of [
      [ALICE, 'to'],
      [USDC, 'from'],
    ] as const) {
      const [item] = await activities(concerned, { to: USDC, data: UNKNOWN_CALL });
      expect(item).toMatchObject({ type: 'call', [other]: concerned === ALICE ? USDC : ALICE });
      expect(item).not.toHaveProperty('asset_type');
      expect(item).not.toHaveProperty('token_address');
    }
  });

  test('no call item beside another activity, for a plain payment, a creation or a failure', async () => {
    const types = async (fields: Parameters<typeof transaction>[0]) =>
      (await activities(ALICE, fields)).map(({ type }) => type);
    expect(await types({ to: USDC, data: KNOWN_CALL, effects: [transfer()] })).toEqual(['send']);
    expect(await types({ value: 1n })).toEqual([]);
    expect(await types({ to: null, data: UNKNOWN_CALL })).toEqual([]);
    expect(await types({ to: USDC, data: KNOWN_CALL, success: false })).toEqual([]);
  });

  test('an unknown token has no metadata', async () => {
    const [item] = await activities(ALICE, { effects: [transfer({ token: wallet('777') })] });
    expect(item).toMatchObject({ token_address: wallet('777'), value: '5000000' });
    expect(item).not.toHaveProperty('token_metadata');
    expect(item).not.toHaveProperty('value_usd');
  });
});
