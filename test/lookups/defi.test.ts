import { describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { startSandbox } from '../../src/backend/sandbox/sandbox.ts';
import { defiPositions } from '../../src/lookups/defi/defi.ts';
import { codesOf, heldKey, startGateway } from '../support/gateway/start.ts';
import { addressOf, type Fields, freshAddress, hashOf } from '../support/upstream/builders.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

const ASSETS = 'assets { role amount priceUsd valueUsd token { address isNative symbol decimals } }';
const FIELDS = `id type typeName protocol chain chainId valueUsd logo contract positionId lockedUntil ${ASSETS}
  ranges { tokenId tickLower tickUpper ${ASSETS} } details`;

const document = (args: string): string =>
  `query ($address: Address!) { wallet(address: $address) { defiPositions${args} {
    totalValueUsd byChain { chainId totalValueUsd } partialErrors pageInfo { endCursor hasNextPage } nodes { ${FIELDS} }
  } } }`;

type Connection = {
  nodes: (Fields | null)[];
  totalValueUsd: string | null;
  byChain: unknown;
  partialErrors: unknown;
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
};

const startServing = async (json: unknown) => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url }));
  const address = freshAddress();
  fake.scriptsOf(defiPositions).set(address, () => ({ json, headers: { 'x-compute-units-cost': '8' } }));
  const running = made.move();
  return {
    requests: () => fake.requestsFor(address),
    read: async (args = '') => {
      const reply = await gateway.query<{ wallet: { defiPositions: Connection } }>(document(args), {
        address,
      });
      const page = reply.data?.wallet.defiPositions;
      if (!page) throw new Error(`expected positions, got ${reply.body}`);
      return { ...page, errors: reply.errors, cost: reply.extensions.upstream };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

const shown = async (...positions: Fields[]) => {
  await using served = await startServing({ positions });
  return (await served.read()).nodes;
};

const token = (number: number, symbol: string) => ({
  address: addressOf(number),
  name: `The ${symbol}`,
  symbol,
  decimals: 18,
});
const base = { chain: 'ethereum', chain_id: 1, logo: null, value_usd: 10.5 };
const ETHER = { address: `0x${'e'.repeat(40)}`, name: 'Ether', symbol: 'ETH', decimals: 18 };
const ZERO = { address: addressOf(0), name: 'Ether', symbol: 'ETH', decimals: 18 };
const quote = (balance: number) => ({ balance, price_usd: 2, value_usd: 2 * balance });
const is = (role: string, symbol: string, amount: string, more: object = {}) =>
  expect.objectContaining({ role, amount, token: expect.objectContaining({ symbol }), ...more });

describe('each type of the wire becomes a position of assets with roles', () => {
  test.each([
    {
      wire: {
        type: 'Erc4626',
        protocol: 'Unknown',
        token: token(1, 'vUSDC'),
        underlying_token: { ...token(2, 'USDC'), holdings: 1985.86 },
        balance: 1850.75,
        price_usd: 0,
      },
      position: { type: 'VAULT', contract: addressOf(1), positionId: null, protocol: 'Unknown' },
      assets: [is('RECEIPT', 'vUSDC', '1850.75', { priceUsd: '0' }), is('SUPPLIED', 'USDC', '1985.86')],
    },
    {
      wire: {
        type: 'Tokenized',
        token_type: 'AaveV3VariableDebt',
        token: token(1, 'debtUSDC'),
        underlying_token: { address: addressOf(2), holdings: 350.5 },
        lending_pool: addressOf(3),
        balance: 350.5,
        price_usd: 1,
      },
      position: { type: 'RECEIPT', contract: addressOf(3) },
      assets: [
        is('RECEIPT', 'debtUSDC', '350.5'),
        expect.objectContaining({
          role: 'BORROWED',
          amount: '350.5',
          token: expect.objectContaining({ symbol: null }),
        }),
      ],
    },
    {
      wire: {
        type: 'UniswapV2',
        protocol: 'SushiSwapV2',
        pool: addressOf(9),
        token0: { ...token(1, 'A'), price_usd: 1, holdings: 322.4375 },
        token1: { ...token(2, 'B'), price_usd: 3120, holdings: 0.1033 },
        lp_balance: '0x30927f74c9de0000',
        balance: 3.5,
        price_usd: 184.1,
      },
      position: { type: 'POOL', contract: addressOf(9), protocol: 'SushiSwapV2' },
      assets: [
        is('SUPPLIED', 'A', '322.4375', { priceUsd: '1' }),
        is('SUPPLIED', 'B', '0.1033', { priceUsd: '3120' }),
        expect.objectContaining({ role: 'RECEIPT', amount: '3.5', priceUsd: '184.1' }),
      ],
    },
    {
      wire: {
        type: 'Morpho',
        morpho: addressOf(9),
        market_id: hashOf(77),
        loan_token: token(1, 'USDC'),
        collateral_token: token(2, 'WETH'),
        borrow: { ...quote(600), underlying_holdings: 601 },
        collateral_quote: quote(0.5),
      },
      position: { type: 'LENDING', contract: addressOf(9), positionId: hashOf(77) },
      assets: [
        is('BORROWED', 'USDC', '601', { valueUsd: '1200' }),
        is('COLLATERAL', 'WETH', '0.5', { valueUsd: '1' }),
      ],
    },
    {
      wire: {
        type: 'CompoundV3',
        token: token(1, 'cUSDCv3'),
        underlying_token: token(2, 'USDC'),
        supply: quote(75),
        collateral: [{ asset: token(3, 'WETH'), ...quote(0.2) }],
        claimable_rewards: [{ token: token(4, 'COMP'), ...quote(9.1e-5) }],
      },
      position: { type: 'LENDING', contract: addressOf(1) },
      assets: [
        is('SUPPLIED', 'USDC', '75'),
        is('COLLATERAL', 'WETH', '0.2'),
        is('REWARD', 'COMP', '0.000091'),
      ],
    },
    {
      wire: {
        type: 'Pendle',
        token_type: 'Principal',
        token: token(1, 'PT'),
        market: addressOf(2),
        balance: 640,
        price_usd: 1,
      },
      position: { type: 'YIELD', contract: addressOf(2) },
      assets: [is('RECEIPT', 'PT', '640')],
    },
    {
      wire: {
        type: 'FluidVault',
        vault_address: addressOf(3),
        nft_id: '0x113b',
        supply0: { token: ETHER, quote: quote(1.5) },
        borrow0: { token: token(2, 'DAI'), quote: quote(2000) },
      },
      position: { type: 'LEVERAGED_VAULT', contract: addressOf(3), positionId: '4411' },
      assets: [
        is('SUPPLIED', 'ETH', '1.5', { token: expect.objectContaining({ isNative: true, address: null }) }),
        is('BORROWED', 'DAI', '2000'),
      ],
    },
    {
      wire: {
        type: 'VeNft',
        ve_contract: addressOf(3),
        token_id: '0x16062',
        underlying_token: token(1, 'AERO'),
        locked_amount: 64,
        lock_end: 1_861_920_000,
        is_permanent: false,
      },
      position: { type: 'LOCK', positionId: '90210', lockedUntil: '2029-01-01T00:00:00.000Z' },
      assets: [is('LOCKED', 'AERO', '64')],
    },
    {
      wire: {
        type: 'LiquityV2StabilityPool',
        stability_pool: addressOf(3),
        deposit_token: token(1, 'BOLD'),
        collateral_token: token(2, 'WETH'),
        compounded_deposit: 500,
        yield_gain: 0.75,
        coll_gain: 0,
      },
      position: { type: 'STABILITY_POOL', contract: addressOf(3) },
      assets: [is('SUPPLIED', 'BOLD', '500'), is('REWARD', 'BOLD', '0.75'), is('REWARD', 'WETH', '0')],
    },
    {
      wire: {
        type: 'LiquityV2Trove',
        trove_manager: addressOf(3),
        trove_id: hashOf(5),
        collateral_token: token(1, 'WETH'),
        debt_token: token(2, 'BOLD'),
        collateral: quote(1.5),
        debt: quote(2000),
      },
      position: { type: 'DEBT', positionId: hashOf(5) },
      assets: [is('COLLATERAL', 'WETH', '1.5'), is('BORROWED', 'BOLD', '2000')],
    },
    {
      wire: { type: 'LidoStEth', token: token(1, 'stETH'), balance: 0.125, rewards: [{ x: 1 }] },
      position: { type: 'OTHER', typeName: 'LidoStEth', contract: addressOf(1) },
      assets: [is('RECEIPT', 'stETH', '0.125')],
    },
    {
      wire: { type: 'constructor' },
      position: { type: 'OTHER', contract: null, valueUsd: '10.5' },
      assets: [],
    },
  ])('$wire.type', async ({ wire, position, assets }) => {
    const raw = { ...base, ...wire };
    expect(await shown(raw)).toEqual([
      expect.objectContaining({
        chain: 'ethereum',
        chainId: 1,
        logo: null,
        details: raw,
        ...position,
        assets,
      }),
    ]);
  });

  test('concentrated pools: what is in all ranges is added exactly, and the zero address is native', async () => {
    const range = (
      token_id: string,
      holdings: readonly [number, number],
      rewards: readonly [number, number],
    ) => ({
      tick_lower: -276_330,
      tick_upper: -276_310,
      token_id,
      token0: { price_usd: 0, holdings: holdings[0], rewards: rewards[0] },
      token1: { holdings: holdings[1], rewards: rewards[1] },
    });
    const [node] = await shown({
      ...base,
      type: 'NftV4',
      protocol: 'UniswapV4',
      pool_manager: addressOf(9),
      pool_id: hashOf(8),
      salt: hashOf(7),
      token0: ZERO,
      token1: token(2, 'USDC'),
      positions: [
        range('0x4d', [0.1, 10], [2.3754275952306002e-11, 0]),
        range('0xffffffffffffffffffffff', [0.2, 59_754], [0, 0]),
      ],
    });
    expect(node).toMatchObject({ type: 'CONCENTRATED_POOL', contract: addressOf(9), positionId: hashOf(8) });
    expect(node?.assets).toEqual([
      is('SUPPLIED', 'ETH', '0.3', { priceUsd: '0', token: expect.objectContaining({ isNative: true }) }),
      is('SUPPLIED', 'USDC', '59764'),
      is('REWARD', 'ETH', '0.000000000023754275952306002'),
      is('REWARD', 'USDC', '0'),
    ]);
    expect(node?.ranges).toMatchObject([
      { tokenId: '77', tickLower: -276_330, tickUpper: -276_310 },
      { tokenId: String(0xffffffffffffffffffffffn) },
    ]);
  });

  test('the flat shape of older deployments is read', async () => {
    const [node] = await shown({
      type: 'UniswapV2',
      chain_id: 1,
      usd_value: 12.5,
      pool: addressOf(9),
      token0: addressOf(1),
      token0_name: 'One',
      token0_symbol: 'ONE',
      token0_decimals: 18,
      calculated_balance: 3,
      price_in_usd: 4,
    });
    expect(node).toMatchObject({ valueUsd: '12.5' });
    expect(node?.assets).toEqual([
      expect.objectContaining({ role: 'SUPPLIED', token: expect.objectContaining({ symbol: 'ONE' }) }),
      expect.objectContaining({ role: 'RECEIPT', amount: '3', priceUsd: '4' }),
    ]);
  });
});

const wallet = {
  positions: [
    { ...base, type: 'Pendle', token: token(1, 'PT'), balance: 1 },
    { ...base, type: 'Pendle', token: token(1, 'PT'), balance: 2 },
    { ...base, type: 'Sun', x: [1] },
    { ...base, type: 'Sun', x: [2] },
    { ...base, type: 5 },
    { ...base, chain_id: 8453, type: 'VeNft', ve_contract: addressOf(3), token_id: '0x1', lock_end: 0 },
  ],
  aggregations: { total_value_usd: 63.00000000000001, total_by_chain: { 1: 52.5, 8453: 10.5 } },
  warnings: [{ code: 'UNSUPPORTED_CHAIN_IDS', message: 'm', chain_ids: [5] }],
};

test('all come in one request without paging; pages and types are cut from it, equal positions too', async () => {
  await using served = await startServing(wallet);
  const all = await served.read('(chainIds: [1, 8453])');
  expect(all.cost).toMatchObject({ requests: 1, computeUnits: 8 });
  expect(all.totalValueUsd).toBe('63.00000000000001');
  expect(all.byChain).toEqual([
    { chainId: 1, totalValueUsd: '52.5' },
    { chainId: 8453, totalValueUsd: '10.5' },
  ]);
  expect(all.partialErrors).toEqual({ warnings: wallet.warnings });
  expect(all.nodes.map((node) => node?.typeName ?? null)).toEqual([
    'Pendle',
    'Pendle',
    'Sun',
    'Sun',
    null,
    'VeNft',
  ]);
  expect(codesOf(all)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  const ids = all.nodes.flatMap((node) => node?.id ?? []);
  expect(new Set(ids).size).toBe(5);

  const walked: unknown[] = [];
  for (let after = 'null', more = true; more; ) {
    const page = await served.read(`(chainIds: [1, 8453], first: 1, after: ${after})`);
    walked.push(...page.nodes.flatMap((node) => node?.id ?? []));
    after = JSON.stringify(page.pageInfo.endCursor);
    more = page.pageInfo.hasNextPage;
  }
  expect(walked).toEqual(ids);

  const some = await served.read('(chainIds: [8453, 1], types: [LOCK, OTHER])');
  expect(some.nodes.map((node) => node?.typeName ?? null)).toEqual(['Sun', 'Sun', null, 'VeNft']);
  expect([some.totalValueUsd, some.byChain]).toEqual([null, null]);
  expect(served.requests().map(({ query }) => Object.fromEntries(query))).toEqual([{ chain_ids: '1,8453' }]);
});

test('the sandbox has a position of each type and one that nobody knows, and its sums', async () => {
  const sandbox = await startSandbox({ apiKey: heldKey });
  try {
    await using gateway = await startGateway({ UPSTREAM_URL: sandbox.url });
    const reply = await gateway.query<{ wallet: { defiPositions: Connection } }>(
      document('(first: 100, chainIds: [1, 8453])'),
      { address: demoAddress('defi') },
    );
    expect(reply.errors).toBeUndefined();
    expect(reply.extensions.upstream).toMatchObject({ requests: 1, computeUnits: 8 });
    const { nodes, totalValueUsd } = reply.data?.wallet.defiPositions ?? { nodes: [] };
    expect(new Set(nodes.map((node) => node?.type)).size).toBe(11);
    expect(new Set(nodes.map((node) => node?.id)).size).toBe(nodes.length);
    expect(Number(totalValueUsd)).toBeGreaterThan(0);
    for (const node of nodes) expect(node?.assets).not.toEqual([]);
  } finally {
    await sandbox.stop();
  }
});
