import { CHAIN_LOOKUPS, type Chain, type ChainLookup, type NativeAsset } from '../types.ts';

/** A chain of the sandbox, with its market, the pace of its blocks and the level of its fees. */
export type SandboxChain = Chain & {
  readonly native: SandboxNativeAsset;
  /** Milliseconds between two blocks of its history. Live blocks come at the sandbox's own pace. */
  readonly intervalMs: number;
  /** Height of the newest block of its history: more blocks than fit into that history at its pace. */
  readonly height: number;
  readonly gasPriceWei: bigint;
  /** Whether the clock makes blocks of this chain. `mine` makes blocks of any chain. */
  readonly live: boolean;
};

export type SandboxNativeAsset = NativeAsset & {
  /** The price around which its market moves, in dollars; 0 when it has no market. */
  readonly priceUsd: number;
};

type Fee = { readonly wei: number };
type Traits = {
  readonly live?: boolean;
  readonly webhooks?: boolean;
  /** The lookups that do not cover it, beside the rare ones. */
  readonly without?: readonly ChainLookup[];
};

/** Lookups that few chains have. */
const RARE: Readonly<Partial<Record<ChainLookup, ReadonlySet<number>>>> = {
  defi_positions: new Set([1, 10, 130, 137, 8453, 42161]),
  names: new Set([1]),
};

const GWEI = 1e9;
const ether = { symbol: 'ETH', name: 'Ether', decimals: 18, priceUsd: 3120.5 };
const testEther = { ...ether, priceUsd: 0 };
const asset = (symbol: string, name: string, priceUsd: number) => ({
  symbol,
  name,
  decimals: 18,
  priceUsd,
});

const chain = (
  id: number,
  name: string,
  tags: readonly string[],
  native: SandboxNativeAsset,
  intervalMs: number,
  height: number,
  fee: Fee,
  { live = false, webhooks = true, without = [] }: Traits = {},
): SandboxChain => ({
  id,
  name,
  tags,
  native,
  intervalMs,
  height,
  gasPriceWei: BigInt(fee.wei),
  live,
  webhooks,
  unsupported: CHAIN_LOOKUPS.filter((lookup) => without.includes(lookup) || RARE[lookup]?.has(id) === false),
});

const main = ['default', 'mainnet'];
const live = { live: true };

/**
 * The chains of the sandbox. The first 14 have the default tag. Palm's id exceeds 2^31-1, as ids may. Arbitrum Nova,
 * Palm and the devnets show that the lookups cover more chains than the webhooks do; Unichain, Rootstock, Ronin and the
 * Monad testnet, that not every lookup covers every chain.
 */
export const CHAINS: readonly SandboxChain[] = [
  chain(1, 'ethereum', main, ether, 12_000, 24_136_052, { wei: 14 * GWEI }, live),
  chain(10, 'optimism', main, ether, 2_000, 145_782_311, { wei: 0.002 * GWEI }, live),
  chain(56, 'bnb', main, asset('BNB', 'BNB', 864.2), 750, 94_350_918, { wei: GWEI }, live),
  chain(100, 'gnosis', main, { ...asset('XDAI', 'xDAI', 1), isStable: true }, 5_000, 43_912_770, {
    wei: 1.5 * GWEI,
  }),
  chain(137, 'polygon', main, asset('POL', 'POL', 0.121), 2_000, 81_002_443, { wei: 30 * GWEI }, live),
  chain(324, 'zksync', main, ether, 1_000, 67_220_195, { wei: 0.045 * GWEI }),
  chain(999, 'hyper_evm', main, asset('HYPE', 'Hyperliquid', 25.4), 1_000, 83_010_664, { wei: 0.2 * GWEI }),
  chain(8453, 'base', main, ether, 2_000, 40_187_026, { wei: 0.005 * GWEI }, live),
  chain(42161, 'arbitrum', main, ether, 250, 416_933_871, { wei: 0.01 * GWEI }, live),
  chain(42170, 'arbitrum_nova', main, ether, 2_000, 83_640_037, { wei: 0.01 * GWEI }, { webhooks: false }),
  chain(42220, 'celo', main, asset('CELO', 'Celo', 0.118), 1_000, 75_301_462, { wei: 25 * GWEI }),
  chain(43114, 'avalanche_c', main, asset('AVAX', 'Avalanche', 12.6), 1_500, 75_118_209, { wei: 2 * GWEI }),
  chain(81457, 'blast', main, ether, 2_000, 34_404_118, { wei: 0.001 * GWEI }),
  chain(7777777, 'zora', main, ether, 2_000, 40_271_533, { wei: 0.001 * GWEI }),
  chain(130, 'unichain', ['mainnet'], ether, 1_000, 66_100_442, { wei: 0.001 * GWEI }),
  chain(
    30,
    'rootstock',
    ['mainnet'],
    asset('RBTC', 'Smart Bitcoin', 88_390.5),
    25_000,
    8_312_604,
    { wei: 0.03 * GWEI },
    { without: ['token_info'] },
  ),
  chain(
    2020,
    'ronin',
    ['mainnet'],
    asset('RON', 'Ronin', 0.16),
    3_000,
    51_660_907,
    { wei: 21 * GWEI },
    { without: ['token_holders'] },
  ),
  chain(5000, 'mantle', ['mainnet'], asset('MNT', 'Mantle', 0.97), 2_000, 89_410_276, { wei: 0.02 * GWEI }),
  chain(59144, 'linea', ['mainnet'], ether, 2_000, 34_119_540, { wei: 0.05 * GWEI }),
  chain(534352, 'scroll', ['mainnet'], ether, 3_000, 28_904_771, { wei: 0.03 * GWEI }),
  chain(
    11297108109,
    'palm',
    ['mainnet'],
    asset('PALM', 'PALM', 0.04),
    2_000,
    34_611_385,
    { wei: GWEI },
    {
      webhooks: false,
    },
  ),
  chain(11155111, 'sepolia', ['testnet'], testEther, 12_000, 9_942_315, { wei: 2 * GWEI }),
  chain(84532, 'base_sepolia', ['testnet'], testEther, 2_000, 35_697_902, { wei: 0.001 * GWEI }),
  chain(
    10143,
    'monad_testnet',
    ['testnet'],
    asset('MON', 'Monad', 0),
    500,
    131_006_550,
    { wei: 50 * GWEI },
    { webhooks: false, without: ['activity', 'transactions', 'transaction', 'approvals', 'token_holders'] },
  ),
  chain(80002, 'polygon_amoy', ['testnet'], asset('POL', 'POL', 0), 2_000, 33_550_846, { wei: 30 * GWEI }),
  chain(31337, 'local_devnet', ['devnet'], testEther, 1_000, 64_204_417, { wei: GWEI }, { webhooks: false }),
  chain(
    1223,
    'omni_devnet',
    ['devnet', 'omni'],
    testEther,
    2_000,
    33_310_256,
    { wei: GWEI },
    { webhooks: false },
  ),
  chain(166, 'omni', ['mainnet', 'omni'], asset('OMNI', 'Omni', 1.9), 2_000, 33_803_128, { wei: GWEI }),
  chain(164, 'omni_omega', ['testnet', 'omni'], asset('OMNI', 'Omni', 0), 2_000, 34_488_002, { wei: GWEI }),
];
