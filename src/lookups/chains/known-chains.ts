import type { ChainLookup } from '../../upstream/parse/fields.ts';

/** A chain's own currency. */
export type NativeCurrency = {
  readonly symbol: string;
  readonly name: string | null;
  /** Of one whole unit. */
  readonly decimals: number;
  readonly logo: string | null;
};

/** A chain with upstream's name for it. */
export type Chain = {
  readonly chainId: number;
  readonly name: string;
  /** Groups of chains: a tag as a filter selects all chains that have it. */
  readonly tags: readonly string[];
  /** What the service offers for it; null or absent where it has not said so. */
  readonly supports?: readonly ChainLookup[] | null;
  /** Why the service does not offer a lookup, in its words. Hosted services give no reasons. */
  readonly reasons?: ReadonlyMap<ChainLookup, string>;
  /**
   * Whether the service indexes the chain itself. Tokens may move without an event, so no list of balances is final: a balance
   * that it lacks is asked for by itself.
   */
  readonly isIndexed?: boolean;
  /** Whether the service's index of the chain has no block yet: what it will offer for the chain is not known then. */
  readonly isEmpty?: boolean;
  /** As the service or a setting says it. Null or absent where neither does. */
  readonly native?: NativeCurrency | null;
  /** The block explorer that the service has the chain's data from. Null or absent where it says none. */
  readonly explorer?: ChainExplorer | null;
};

/** A block explorer, as people open it. */
export type ChainExplorer = {
  readonly name: string;
  /** Where its pages are, without a slash at the end; null where the service does not say it. */
  readonly url: string | null;
};

const tagged = (
  tags: readonly string[],
  chains: readonly (readonly [chainId: number, name: string])[],
): Chain[] => chains.map(([chainId, name]) => ({ chainId, name, tags }));

/**
 * Upstream documents the chains of its default tag, with their names. The other ids are the chains' real ids; their names
 * are those that upstream most likely uses. EXTRA_CHAINS corrects a name.
 */
export const KNOWN_CHAINS: readonly Chain[] = [
  ...tagged(
    ['default', 'mainnet'],
    [
      [1, 'ethereum'],
      [10, 'optimism'],
      [56, 'bnb'],
      [100, 'gnosis'],
      [137, 'polygon'],
      [324, 'zksync'],
      [999, 'hyper_evm'],
      [8453, 'base'],
      [42161, 'arbitrum'],
      [42170, 'arbitrum_nova'],
      [42220, 'celo'],
      [43114, 'avalanche_c'],
      [81457, 'blast'],
      [7777777, 'zora'],
    ],
  ),
  ...tagged(
    ['mainnet'],
    [
      [14, 'flare'],
      [25, 'cronos'],
      [30, 'rootstock'],
      [50, 'xdc'],
      [130, 'unichain'],
      [143, 'monad'],
      [146, 'sonic'],
      [169, 'manta_pacific'],
      [185, 'mint'],
      [196, 'xlayer'],
      [204, 'opbnb'],
      [250, 'fantom'],
      [252, 'fraxtal'],
      [255, 'kroma'],
      [288, 'boba'],
      [314, 'filecoin'],
      [360, 'shape'],
      [369, 'pulsechain'],
      [480, 'world'],
      [592, 'astar'],
      [690, 'redstone'],
      [747, 'flow'],
      [1030, 'conflux'],
      [1088, 'metis'],
      [1101, 'polygon_zkevm'],
      [1111, 'wemix'],
      [1116, 'core'],
      [1135, 'lisk'],
      [1284, 'moonbeam'],
      [1285, 'moonriver'],
      [1329, 'sei'],
      [1514, 'story'],
      [1625, 'gravity'],
      [1868, 'soneium'],
      [1923, 'swellchain'],
      [2020, 'ronin'],
      [2222, 'kava'],
      [2741, 'abstract'],
      [2818, 'morph'],
      [2911, 'hychain'],
      [5000, 'mantle'],
      [5112, 'ham'],
      [5330, 'superseed'],
      [6805, 'race'],
      [7000, 'zetachain'],
      [7560, 'cyber'],
      [8217, 'kaia'],
      [8333, 'b3'],
      [9745, 'plasma'],
      [13371, 'immutable'],
      [33139, 'ape_chain'],
      [33979, 'funki'],
      [34443, 'mode'],
      [42793, 'etherlink'],
      [43111, 'hemi'],
      [48900, 'zircuit'],
      [55244, 'superposition'],
      [57073, 'ink'],
      [59144, 'linea'],
      [60808, 'bob'],
      [70700, 'proof_of_play'],
      [80094, 'berachain'],
      [98866, 'plume'],
      [167000, 'taiko'],
      [534352, 'scroll'],
      [543210, 'zero_network'],
      [660279, 'xai'],
      [747474, 'katana'],
      [984122, 'forma'],
      [21000000, 'corn'],
      [666666666, 'degen'],
      [888888888, 'ancient8'],
      [1313161554, 'aurora'],
      [1380012617, 'rari'],
      [1666600000, 'harmony'],
      [11297108109, 'palm'],
    ],
  ),
  ...tagged(
    ['testnet'],
    [
      [97, 'bnb_testnet'],
      [300, 'zksync_sepolia'],
      [919, 'mode_sepolia'],
      [998, 'hyper_evm_testnet'],
      [1301, 'unichain_sepolia'],
      [1328, 'sei_testnet'],
      [1946, 'soneium_minato'],
      [4202, 'lisk_sepolia'],
      [4801, 'world_sepolia'],
      [5003, 'mantle_sepolia'],
      [10143, 'monad_testnet'],
      [10200, 'gnosis_chiado'],
      [11124, 'abstract_testnet'],
      [17000, 'holesky'],
      [43113, 'avalanche_fuji'],
      [44787, 'celo_alfajores'],
      [59141, 'linea_sepolia'],
      [80002, 'polygon_amoy'],
      [80069, 'berachain_bepolia'],
      [84532, 'base_sepolia'],
      [421614, 'arbitrum_sepolia'],
      [534351, 'scroll_sepolia'],
      [560048, 'hoodi'],
      [763373, 'ink_sepolia'],
      [808813, 'bob_sepolia'],
      [11142220, 'celo_sepolia'],
      [11155111, 'sepolia'],
      [11155420, 'optimism_sepolia'],
      [168587773, 'blast_sepolia'],
      [999999999, 'zora_sepolia'],
    ],
  ),
  ...tagged(['devnet'], [[31337, 'local_devnet']]),
  ...tagged(['mainnet', 'omni'], [[166, 'omni']]),
  ...tagged(['testnet', 'omni'], [[164, 'omni_omega']]),
  ...tagged(['devnet', 'omni'], [[1223, 'omni_devnet']]),
];

/**
 * The chains' own currencies by the ids of their chains: the service's list of chains does not tell them. A currency that is
 * not well known is left out rather than guessed.
 */
const NATIVE_CURRENCIES: Readonly<Record<string, readonly number[]>> = {
  ETH: [
    ...[
      1, 10, 130, 169, 185, 255, 288, 300, 324, 360, 480, 690, 919, 1101, 1135, 1223, 1301, 1868, 1923, 1946,
    ],
    ...[2741, 2818, 4202, 4801, 5112, 5330, 6805, 7560, 8333, 8453, 11124, 17000, 31337, 33979, 34443, 42161],
    ...[42170, 43111, 48900, 55244, 57073, 59141, 59144, 60808, 70700, 70701, 81457, 84532, 167000, 421614],
    ...[
      534351, 534352, 543210, 560048, 747474, 763373, 808813, 7777777, 11155111, 11155420, 168587773,
      888888888,
    ],
    ...[999999999, 1313161554, 1380012617],
  ],
  APE: [33139],
  ASTR: [592],
  AVAX: [43113, 43114],
  BERA: [80069, 80094],
  BNB: [56, 204],
  BTCN: [21000000],
  CELO: [42220, 44787, 11142220],
  CFX: [1030],
  CORE: [1116],
  CRO: [25],
  DEGEN: [666666666],
  FIL: [314],
  FLOW: [747],
  FLR: [14],
  FTM: [250],
  G: [1625],
  GLMR: [1284],
  HYPE: [998, 999],
  IMX: [13371],
  IP: [1514],
  KAIA: [8217],
  KAVA: [2222],
  METIS: [1088],
  MNT: [5000, 5003],
  MON: [143, 10143],
  MOVR: [1285],
  OKB: [196],
  OMNI: [164, 166],
  ONE: [1666600000],
  PALM: [11297108109],
  PLS: [369],
  PLUME: [98866],
  POL: [137, 80002],
  RBTC: [30],
  RON: [2020],
  S: [146],
  SEI: [1328, 1329],
  TIA: [984122],
  TOPIA: [2911],
  WEMIX: [1111],
  XAI: [660279],
  XDAI: [100, 10200],
  XDC: [50],
  XPL: [9745],
  XTZ: [42793],
  ZETA: [7000],
  tBNB: [97],
};

/** The names that differ from the symbols. */
const NAMES: Readonly<Record<string, string>> = {
  APE: 'ApeCoin',
  ASTR: 'Astar',
  AVAX: 'Avalanche',
  BERA: 'Berachain',
  BTCN: 'Bitcorn',
  CELO: 'Celo',
  CFX: 'Conflux',
  CORE: 'Core',
  CRO: 'Cronos',
  DEGEN: 'Degen',
  ETH: 'Ether',
  FIL: 'Filecoin',
  FLOW: 'Flow',
  FLR: 'Flare',
  FTM: 'Fantom',
  G: 'Gravity',
  GLMR: 'Glimmer',
  HYPE: 'Hyperliquid',
  IMX: 'Immutable',
  IP: 'Story',
  KAIA: 'Kaia',
  KAVA: 'Kava',
  METIS: 'Metis',
  MNT: 'Mantle',
  MON: 'Monad',
  MOVR: 'Moonriver',
  OMNI: 'Omni',
  ONE: 'Harmony',
  PLS: 'Pulse',
  PLUME: 'Plume',
  RBTC: 'Smart Bitcoin',
  RON: 'Ronin',
  S: 'Sonic',
  SEI: 'Sei',
  TIA: 'Celestia',
  TOPIA: 'Hychain',
  WEMIX: 'Wemix',
  XAI: 'Xai',
  XDAI: 'xDAI',
  XDC: 'XDC Network',
  XPL: 'Plasma',
  XTZ: 'Tezos',
  ZETA: 'ZetaChain',
};

/** Nearly all of them count in units of 10^-18, as the EVM does. */
const NATIVE_DECIMALS = 18;

/** A currency of which only this much is said. Its name is that of the well-known one of the symbol, else the symbol. */
export const currencyOf = (symbol: string, decimals: number = NATIVE_DECIMALS): NativeCurrency => ({
  symbol,
  name: NAMES[symbol] ?? symbol,
  decimals,
  logo: null,
});

/** The currencies in the table, by the ids of their chains. */
export const KNOWN_CURRENCIES: ReadonlyMap<number, NativeCurrency> = new Map(
  Object.entries(NATIVE_CURRENCIES).flatMap(([symbol, ids]) =>
    ids.map((id) => [id, currencyOf(symbol)] as const),
  ),
);
