import { expect, test } from 'vitest';
import { demoAddress } from '../../../src/backend/sandbox/chain/wallet-profiles.ts';
import { startSandbox } from '../../../src/backend/sandbox/sandbox.ts';
import { deliver } from '../../support/clients/deliver.ts';
import { type Gateway, heldKey, nowhere, startGateway } from '../../support/gateway/start.ts';
import { addressOf } from '../../support/upstream/builders.ts';
import { change } from '../../webhooks/support/documents.ts';

const TOKEN = 'id chainId address isNative symbol name decimals logo';

/** The fields of an event that an activity feed shows beside addresses, time and amount. */
const FEED = `{
  deliveries(first: 1000) {
    nodes {
      events {
        __typename
        ... on Activity {
          type tokenAddress value valueUsd spender callType function lowLiquidity
          token { ${TOKEN} }
          swap { from { value token { ${TOKEN} } } to { value token { ${TOKEN} } } }
        }
        ... on BalanceChange { tokenSymbol tokenLogo lowLiquidity poolSizeUsd }
      }
    }
  }
}`;

type Token = {
  id: string;
  chainId: number;
  isNative: boolean;
  address: string | null;
  symbol: string | null;
  name: string | null;
  decimals: number | null;
  logo: string | null;
};
type Side = { value: string | null; token: Token | null } | null;
type Shown = {
  __typename: 'Activity' | 'BalanceChange';
  type: string | null;
  tokenAddress: string | null;
  value: string | null;
  spender: string | null;
  callType: string | null;
  valueUsd: string | null;
  function: unknown;
  token: Token | null;
  swap: { from: Side; to: Side } | null;
  tokenSymbol: string | null;
  tokenLogo: string | null;
  lowLiquidity: boolean | null;
  poolSizeUsd: string | null;
};

const feed = async (gateway: Gateway): Promise<Shown[]> => {
  const { deliveries } = await gateway.data<{ deliveries: { nodes: { events: Shown[] }[] } }>(FEED);
  return deliveries.nodes.flatMap(({ events }) => events);
};

const shown = async (body: object): Promise<Shown[]> => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  expect(await deliver(deliveryUrl, { body })).toBe(200);
  return await feed(gateway);
};

const some = <Value>(values: readonly Value[]): readonly Value[] => {
  expect(values).not.toEqual([]);
  return values;
};

test('one query over the sandbox has the data of a feed: tokens, both sides of swaps, spenders, calls, pools', async () => {
  const now = () => Date.parse('2026-01-02T03:04:05Z');
  const sandbox = await startSandbox({ apiKey: heldKey, retryBaseMs: 1, now });
  try {
    await using gateway = await startGateway({ UPSTREAM_URL: sandbox.url });
    const addresses = ['metronome', 'swapper', 'approver', 'enigma', 'whale', 'payer'].map(demoAddress);
    await change(gateway, 'createWebhook', { name: 'a', type: 'ACTIVITIES', addresses });
    await change(gateway, 'createWebhook', { name: 'b', type: 'BALANCES', addresses });
    for (let count = 0; count < 60; count += 1) sandbox.mine(1);
    await sandbox.webhooks.settled();
    const events = await feed(gateway);
    const ofType = (wanted: string) => some(events.filter(({ type }) => type === wanted));

    const priced = some(
      events.filter(({ token, valueUsd }) => token?.isNative === false && valueUsd != null),
    );
    for (const { token, tokenAddress } of priced) {
      expect(token).toMatchObject({
        address: tokenAddress,
        symbol: expect.any(String),
        name: expect.any(String),
        decimals: expect.any(Number),
        logo: expect.stringMatching(/^http:/),
      });
    }
    const logo = await fetch(priced[0]?.token?.logo ?? '');
    expect(await logo.text()).toContain(priced[0]?.token?.symbol?.slice(0, 4));

    for (const { swap, token, value, spender } of ofType('SWAP')) {
      expect([token, value]).toEqual([null, null]);
      for (const side of [swap?.from, swap?.to]) {
        expect(side).toEqual({
          token: expect.objectContaining({ symbol: expect.any(String), decimals: expect.any(Number) }),
          value: expect.stringMatching(/^\d+$/),
        });
      }
      expect(spender).toBeNull();
    }
    for (const { spender, swap } of ofType('APPROVE')) {
      expect(spender).toMatch(/^0x[0-9a-f]{40}$/);
      expect(swap).toBeNull();
    }
    const calls = ofType('CALL');
    for (const { callType } of calls) expect(callType).toMatch(/^(outgoing|incoming)$/);
    expect(calls.filter((call) => call.function === null).length).toBeGreaterThan(0);

    const changes = some(events.filter(({ __typename }) => __typename === 'BalanceChange'));
    for (const { tokenLogo, lowLiquidity, poolSizeUsd } of some(
      changes.filter(({ tokenSymbol }) => tokenSymbol === 'USDC'),
    )) {
      expect(tokenLogo).toMatch(/^http:/);
      expect({ lowLiquidity, poolSizeUsd }).toEqual({ lowLiquidity: false, poolSizeUsd: '48210330.5' });
    }
    for (const { lowLiquidity, poolSizeUsd } of some(
      changes.filter(({ tokenSymbol }) => tokenSymbol === 'MOTH'),
    ))
      expect({ lowLiquidity, poolSizeUsd }).toEqual({ lowLiquidity: true, poolSizeUsd: '3150.75' });
  } finally {
    await sandbox.stop();
  }
});

/** A chain's own currency, of which the gateway knows what it is called. */
const NATIVE = {
  id: btoa('Token:10:native'),
  chainId: 10,
  address: null,
  isNative: true,
  symbol: 'ETH',
  name: 'Ether',
  decimals: 18,
  logo: null,
};

/** A token of which an item says nothing else. */
const NOTHING = { ...NATIVE, isNative: false, symbol: null, name: null, decimals: null };

test('the formats of other deployments are read: strings for numbers, amounts, names beside the metadata', async () => {
  const [event] = await shown({
    activities: [
      {
        type: 'receive',
        asset_type: 'Native',
        chain_id: 10,
        token_symbol: 'ONE',
        token_metadata: { decimals: '18', price_usd: '0.5', logo: 'ipfs://bafy/one.png' },
        from_token_address: addressOf(1).toUpperCase().replace('0X', '0x'),
        from_token_symbol: 'ONE',
        from_token_amount: 12,
        to_token_metadata: { name: 'Two', decimals: 6 },
        to_token_value: '0xff',
        spender: addressOf(0xab).toUpperCase().replace('0X', '0x'),
        function: { name: 'swap', inputs: [{ value: 1 }] },
      },
    ],
  });
  expect(event).toMatchObject({
    token: NATIVE,
    swap: {
      from: {
        value: '12',
        token: { ...NOTHING, id: idOf(10, addressOf(1)), address: addressOf(1), symbol: 'ONE' },
      },
      to: { value: '255', token: NATIVE },
    },
    spender: addressOf(0xab),
    callType: null,
    function: { name: 'swap', inputs: [{ value: 1 }] },
  });
});

const idOf = (chainId: number, address: string): string => btoa(`Token:${chainId}:${address}`);

test('a token has the identity that it has everywhere, or is null', async () => {
  const known = { token_metadata: { symbol: 'T', pool_size: 9999.5 } };
  const events = await shown({
    activities: [
      { chain_id: 1, asset_type: 'erc20', token_address: addressOf(7), ...known },
      { chain_id: 1, asset_type: 'native', ...known },
      { chain_id: 1, asset_type: 'ERC20', ...known },
      { asset_type: 'erc20', token_address: addressOf(7), ...known, from_token_symbol: 'T' },
      {
        chain_id: 1,
        from_token_address: 'native',
        from_token_value: 2,
        to_token_address: '',
        to_token_value: 1,
      },
    ],
  });
  expect(events).toMatchObject([
    { token: { id: idOf(1, addressOf(7)), isNative: false, symbol: 'T' }, lowLiquidity: true },
    { token: { id: btoa('Token:1:native'), address: null, isNative: true, symbol: 'ETH' } },
    { token: null },
    { token: null, swap: { from: { token: null, value: null }, to: null } },
    {
      token: null,
      swap: {
        from: { token: { id: btoa('Token:1:native') } },
        to: { token: { isNative: true }, value: '1' },
      },
    },
  ]);
});

test('a malformed or absent value is null, and affects no other field', async () => {
  const events = await shown({
    activities: [
      {
        type: 'receive',
        asset_type: 'native',
        chain_id: 10,
        value: '7',
        spender: 'nobody',
        token_metadata: {
          symbol: 5,
          decimals: -1,
          price_usd: 'dear',
          logo: 'javascript:alert(1)',
          name: 'Odd',
        },
        from_token_metadata: 'a coin',
        to_token_value: '1.5',
      },
      {
        type: 'call',
        chain_id: 10,
        value: '8',
        token_metadata: [],
        function: null,
        to_token_metadata: { decimals: 2 ** 40 },
      },
    ],
    balance_changes: [
      {
        asset: {
          symbol: 'A',
          low_liquidity: 'TRUE',
          pool_size_usd: '12.5',
          token_metadata: { logo: '/a.png' },
        },
      },
      { asset: { symbol: 'B', low_liquidity: 'maybe', pool_size_usd: {}, token_metadata: null } },
      { asset: 'C' },
    ],
  });
  expect(events).toMatchObject([
    { value: '7', spender: null, callType: null, token: NATIVE, swap: null },
    { value: '8', function: null, token: null, swap: null },
    { tokenSymbol: 'A', lowLiquidity: true, poolSizeUsd: '12.5', tokenLogo: null },
    { tokenSymbol: 'B', lowLiquidity: null, poolSizeUsd: null, tokenLogo: null },
    { tokenSymbol: null, lowLiquidity: null, poolSizeUsd: null, tokenLogo: null },
  ]);
});
