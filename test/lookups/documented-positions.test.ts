import { expect, test } from 'vitest';
import { askOver } from '../support/lookups/documented.ts';
import { addressOf, hashOf } from '../support/upstream/builders.ts';

/**
 * A position of each type that the service documents, with all its fields, in the service's spelling of numbers: whole ones
 * with a point, small ones with an exponent.
 */

const WALLET = addressOf(0xdef1);

const token = (number: number, symbol: string, more = ''): string =>
  `{ "address": "${addressOf(number)}", "name": "The ${symbol}", "symbol": "${symbol}"${more && `, ${more}`} }`;
const USDC = (more = '') => token(2, 'USDC', `"decimals": 6${more && `, ${more}`}`);
const WETH = (more = '') => token(3, 'WETH', `"decimals": 18${more && `, ${more}`}`);
const named = (address: string) =>
  `{ "address": "${address}", "name": "Ether", "symbol": "ETH", "decimals": 18 }`;
const leg = (balance: string, price: string, value: string, holdings = '') =>
  `{ "balance": ${balance}, "price_usd": ${price}, "value_usd": ${value}${holdings && `, "underlying_holdings": ${holdings}`} }`;

type Asset = readonly [
  role: string,
  token: string,
  amount: string | null,
  priceUsd: string | null,
  valueUsd: string | null,
];
type Case = {
  readonly type: string;
  /** The fields beside those that all positions have. */
  readonly wire: string;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly assets: readonly Asset[];
};

const CASES: readonly Case[] = [
  {
    type: 'Erc4626',
    wire: `"protocol": "Unknown", "token": ${token(1, 'vUSDC')}, "underlying_token": ${USDC('"holdings": 1985.8604')},
      "balance": 1850.75, "price_usd": 0, "preview_redeem": 1985.86, "convert_to_assets": 1985.8604`,
    shown: { type: 'VAULT', protocol: 'Unknown', contract: addressOf(1) },
    assets: [
      ['RECEIPT', 'vUSDC', '1850.75', '0', null],
      ['SUPPLIED', 'USDC', '1985.8604', null, null],
    ],
  },
  {
    type: 'Tokenized',
    wire: `"token_type": "AtokenV3", "token": ${token(1, 'aEthUSDC')}, "lending_pool": "${addressOf(9)}",
      "underlying_token": { "address": "${addressOf(2)}", "holdings": 10.2 }, "balance": 10.0, "price_usd": 0.9998`,
    shown: { type: 'RECEIPT', contract: addressOf(9) },
    assets: [
      ['RECEIPT', 'aEthUSDC', '10', '0.9998', null],
      ['SUPPLIED', addressOf(2), '10.2', null, null],
    ],
  },
  {
    type: 'Tokenized',
    wire: `"token_type": "AaveV3VariableDebt", "token": ${token(1, 'variableDebtEthUSDC')},
      "underlying_token": { "address": "${addressOf(2)}", "holdings": 350.5 }, "balance": 350.5, "price_usd": 1`,
    shown: { type: 'RECEIPT', contract: addressOf(1) },
    assets: [
      ['RECEIPT', 'variableDebtEthUSDC', '350.5', '1', null],
      ['BORROWED', addressOf(2), '350.5', null, null],
    ],
  },
  {
    type: 'UniswapV2',
    wire: `"protocol": "SushiSwapV2", "pool": "${addressOf(9)}", "token0": ${USDC('"price_usd": 1.0, "holdings": 322.4375')},
      "token1": ${WETH('"price_usd": 3120.5, "holdings": 0.00009108374058938265')}, "lp_balance": "0x30927f74c9de0000",
      "balance": 3.5, "price_usd": 184.1`,
    shown: { type: 'POOL', protocol: 'SushiSwapV2', contract: addressOf(9) },
    assets: [
      ['SUPPLIED', 'USDC', '322.4375', '1', null],
      ['SUPPLIED', 'WETH', '0.00009108374058938265', '3120.5', null],
      ['RECEIPT', addressOf(9), '3.5', '184.1', null],
    ],
  },
  {
    type: 'BalancerV3',
    wire: `"protocol": "BeethovenXV3", "pool": "${addressOf(9)}", "pool_name": "Boosted stables", "pool_symbol": "bpt-stable",
      "tokens": [${USDC('"holdings": 12.5, "price_usd": 1')}, ${WETH('"holdings": 0.25, "price_usd": 3000')}], "balance": 7.65e-05`,
    shown: { type: 'POOL', protocol: 'BeethovenXV3', contract: addressOf(9) },
    assets: [
      ['SUPPLIED', 'USDC', '12.5', '1', null],
      ['SUPPLIED', 'WETH', '0.25', '3000', null],
      ['RECEIPT', 'bpt-stable', '0.0000765', null, null],
    ],
  },
  {
    type: 'Nft',
    wire: `"protocol": "UniswapV3", "pool": "${addressOf(9)}", "token0": ${token(4, 'PEPE', '"decimals": 18')}, "token1": ${WETH()},
      "positions": [
        { "tick_lower": -887272, "tick_upper": 887272, "token_id": "0xf4240",
          "token0": { "price_usd": 0.0, "holdings": 100000000.0, "rewards": 0.0 },
          "token1": { "price_usd": 2959.5, "holdings": 0.1, "rewards": 2.3754275952306002e-11 } },
        { "tick_lower": -60, "tick_upper": 60, "token_id": "0xf4241",
          "token0": { "holdings": 59754.0, "rewards": 8.852246853764e-6 },
          "token1": { "holdings": 0.2, "rewards": 1e-11 } }]`,
    shown: {
      type: 'CONCENTRATED_POOL',
      protocol: 'UniswapV3',
      contract: addressOf(9),
      ranges: [
        {
          tokenId: '1000000',
          tickLower: -887272,
          tickUpper: 887272,
          assets: [
            ['SUPPLIED', 'PEPE', '100000000', '0', null],
            ['SUPPLIED', 'WETH', '0.1', '2959.5', null],
            ['REWARD', 'PEPE', '0', '0', null],
            ['REWARD', 'WETH', '0.000000000023754275952306002', '2959.5', null],
          ],
        },
        {
          tokenId: '1000001',
          tickLower: -60,
          tickUpper: 60,
          assets: [
            ['SUPPLIED', 'PEPE', '59754', null, null],
            ['SUPPLIED', 'WETH', '0.2', null, null],
            ['REWARD', 'PEPE', '0.000008852246853764', null, null],
            ['REWARD', 'WETH', '0.00000000001', null, null],
          ],
        },
      ],
    },
    assets: [
      ['SUPPLIED', 'PEPE', '100059754', '0', null],
      ['SUPPLIED', 'WETH', '0.3', '2959.5', null],
      ['REWARD', 'PEPE', '0.000008852246853764', '0', null],
      ['REWARD', 'WETH', '0.000000000033754275952306002', '2959.5', null],
    ],
  },
  {
    type: 'NftV4',
    wire: `"protocol": "UniswapV4", "pool_id": "${hashOf(8)}", "pool_manager": "${addressOf(9)}", "salt": "${hashOf(7)}",
      "token0": ${named(addressOf(0))}, "token1": ${USDC()}, "positions": [{ "tick_lower": -10, "tick_upper": 10, "token_id": "0x4d",
      "token0": { "holdings": 0.5, "rewards": 0.0 }, "token1": { "holdings": 1500.0, "rewards": 1.5 } }]`,
    shown: {
      type: 'CONCENTRATED_POOL',
      protocol: 'UniswapV4',
      contract: addressOf(9),
      positionId: hashOf(8),
      ranges: [
        {
          tokenId: '77',
          tickLower: -10,
          tickUpper: 10,
          assets: [
            ['SUPPLIED', 'native ETH', '0.5', null, null],
            ['SUPPLIED', 'USDC', '1500', null, null],
            ['REWARD', 'native ETH', '0', null, null],
            ['REWARD', 'USDC', '1.5', null, null],
          ],
        },
      ],
    },
    assets: [
      ['SUPPLIED', 'native ETH', '0.5', null, null],
      ['SUPPLIED', 'USDC', '1500', null, null],
      ['REWARD', 'native ETH', '0', null, null],
      ['REWARD', 'USDC', '1.5', null, null],
    ],
  },
  {
    type: 'CompoundV2',
    wire: `"protocol": "Venus", "comptroller": "${addressOf(8)}", "token": ${token(1, 'vUSDC')},
      "underlying_token": ${USDC('"holdings": 75.3')}, "supply": ${leg('3600.25', '0.0209', '75.24', '75.3')},
      "borrow": ${leg('12.0', '1.0', '12.0', '12.1')}`,
    shown: { type: 'LENDING', protocol: 'Venus', contract: addressOf(1) },
    assets: [
      ['SUPPLIED', 'USDC', '75.3', '0.0209', '75.24'],
      ['BORROWED', 'USDC', '12.1', '1', '12'],
    ],
  },
  {
    type: 'CompoundV2',
    wire: `"token": ${token(1, 'cUSDC')}, "underlying_token": ${USDC('"holdings": 75.3')}`,
    shown: { type: 'LENDING', contract: addressOf(1) },
    assets: [['SUPPLIED', 'USDC', '75.3', null, null]],
  },
  {
    type: 'Moonwell',
    wire: `"comptroller": "${addressOf(8)}", "token": ${token(1, 'mUSDC')}, "underlying_token": ${USDC()},
      "supply": ${leg('40.0', '0.02', '0.8', '0.79')}`,
    shown: { type: 'LENDING', contract: addressOf(1) },
    assets: [['SUPPLIED', 'USDC', '0.79', '0.02', '0.8']],
  },
  {
    type: 'CompoundV3',
    wire: `"token": ${token(1, 'cUSDCv3')}, "underlying_token": ${USDC()}, "borrow": ${leg('75.0', '1.0', '75.0')},
      "collateral": [{ "asset": ${WETH()}, "balance": 0.2, "price_usd": 3000.0, "value_usd": 600.0 }],
      "claimable_rewards": [{ "token": ${token(4, 'COMP', '"decimals": 18')}, "balance": 9.1e-5, "price_usd": 50.0, "value_usd": 0.00455 }]`,
    shown: { type: 'LENDING', contract: addressOf(1) },
    assets: [
      ['BORROWED', 'USDC', '75', '1', '75'],
      ['COLLATERAL', 'WETH', '0.2', '3000', '600'],
      ['REWARD', 'COMP', '0.000091', '50', '0.00455'],
    ],
  },
  {
    type: 'Morpho',
    wire: `"morpho": "${addressOf(9)}", "market_id": "${hashOf(77).toUpperCase().replace('0X', '0x')}", "loan_token": ${USDC()},
      "collateral_token": ${WETH()}, "supply": ${leg('5.0', '1.0', '5.0')}, "borrow": ${leg('600.0', '1.0', '600.0', '601.5')},
      "collateral_quote": ${leg('0.5', '3000.0', '1500.0')}`,
    shown: { type: 'LENDING', contract: addressOf(9), positionId: hashOf(77) },
    assets: [
      ['SUPPLIED', 'USDC', '5', '1', '5'],
      ['BORROWED', 'USDC', '601.5', '1', '600'],
      ['COLLATERAL', 'WETH', '0.5', '3000', '1500'],
    ],
  },
  {
    type: 'Pendle',
    wire: `"token_type": "Principal", "token": ${token(1, 'PT-sUSDe', '"decimals": 18')}, "asset": ${USDC()},
      "market": "${addressOf(9)}", "balance": 640.0, "price_usd": 0.97`,
    shown: { type: 'YIELD', contract: addressOf(9) },
    assets: [['RECEIPT', 'PT-sUSDe', '640', '0.97', null]],
  },
  {
    type: 'FluidVault',
    wire: `"vault_address": "${addressOf(9)}", "nft_id": "0x113b", "vault_type": "T4", "is_liquidated": false,
      "supply0": { "token": ${named(`0x${'e'.repeat(40)}`)}, "quote": ${leg('1.5', '3000.0', '4500.0')} },
      "supply1": { "token": ${WETH()} }, "borrow0": { "token": ${USDC()}, "quote": ${leg('2000.0', '1.0', '2000.0')} },
      "borrow1": { "token": ${token(4, 'GHO', '"decimals": 18')}, "quote": ${leg('10.0', '1.0', '10.0')} }`,
    shown: { type: 'LEVERAGED_VAULT', contract: addressOf(9), positionId: '4411' },
    assets: [
      ['SUPPLIED', 'native ETH', '1.5', '3000', '4500'],
      ['SUPPLIED', 'WETH', null, null, null],
      ['BORROWED', 'USDC', '2000', '1', '2000'],
      ['BORROWED', 'GHO', '10', '1', '10'],
    ],
  },
  {
    type: 'VeNft',
    wire: `"protocol": "AerodromeVeNFT", "ve_contract": "${addressOf(9)}", "token_id": "0x16062",
      "underlying_token": ${token(4, 'AERO', '"decimals": 18')}, "locked_amount": 59754.0, "lock_end": 1861920000, "is_permanent": false`,
    shown: {
      type: 'LOCK',
      protocol: 'AerodromeVeNFT',
      contract: addressOf(9),
      positionId: '90210',
      lockedUntil: '2029-01-01T00:00:00.000Z',
    },
    assets: [['LOCKED', 'AERO', '59754', null, null]],
  },
  {
    type: 'VeNft',
    wire: `"ve_contract": "${addressOf(9)}", "token_id": "0x1", "underlying_token": ${token(4, 'AERO')}, "locked_amount": 1.0,
      "lock_end": 0, "is_permanent": true`,
    shown: { type: 'LOCK', contract: addressOf(9), positionId: '1' },
    assets: [['LOCKED', 'AERO', '1', null, null]],
  },
  {
    type: 'LiquityV2Trove',
    wire: `"protocol": "FelixCDP", "trove_manager": "${addressOf(9)}", "trove_id": "${hashOf(5)}", "collateral_token": ${WETH()},
      "debt_token": ${token(4, 'BOLD', '"decimals": 18')}, "collateral": ${leg('1.5', '3000.0', '4500.0')}, "debt": ${leg('2000.0', '1.0', '2000.0')}`,
    shown: { type: 'DEBT', protocol: 'FelixCDP', contract: addressOf(9), positionId: hashOf(5) },
    assets: [
      ['COLLATERAL', 'WETH', '1.5', '3000', '4500'],
      ['BORROWED', 'BOLD', '2000', '1', '2000'],
    ],
  },
  {
    type: 'LiquityV2StabilityPool',
    wire: `"protocol": "LiquityV2", "stability_pool": "${addressOf(9)}", "deposit_token": ${token(4, 'BOLD', '"decimals": 18')},
      "collateral_token": ${WETH()}, "compounded_deposit": 500.0, "yield_gain": 0.75, "coll_gain": 0.0, "stashed_coll": 0.125`,
    shown: { type: 'STABILITY_POOL', protocol: 'LiquityV2', contract: addressOf(9) },
    assets: [
      ['SUPPLIED', 'BOLD', '500', null, null],
      ['REWARD', 'BOLD', '0.75', null, null],
      ['REWARD', 'WETH', '0', null, null],
    ],
  },
  {
    type: 'LidoStEth',
    wire: `"protocol": "Lido", "token": ${token(1, 'stETH')}, "balance": 0.125, "rewards": [{ "x": 1 }]`,
    shown: { type: 'OTHER', protocol: 'Lido', contract: addressOf(1) },
    assets: [['RECEIPT', 'stETH', '0.125', null, null]],
  },
];

const ASSETS = 'assets { role amount priceUsd valueUsd token { address isNative symbol } }';
const QUERY = `{ wallet(address: "${WALLET}") { defiPositions(chainIds: [1]) {
  totalValueUsd byChain { chainId totalValueUsd }
  nodes { type typeName protocol chain chainId valueUsd logo contract positionId lockedUntil details ${ASSETS}
    ranges { tokenId tickLower tickUpper ${ASSETS} } }
} } }`;

type ShownAsset = {
  role: string;
  amount: string | null;
  priceUsd: string | null;
  valueUsd: string | null;
  token: { address: string | null; isNative: boolean; symbol: string | null };
};
type Shown = Record<string, unknown> & {
  assets: ShownAsset[];
  ranges: { assets: ShownAsset[] }[] | null;
};
type Connection = { totalValueUsd: string; byChain: unknown; nodes: Shown[] };

const tupleOf = ({ role, amount, priceUsd, valueUsd, token: of }: ShownAsset): Asset => {
  const name = [...(of.isNative ? ['native'] : []), of.symbol ?? of.address].join(' ');
  return [role, name, amount, priceUsd, valueUsd];
};

test('a position of each documented type has exactly these assets, and all that came as its details', async () => {
  const items = CASES.map(
    ({ type, wire }) =>
      `{ "type": "${type}", "chain": "ethereum", "chain_id": 1, "logo": null, "value_usd": 63.00000000000001, ${wire} }`,
  );
  const { data, asked } = await askOver(
    {
      [`defi/positions/${WALLET}`]: `{ "positions": [${items.join(',\n')}],
        "aggregations": { "total_value_usd": 1.233346836175539e+21, "total_by_chain": { "1": 10.0 } } }`,
    },
    QUERY,
  );
  expect(asked).toEqual([`defi/positions/${WALLET}?chain_ids=1`]);
  const { wallet } = data as { wallet: { defiPositions: Connection } };
  const { nodes, ...totals } = wallet.defiPositions;
  expect(totals).toEqual({
    totalValueUsd: '1233346836175539000000',
    byChain: [{ chainId: 1, totalValueUsd: '10' }],
  });
  const seen = nodes.map(({ assets, ranges, ...others }) => ({
    ...others,
    assets: assets.map(tupleOf),
    ranges: ranges?.map((range) => ({ ...range, assets: range.assets.map(tupleOf) })) ?? null,
  }));
  expect(seen).toEqual(
    CASES.map(({ type, shown, assets }, index) => ({
      typeName: type,
      protocol: null,
      chain: 'ethereum',
      chainId: 1,
      valueUsd: '63.00000000000001',
      logo: null,
      positionId: null,
      lockedUntil: null,
      ranges: null,
      ...shown,
      assets,
      details: JSON.parse(items[index] ?? ''),
    })),
  );
});
