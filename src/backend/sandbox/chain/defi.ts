import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { DefiPosition, ProtocolFamily } from '../../source.ts';
import type { Chain, Hex, Token } from '../../types.ts';
import { CHAINS } from '../chains.ts';
import type { Contracts, SandboxToken } from '../contracts.ts';
import { addressOf, hashOf } from '../random.ts';
import { priceAt } from './prices.ts';
import { demoAddress } from './wallet-profiles.ts';

const OWNER = demoAddress('defi');
/** The address by which some protocols name a native asset. */
const ETHER: Hex = `0x${'e'.repeat(40)}`;

type Fields = Readonly<Record<string, unknown>>;

/** A token as positions name it, with or without its decimals. */
const short = ({ address, name, symbol }: Token) => ({ address, name, symbol });
const named = (token: Token) => ({ ...short(token), decimals: token.decimals });

/** What the positions of one chain are made of. */
const partsOf = ({ tokens, wrapped }: Contracts, time: number) => {
  const find = (symbol: string): SandboxToken => {
    const found = tokens.values().find((token) => token.symbol === symbol);
    if (found === undefined) throw new Error(`expected a token with the symbol ${symbol}, got none`);
    return found;
  };
  const price = (token: SandboxToken): number => priceAt(token, time) ?? 0;
  /** An amount of a token with what it is worth. */
  const worth = (token: SandboxToken, balance: number) => {
    const price_usd = price(token);
    return { balance, price_usd, value_usd: balance * price_usd };
  };
  /** One side of a loan. */
  const leg = (token: SandboxToken, balance: number) => ({
    ...worth(token, balance),
    underlying_holdings: balance,
  });
  const native = {
    address: ETHER,
    name: wrapped.chain.native.name,
    symbol: wrapped.chain.native.symbol,
    decimals: 18,
  };
  return { find, price, worth, leg, native, wrapped, chain: wrapped.chain };
};

type Parts = ReturnType<typeof partsOf>;

const position = ({ chain }: Parts, type: string, value: number, fields: Fields): DefiPosition => ({
  type,
  chain: chain.name,
  chain_id: chain.id,
  logo: null,
  value_usd: value,
  ...fields,
});

const contract = (label: string): Hex => addressOf(`defi: ${label}`);
/** A quantity as hexadecimal, as ids and shares of pools are given. */
const hex = (quantity: bigint) => `0x${quantity.toString(16)}`;

/** The receipt tokens of these positions are in the wallet's balances too, with the same amounts. */
const receipts = (parts: Parts): readonly DefiPosition[] => {
  const { find, price, worth } = parts;
  const [usdc, vault, lent, share] = [find('USDC'), find('vUSDC'), find('aUSDC'), find('LP')];
  const [weth, principal, staked] = [parts.wrapped, find('PT-sUSDe'), find('sUSDe')];
  const [inVault, inPool, yields] = [worth(vault, 1_850.75), worth(share, 3.5), worth(principal, 640)];
  const lending = worth(lent, 4_200);
  const debt = worth(usdc, 350.5);
  return [
    position(parts, 'Erc4626', inVault.value_usd, {
      protocol: 'Unknown',
      token: short(vault),
      underlying_token: { ...named(usdc), holdings: 1_985.86 },
      balance: inVault.balance,
      price_usd: inVault.price_usd,
      preview_redeem: 1_985.86,
      convert_to_assets: 1_985.86,
    }),
    position(parts, 'Tokenized', lending.value_usd, {
      token_type: 'AtokenV3',
      token: short(lent),
      underlying_token: { address: usdc.address, holdings: 4_231.5 },
      lending_pool: contract('lending pool'),
      balance: lending.balance,
      price_usd: lending.price_usd,
    }),
    // The sign of a debt's value is not documented. It is positive in the published sample.
    position(parts, 'Tokenized', debt.value_usd, {
      token_type: 'AaveV3VariableDebt',
      token: { address: contract('debt token'), name: 'Variable Debt USDC', symbol: 'variableDebtUSDC' },
      underlying_token: { address: usdc.address, holdings: 350.5 },
      lending_pool: contract('lending pool'),
      balance: debt.balance,
      price_usd: debt.price_usd,
    }),
    position(parts, 'UniswapV2', inPool.value_usd, {
      protocol: 'UniswapV2',
      pool: share.address,
      token0: { ...named(usdc), price_usd: price(usdc), holdings: 322.4375 },
      token1: { ...named(weth), price_usd: price(weth), holdings: 0.1033 },
      lp_balance: hex(3_500_000_000_000_000_000n),
      balance: inPool.balance,
      price_usd: inPool.price_usd,
    }),
    position(parts, 'Pendle', yields.value_usd, {
      token_type: 'Principal',
      token: named(principal),
      asset: named(staked),
      market: contract('yield market'),
      balance: yields.balance,
      price_usd: yields.price_usd,
    }),
  ];
};

/** A range of ticks of a concentrated pool. */
const range = (tokenId: bigint, ticks: readonly [number, number], first: Fields, second: Fields) => ({
  tick_lower: ticks[0],
  tick_upper: ticks[1],
  token_id: hex(tokenId),
  token0: first,
  token1: second,
});

const pools = (parts: Parts): readonly DefiPosition[] => {
  const { find, price } = parts;
  const [usdc, dai, weth] = [find('USDC'), find('DAI'), parts.wrapped];
  const inRange = 10 * price(usdc) + 59_754 * price(dai);
  const wide = 900.25 * price(usdc) + 0.75 * price(weth) + 2.5 * price(usdc);
  // A token of a price of 0, which stands for an unknown one.
  const unknown = { address: contract('unpriced token'), name: 'Meteor', symbol: 'METEOR', decimals: 18 };
  return [
    position(parts, 'Nft', inRange, {
      protocol: 'UniswapV3',
      pool: contract('concentrated pool'),
      token0: named(usdc),
      token1: named(dai),
      positions: [
        range(
          1_180_772n,
          [-276_330, -276_310],
          { price_usd: price(usdc), holdings: 10, rewards: 0 },
          { price_usd: price(dai), holdings: 59_754, rewards: 2.3754275952306002e-11 },
        ),
      ],
    }),
    position(parts, 'NftV4', wide, {
      protocol: 'UniswapV4',
      pool_id: hashOf('defi: pool'),
      pool_manager: contract('pool manager'),
      salt: hashOf('defi: salt'),
      token0: { ...parts.native, address: ZERO_ADDRESS },
      token1: named(usdc),
      positions: [
        range(
          77n,
          [-887_220, 887_220],
          { price_usd: price(weth), holdings: 0.75, rewards: 0 },
          { price_usd: price(usdc), holdings: 900.25, rewards: 2.5 },
        ),
      ],
    }),
    position(parts, 'Nft', 8.852246853764e-6 * price(usdc), {
      protocol: 'SushiSwapV3',
      pool: contract('unpriced pool'),
      token0: unknown,
      token1: named(usdc),
      positions: [
        range(
          12n,
          [-60, 60],
          { price_usd: 0, holdings: 100_000_000, rewards: 0 },
          { price_usd: price(usdc), holdings: 8.852246853764e-6, rewards: 0 },
        ),
        range(13n, [-120, 120], { holdings: 0, rewards: 0 }, { holdings: 0, rewards: 0 }),
      ],
    }),
    position(parts, 'BalancerV3', 410.5 * price(usdc) + 0.1 * price(weth), {
      protocol: 'BeethovenXV3',
      pool: contract('weighted pool'),
      pool_name: 'Weighted USDC WETH',
      pool_symbol: 'wUSDC-WETH',
      tokens: [
        { ...named(usdc), holdings: 410.5, price_usd: price(usdc) },
        { ...named(weth), holdings: 0.1, price_usd: price(weth) },
      ],
      balance: 12.5,
    }),
  ];
};

const loans = (parts: Parts): readonly DefiPosition[] => {
  const { find, leg, worth, wrapped: weth } = parts;
  const [usdc, dai] = [find('USDC'), find('DAI')];
  const receipt = { address: contract('receipt'), name: 'Lent DAI', symbol: 'cDAI' };
  const compound = { supply: leg(dai, 1_200), borrow: leg(dai, 200) };
  const moonwell = { supply: leg(usdc, 90.5) };
  const net = ({ supply, borrow }: { supply: { value_usd: number }; borrow?: { value_usd: number } }) =>
    supply.value_usd - (borrow?.value_usd ?? 0);
  const morpho = { borrow: leg(usdc, 600), collateral_quote: worth(weth, 0.5) };
  const market = { supply: leg(usdc, 75), collateral: worth(weth, 0.2) };
  const [trove, minted] = [worth(weth, 1.5), worth(dai, 2_000)];
  return [
    position(parts, 'CompoundV2', net(compound), {
      protocol: 'Compound',
      comptroller: contract('comptroller'),
      token: receipt,
      underlying_token: { ...named(dai), holdings: 1_200 },
      ...compound,
    }),
    position(parts, 'Moonwell', net(moonwell), {
      comptroller: contract('moonwell'),
      token: { ...receipt, address: contract('moonwell receipt'), symbol: 'mUSDC', name: 'Moonwell USDC' },
      underlying_token: { ...named(usdc), holdings: 90.5 },
      ...moonwell,
    }),
    position(parts, 'CompoundV3', net(market) + market.collateral.value_usd, {
      token: { address: contract('comet'), name: 'Market USDC', symbol: 'cUSDCv3' },
      underlying_token: named(usdc),
      supply: market.supply,
      collateral: [{ asset: named(weth), ...market.collateral }],
      claimable_rewards: [{ token: named(dai), ...worth(dai, 0.00009108374058938265) }],
    }),
    position(parts, 'Morpho', morpho.collateral_quote.value_usd - morpho.borrow.value_usd, {
      morpho: contract('morpho'),
      market_id: hashOf('defi: market'),
      loan_token: named(usdc),
      collateral_token: named(weth),
      ...morpho,
    }),
    position(parts, 'FluidVault', trove.value_usd - minted.value_usd, {
      vault_address: contract('fluid vault'),
      nft_id: hex(4_411n),
      vault_type: 'T1',
      is_liquidated: false,
      supply0: { token: parts.native, quote: trove },
      borrow0: { token: named(dai), quote: minted },
    }),
    position(parts, 'LiquityV2Trove', trove.value_usd - minted.value_usd, {
      protocol: 'LiquityV2',
      trove_manager: contract('trove manager'),
      trove_id: hex(BigInt(hashOf('defi: trove'))),
      collateral_token: named(weth),
      debt_token: named(dai),
      collateral: trove,
      debt: minted,
    }),
    position(parts, 'LiquityV2StabilityPool', worth(dai, 500.75).value_usd, {
      protocol: 'LiquityV2',
      stability_pool: contract('stability pool'),
      deposit_token: named(dai),
      collateral_token: named(weth),
      compounded_deposit: 500,
      yield_gain: 0.75,
      coll_gain: 0,
      stashed_coll: 0,
    }),
  ];
};

const locks = (parts: Parts): readonly DefiPosition[] => {
  const { find, worth } = parts;
  const usdc = find('USDC');
  return [
    position(parts, 'VeNft', worth(usdc, 64).value_usd, {
      protocol: 'AerodromeVeNFT',
      ve_contract: contract('vote escrow'),
      token_id: hex(90_210n),
      underlying_token: named(usdc),
      locked_amount: 64,
      lock_end: 1_861_920_000,
      is_permanent: false,
    }),
    // A type that appeared after the documents were written.
    position(parts, 'LidoStEth', worth(parts.wrapped, 0.125).value_usd, {
      token: { address: contract('staked ether'), name: 'Staked Ether', symbol: 'stETH' },
      balance: 0.125,
      rewards_claimed: 0,
    }),
  ];
};

/** The positions of the one wallet that has any, at the prices of a time in milliseconds since 1970. */
export const defiPositions = (
  wallet: Hex,
  time: number,
  contractsOf: (chainId: number) => Contracts | null,
): readonly DefiPosition[] => {
  const [ethereum, base] = [contractsOf(1), contractsOf(8453)];
  if (wallet !== OWNER || ethereum === null || base === null) return [];
  const [onEthereum, onBase] = [partsOf(ethereum, time), partsOf(base, time)];
  return [...receipts(onEthereum), ...pools(onEthereum), ...loans(onEthereum), ...locks(onBase)];
};

const on = (chainIds: readonly number[], isPreview = false) =>
  CHAINS.filter(({ id }) => chainIds.includes(id)).map((chain: Chain) => ({ chain, isPreview }));

export const PROTOCOLS: readonly ProtocolFamily[] = [
  { family: 'aave_v3', chains: on([1, 10, 137, 8453, 42161]), forks: [] },
  { family: 'aerodrome', chains: on([8453]), forks: [] },
  {
    family: 'balancer_v3',
    chains: [...on([1, 8453]), ...on([42161], true)],
    forks: ['BalancerV3', 'BeethovenXV3'],
  },
  { family: 'compound_v2', chains: on([1]), forks: ['Compound', 'Venus', 'IronBank'] },
  { family: 'morpho', chains: on([1, 8453]), forks: [] },
  { family: 'uniswap_v2', chains: on([1, 10, 130, 137, 8453, 42161]), forks: ['UniswapV2', 'SushiSwapV2'] },
  { family: 'uniswap_v3', chains: on([1, 10, 130, 137, 8453, 42161]), forks: ['UniswapV3', 'SushiSwapV3'] },
  { family: 'lido', chains: on([1], true), forks: [] },
];
