import { describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { startSandbox } from '../../src/backend/sandbox/sandbox.ts';
import { activity } from '../../src/lookups/activity.ts';
import { ALICE } from '../backend/dispatch/support/builders.ts';
import { deliver } from '../support/clients/deliver.ts';
import { codesOf, heldKey, startGateway } from '../support/gateway/start.ts';
import { addressOf, type Fields, freshAddress, hashOf, timeAt } from '../support/upstream/builders.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';
import { BLOCKS } from '../webhooks/support/block-fixtures.ts';
import { startManaged } from '../webhooks/support/managed.ts';

const TOKEN = 'id chainId address isNative symbol name decimals logo';

const FIELDS = `id wallet { id address } type typeName chainId blockNumber blockTime transactionHash transactionFrom
  transactionTo transactionValue assetType tokenAddress tokenId from to value valueUsd lowLiquidity subscribedAddress spender
  callType function contractName token { ${TOKEN} }
  swap { from { value token { ${TOKEN} } } to { value token { ${TOKEN} } } }`;

const listed = (fields: string): string =>
  `query ($address: Address!) { wallet(address: $address) { activity(first: 100) { nodes { ${fields} } partialErrors } } }`;

type Answer = { wallet: { activity: { nodes: (Fields | null)[]; partialErrors: unknown } } };

/** What the gateway shows of these items, written from bytes where plans can, and from values, which `id` needs. */
const shown = async (...items: Fields[]) => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.scriptsOf(activity).set(address, () => ({ json: { activity: items } }));
  const fromValues = await gateway.query<Answer>(listed(FIELDS), { address });
  const fromBytes = await gateway.query<Answer>(listed(FIELDS.slice('id '.length)), { address });
  const nodes = fromValues.data?.wallet.activity.nodes ?? [];
  expect(fromBytes.data?.wallet.activity.nodes).toEqual(
    nodes.map((node) => {
      const { id: _, ...others } = node ?? {};
      return node && others;
    }),
  );
  expect(fake.requestsFor(address)).toHaveLength(1);
  return { nodes, address, errors: fromValues.errors };
};

const base = {
  chain_id: 1,
  block_number: 21_819_541,
  block_time: '2025-10-11T03:47:29.364380268+00:00',
  tx_hash: hashOf(0xabc),
};

const usdc = {
  symbol: 'USDC',
  decimals: 6,
  name: 'USD Coin',
  logo: 'https://example.com/token/logo/1/0xa0b8',
  price_usd: 0.9998123401963013,
  pool_size: 35_721_986.87,
  standard: 'erc20',
};

const nothing = Object.fromEntries(
  FIELDS.split(/\s+/)
    .slice(0, FIELDS.split(/\s+/).indexOf('token'))
    .filter((name) => /^\w+$/.test(name) && name !== 'address')
    .map((name) => [name, null]),
);

describe('every type of activity reaches the client', () => {
  test('a transfer: the own side stays null, and its token has what the item says', async () => {
    const { nodes, address } = await shown({
      ...base,
      type: 'send',
      asset_type: 'erc20',
      token_address: addressOf(0xa0b8).toUpperCase().replace('0X', '0x'),
      to: addressOf(7),
      value: '573000000',
      value_usd: 0.14017463965013963,
      token_metadata: usdc,
    });
    expect(nodes).toEqual([
      {
        ...nothing,
        id: expect.any(String),
        wallet: { id: btoa(`Wallet:${address}`), address },
        type: 'SEND',
        typeName: 'send',
        chainId: 1,
        blockNumber: '21819541',
        blockTime: '2025-10-11T03:47:29.364Z',
        transactionHash: hashOf(0xabc),
        assetType: 'ERC20',
        tokenAddress: addressOf(0xa0b8),
        to: addressOf(7),
        value: '573000000',
        valueUsd: '0.14017463965013963',
        lowLiquidity: false,
        subscribedAddress: address,
        token: {
          id: btoa(`Token:1:${addressOf(0xa0b8)}`),
          chainId: 1,
          address: addressOf(0xa0b8),
          isNative: false,
          symbol: 'USDC',
          name: 'USD Coin',
          decimals: 6,
          logo: 'https://example.com/token/logo/1/0xa0b8',
        },
        swap: null,
      },
    ]);
  });

  test('a native transfer without metadata has the native token, and a thin token is of low liquidity', async () => {
    const { nodes } = await shown(
      { ...base, type: 'receive', asset_type: 'native', from: addressOf(8), value: '1000000000000000000' },
      {
        ...base,
        type: 'mint',
        asset_type: 'erc721',
        token_address: addressOf(9),
        id: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
        token_metadata: { symbol: 'THIN', pool_size: 1233.5, price_usd: 1.233346836175539e21 },
      },
    );
    expect(nodes).toMatchObject([
      {
        type: 'RECEIVE',
        assetType: 'NATIVE',
        from: addressOf(8),
        to: null,
        token: {
          id: btoa('Token:1:native'),
          isNative: true,
          address: null,
          symbol: 'ETH',
          decimals: 18,
        },
      },
      {
        tokenId: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
        lowLiquidity: true,
        token: { symbol: 'THIN' },
      },
    ]);
  });

  test.each([{ native: 'native' }, { native: '' }])(
    'a swap, whose native side is spelled "$native", has two tokens and none of its own',
    async ({ native }) => {
      const { nodes } = await shown({
        ...base,
        type: 'swap',
        asset_type: 'native',
        to: addressOf(5),
        from_token_address: native,
        from_token_value: '1000000000000000000',
        to_token_address: addressOf(0xa0b8),
        to_token_value: '2500000000',
        to_token_metadata: { symbol: 'USDC', decimals: 6, name: 'USD Coin', logo: null },
      });
      expect(nodes).toMatchObject([
        {
          type: 'SWAP',
          token: null,
          swap: {
            from: { value: '1000000000000000000', token: { id: btoa('Token:1:native'), isNative: true } },
            to: { value: '2500000000', token: { address: addressOf(0xa0b8), symbol: 'USDC', logo: null } },
          },
        },
      ]);
    },
  );

  test('an approval, a call with a function of any JSON, a burn, and a type that nobody knows', async () => {
    const unlimited = String(2n ** 256n - 1n);
    const call = {
      signature: '0xa9059cbb',
      name: 'f',
      inputs: [{ name: 'a', type: 't', value: [1, { b: 2 }] }],
    };
    const { nodes } = await shown(
      {
        ...base,
        type: 'approve',
        asset_type: 'erc20',
        token_address: addressOf(1),
        spender: addressOf(2),
        value: unlimited,
      },
      { ...base, type: 'call', to: addressOf(3), function: call, contract_metadata: { name: 'Vault' } },
      { ...base, type: 'call', from: addressOf(3), function: 'text', tx_from: addressOf(4), tx_to: null },
      { ...base, type: 'burn', asset_type: 'erc1155', token_address: addressOf(5), id: '7', value: '3' },
      { ...base, type: 'transfer', nft_metadata: { name: 'x' }, success: true },
    );
    expect(nodes).toMatchObject([
      { type: 'APPROVE', spender: addressOf(2), value: unlimited, token: { address: addressOf(1) } },
      { type: 'CALL', function: call, contractName: 'Vault', token: null, swap: null, assetType: null },
      { type: 'CALL', function: 'text', from: addressOf(3), transactionFrom: addressOf(4) },
      { type: 'BURN', assetType: 'ERC1155', tokenId: '7', to: null },
      { type: null, typeName: 'transfer', token: null },
    ]);
  });
});

test('equal activities of a transaction have ids of their own, which prices do not change', async () => {
  const airdrop = { ...base, type: 'receive', asset_type: 'erc20', token_address: addressOf(1), value: '5' };
  const other = { ...airdrop, tx_hash: hashOf(1) };
  const ids = async (price: number) => {
    const priced = { token_metadata: { price_usd: price }, value_usd: price };
    const { nodes, address } = await shown(
      { ...airdrop, ...priced },
      { ...airdrop, ...priced },
      { ...other, ...priced },
    );
    return nodes.map((node) => atob(String(node?.id)).replace(address, 'wallet'));
  };
  const before = await ids(1);
  expect(new Set(before).size).toBe(3);
  expect(await ids(2)).toEqual(before);
});

test('a malformed item is null with an error, and its neighbours stay', async () => {
  const { nodes, errors } = await shown(
    { ...base, type: 'send' },
    { ...base, type: 'send', value: 'much' },
    { ...base, type: 'send', tx_hash: hashOf(5) },
  );
  expect(nodes.map((node) => node !== null)).toEqual([true, false, true]);
  expect(codesOf({ errors })).toEqual(['UPSTREAM_INVALID_RESPONSE']);
});

test('equal filters in any order are one request of 3 compute units, and other filters another list', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const items = [{ ...base, type: 'send', block_time: timeAt(1) }];
  fake.scriptsOf(activity).set(address, () => ({
    json: { activity: items, warnings: [{ code: 'UNSUPPORTED_CHAIN_IDS', message: 'm', chain_ids: [5] }] },
    headers: { 'x-compute-units-cost': '3' },
  }));
  const reply = await gateway.query(
    `query ($address: Address!, $a: Address!, $b: Address!) { wallet(address: $address) {
      one: activity(types: [SEND, MINT, SEND], assetTypes: [ERC721, ERC20], tokens: [$b, $a], chainIds: [8453, 1]) { partialErrors }
      two: activity(types: [MINT, SEND], assetTypes: [ERC20, ERC721], tokens: [$a, $b], chainIds: [1, 8453], first: 3) { nodes { typeName } }
      all: activity(types: [], tokens: []) { nodes { typeName } }
    } }`,
    { address, a: addressOf(1), b: addressOf(2) },
  );
  expect(reply.errors).toBeUndefined();
  expect(reply.extensions.upstream).toMatchObject({ requests: 2, computeUnits: 6 });
  expect(fake.requestsFor(address).map(({ query }) => Object.fromEntries(query))).toEqual([
    {
      limit: '100',
      chain_ids: '1,8453',
      activity_type: 'mint,send',
      asset_type: 'erc20,erc721',
      token_address: `${addressOf(1)},${addressOf(2)}`,
    },
    { limit: '100' },
  ]);
  expect(reply.data).toMatchObject({
    wallet: { one: { partialErrors: { warnings: [{ code: 'UNSUPPORTED_CHAIN_IDS' }] } } },
  });
});

test('an operation that is too expensive is refused before a request, with the price and the cheaper way', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '29' });
  const { errors } = await gateway.query(
    'query ($address: Address!) { wallet(address: $address) { activity(first: 1000) { nodes { id } } } }',
    {
      address: freshAddress(),
    },
  );
  expect(errors?.[0]).toMatchObject({
    extensions: { code: 'OPERATION_TOO_COMPLEX', estimatedComputeUnits: 30 },
  });
  expect(errors?.[0]?.message).toContain('3 compute units');
  expect(fake.requests).toEqual([]);
});

test('a wallet whose activities are delivered here costs nothing until a delivery names it', async () => {
  await using managed = await startManaged({ CACHE_HEAD_MS: '0', CACHE_STALE_MS: '0' });
  const { gateway, sandbox } = managed;
  const cost = async () =>
    (
      await gateway.query(
        'query ($address: Address!) { wallet(address: $address) { activity { nodes { typeName } } } }',
        { address: ALICE },
      )
    ).extensions.upstream;
  await gateway.data(
    'mutation ($address: Address!) { watchWallet(input: { address: $address }) { __typename } }',
    { address: ALICE },
  );
  const watched = { requests: 0, computeUnits: 0, cached: 1, watched: 1 };
  await expect.poll(cost).toEqual(watched);
  for (const block of BLOCKS) sandbox.webhooks.handleBlock(block);
  await sandbox.webhooks.settled();
  expect(await cost()).toMatchObject({ requests: 1, computeUnits: 3 });
  expect(await cost()).toEqual(watched);
});

test('a delivery says of an activity what a lookup says, under the same id where its wallet is known, and no id of a list elsewhere', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const airdrop = {
    ...base,
    type: 'receive',
    asset_type: 'erc20',
    token_address: addressOf(1),
    from: addressOf(2),
    value: '5',
    value_usd: 1.25,
    token_metadata: usdc,
  };
  const swap = {
    ...base,
    type: 'swap',
    from_token_address: 'native',
    from_token_value: '1',
    to_token_address: addressOf(3),
    to_token_value: '2',
  };
  const items = [airdrop, airdrop, swap, { ...base, type: 'call', contract_metadata: { name: 'Vault' } }];
  const address = freshAddress();
  fake.scriptsOf(activity).set(address, () => ({ json: { activity: items } }));
  const own = items.map((item) => ({ ...item, subscribed_address: address }));
  expect(await deliver(deliveryUrl, { body: { activities: items } })).toBe(200);
  expect(await deliver(deliveryUrl, { body: { activities: own } })).toBe(200);
  const fields = FIELDS.replace('wallet { id address }', '').replace('subscribedAddress', '');
  const { wallet } = await gateway.data<Answer>(listed(fields), { address });
  const { deliveries } = await gateway.data<{ deliveries: { nodes: { events: Fields[] }[] } }>(
    `{ deliveries { nodes { events { ... on Activity { wallet { id } ${fields} } } } } }`,
  );
  const listedOnes = wallet.activity.nodes;
  const [unknown = [], known] = deliveries.nodes.map(({ events }) => events);
  expect(known).toEqual(listedOnes.map((node) => ({ ...node, wallet: { id: btoa(`Wallet:${address}`) } })));
  expect(unknown).toEqual(listedOnes.map((node) => ({ ...node, id: expect.any(String), wallet: null })));
  const ids = [...unknown, ...listedOnes].map((node) => node?.id);
  expect(new Set(ids).size).toBe(2 * items.length);
});

test('the sandbox lists equal activities of one transaction, and all of them in their order', async () => {
  const sandbox = await startSandbox({ apiKey: heldKey });
  try {
    await using gateway = await startGateway({ UPSTREAM_URL: sandbox.url });
    const { wallet } = await gateway.data<Answer>(listed('id transactionHash blockTime'), {
      address: demoAddress('caller'),
    });
    const { nodes } = wallet.activity;
    const ids = nodes.map((node) => node?.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(nodes.map((node) => node?.transactionHash)).size).toBeLessThan(nodes.length);
    const times = nodes.map((node) => String(node?.blockTime));
    expect(times).toEqual(times.toSorted().reverse());
  } finally {
    await sandbox.stop();
  }
});
