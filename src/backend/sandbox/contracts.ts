import type { Event, Method } from '../evm/abi.ts';
import { erc20, wrapped as wrappedNative } from '../evm/standards.ts';
import type { Hex, Token } from '../types.ts';
import * as signatures from './abi.ts';
import type { SandboxChain } from './chains.ts';
import { type CollectionTemplate, GENUINE, LATEST, NAMES, UNSOLICITED } from './collections.ts';
import { addressOf } from './random.ts';

/** A token with its market. */
export type SandboxToken = Token & {
  /** The price around which its market moves, in dollars a whole token; null when no market makes a price. */
  readonly priceUsd: number | null;
  readonly poolSizeUsd: number | null;
  /** When it first traded, in milliseconds since 1970: it has no price before. Default: before every block. */
  readonly tradedSince?: number;
};

export type NftToken = SandboxToken & { readonly standard: 'erc721' | 'erc1155' };

/** A collection on one chain. */
export type SandboxCollection = Pick<CollectionTemplate, 'reputation' | 'uri' | 'description' | 'traits'> & {
  readonly token: NftToken;
  /** Milliseconds since 1970. */
  readonly launchedAt: number;
};

type Abi = Readonly<Record<string, Method | Event>>;

/** The contracts of one chain. Their addresses never change, whatever the seed. */
export type Contracts = {
  readonly wrapped: SandboxToken;
  /** Every ERC-20 that trades, the wrapped native asset among them. */
  readonly coins: readonly SandboxToken[];
  /** The genuine collections, which wallets mint and trade. */
  readonly collections: readonly SandboxCollection[];
  /** The spam collections, which are airdropped unasked by contracts that the service does not decode. */
  readonly unsolicited: readonly SandboxCollection[];
  /** The collection that launches as the sandbox starts. */
  readonly latest: SandboxCollection;
  /** The collection of registered names. */
  readonly names: SandboxCollection;
  /** All of these collections, by address. */
  readonly nfts: ReadonlyMap<Hex, SandboxCollection>;
  readonly pathRouter: Hex;
  readonly tupleRouter: Hex;
  readonly pool: Hex;
  readonly marketplace: Hex;
  readonly registrar: Hex;
  /** Contracts without a known ABI. */
  readonly unknown: readonly Hex[];
  /** The ABI of each contract that the service decodes. */
  readonly abis: ReadonlyMap<Hex, Abi>;
  /** The names of known contracts that are not tokens. */
  readonly contractNames: ReadonlyMap<Hex, string>;
  /** Every token whose metadata is known. */
  readonly tokens: ReadonlyMap<Hex, SandboxToken>;
};

const STANDARDS: Readonly<Record<Token['standard'], Abi>> = {
  erc20,
  erc721: signatures.erc721,
  erc1155: signatures.erc1155,
};

const stable = (name: string) => ({ isStable: true, site: `https://${name}.example` });

const COINS = [
  {
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
    priceUsd: 1,
    poolSizeUsd: 48_210_330.5,
    ...stable('usdc'),
  },
  {
    symbol: 'USDT',
    name: 'Tether USD',
    decimals: 6,
    priceUsd: 0.9998,
    poolSizeUsd: 31_562_004,
    ...stable('usdt'),
  },
  {
    symbol: 'DAI',
    name: 'Dai Stablecoin',
    decimals: 18,
    priceUsd: 1.0001,
    poolSizeUsd: 9_870_412.25,
    ...stable('dai'),
  },
  { symbol: 'WBTC', name: 'Wrapped BTC', decimals: 8, priceUsd: 88_402.1, poolSizeUsd: 22_719_650 },
  { symbol: 'MOTH', name: 'Moth', decimals: 18, priceUsd: null, poolSizeUsd: 3_150.75 },
] as const;

/** The size of the wrapped native asset's pool, on chains where that asset has a price. */
const NATIVE_POOL_USD = 64_008_190;

/** The price in dollars at which swaps trade a token without a market price. */
export const UNLISTED_PRICE = 0.0125;

/** The contracts of a chain. `startedAt`, in milliseconds since 1970, is when the newest collections launch. */
export const deploy = (chain: SandboxChain, startedAt: number): Contracts => {
  const at = (label: string) => addressOf(`contract: ${label} on ${chain.id}`);
  const wrapped: SandboxToken = {
    chain,
    address: at('wrapped'),
    standard: 'erc20',
    symbol: `W${chain.native.symbol}`,
    name: `Wrapped ${chain.native.name}`,
    decimals: 18,
    priceUsd: chain.native.priceUsd,
    poolSizeUsd: chain.native.priceUsd > 0 ? NATIVE_POOL_USD : 0,
    isStable: chain.native.isStable ?? false,
  };
  const coins = [
    wrapped,
    ...COINS.map((coin) => ({ ...coin, chain, address: at(coin.symbol), standard: 'erc20' as const })),
  ];
  const collection = ({
    name,
    symbol,
    standard,
    launchedAt,
    ...template
  }: CollectionTemplate): SandboxCollection => ({
    ...template,
    launchedAt: launchedAt ?? startedAt,
    token: {
      chain,
      address: at(symbol),
      standard,
      symbol,
      name,
      decimals: 0,
      priceUsd: null,
      poolSizeUsd: null,
    },
  });
  const nfts = {
    collections: GENUINE.map(collection),
    unsolicited: UNSOLICITED.map(collection),
    latest: collection(LATEST),
    names: collection(NAMES),
  };
  const known = [...nfts.collections, nfts.latest, nfts.names];
  const others = {
    pathRouter: at('path router'),
    tupleRouter: at('tuple router'),
    pool: at('pool'),
    marketplace: at('marketplace'),
    registrar: at('registrar'),
  };
  const tokens = [...coins, ...known.map(({ token }) => token), ...oddTokens(chain, startedAt, at)];
  return {
    wrapped,
    coins,
    ...nfts,
    nfts: new Map([...known, ...nfts.unsolicited].map((each) => [each.token.address, each])),
    ...others,
    unknown: ['a', 'b', 'c'].map((label) => at(`unknown ${label}`)),
    abis: new Map<Hex, Abi>([
      ...tokens.map((token) => [token.address, STANDARDS[token.standard]] as const),
      [wrapped.address, { ...erc20, ...wrappedNative }],
      [others.pathRouter, signatures.pathRouter],
      [others.tupleRouter, signatures.tupleRouter],
      [others.pool, signatures.pool],
      [others.marketplace, signatures.marketplace],
      [others.registrar, signatures.registrar],
    ]),
    tokens: new Map(tokens.map((token) => [token.address, token])),
    contractNames: new Map([
      [others.pathRouter, 'Path Router'],
      [others.tupleRouter, 'Tuple Router'],
      [others.marketplace, 'Marketplace'],
      [others.registrar, 'Name Registrar'],
    ]),
  };
};

type OddToken = Omit<SandboxToken, 'chain' | 'address' | 'standard'>;

const HOUR_MS = 3_600_000;
const pegged = { isStable: true, decimals: 18 };

/** The tokens of Ethereum, beside its coins. */
const ETHEREUM: readonly OddToken[] = [
  // Any price can come out of a pool with next to nothing in it.
  {
    symbol: 'OMEGA',
    name: 'Omega',
    decimals: 18,
    priceUsd: 1.233346836175539e21,
    poolSizeUsd: 1233.346836175539,
  },
  {
    symbol: 'ABYSS',
    name: 'Abyss',
    decimals: 9,
    priceUsd: 9388386012000030000,
    poolSizeUsd: 9.38838601200003,
  },
  { symbol: 'GRAIN', name: 'Grain of Sand', decimals: 18, priceUsd: 8.852246853764e-6, poolSizeUsd: 4_210.5 },
  {
    symbol: 'BUSD',
    name: 'BUSD',
    ...pegged,
    priceUsd: 1,
    poolSizeUsd: 1_204_100.5,
    site: 'https://busd.example',
  },
  { symbol: 'sDAI', name: 'Savings Dai', ...pegged, priceUsd: 1.1834, poolSizeUsd: 6_300_201 },
  { symbol: 'sUSDe', name: 'Staked USDe', ...pegged, priceUsd: 1.2107, poolSizeUsd: 14_810_377.75 },
  {
    symbol: 'EURC',
    name: 'Euro Coin',
    isStable: true,
    decimals: 6,
    priceUsd: 1.1612,
    poolSizeUsd: 3_950_118.25,
  },
  // What positions give for what is put into them.
  { symbol: 'vUSDC', name: 'USDC Vault', decimals: 18, priceUsd: 1.0731, poolSizeUsd: 52_400 },
  { symbol: 'aUSDC', name: 'Lent USDC', decimals: 6, priceUsd: 1, poolSizeUsd: 912_340.5 },
  { symbol: 'LP', name: 'Pool Share', decimals: 18, priceUsd: 184.25, poolSizeUsd: 88_000 },
  { symbol: 'PT-sUSDe', name: 'Principal sUSDe', decimals: 18, priceUsd: 0.9743, poolSizeUsd: 241_050 },
];

const GNOSIS: readonly OddToken[] = [
  { symbol: 'EURe', name: 'Monerium EUR emoney', ...pegged, priceUsd: 1.1609, poolSizeUsd: 2_115_600.5 },
  { symbol: 'sDAI', name: 'Savings xDAI', ...pegged, priceUsd: 1.2211, poolSizeUsd: 1_870_012 },
];

const BASE: readonly OddToken[] = [
  { symbol: 'LOTTO', name: 'Lottery Ticket', decimals: 0, priceUsd: null, poolSizeUsd: null },
];

/** The number of tokens that the wallet `dust` holds. */
export const DUST_TOKENS = 2_500;
const DUST_DECIMALS = [18, 6, 8, 0, 9];

/** Every kind of price and pool in turn: absurd, unpriced, deep and nearly empty. */
const dustToken = (at: number): OddToken => {
  const named = {
    symbol: `DUST${at}`,
    name: `Speck of Dust ${at}`,
    decimals: DUST_DECIMALS[at % DUST_DECIMALS.length] ?? 18,
  };
  if (at % 100 === 0)
    return { ...named, priceUsd: 1.233346836175539e21 / (at + 1), poolSizeUsd: 1233.346836175539 };
  if (at % 50 === 1) return { ...named, priceUsd: 9388386012000030000, poolSizeUsd: 9.38838601200003 };
  if (at % 10 === 3) return { ...named, priceUsd: null, poolSizeUsd: null };
  if (at % 7 === 2) return { ...named, priceUsd: 0.001 * (at + 1), poolSizeUsd: 10_000 + at };
  return { ...named, priceUsd: 7.65e-7 * (at + 1), poolSizeUsd: 50 + at };
};

/** Addresses that take no hash each: there are thousands. */
export const dustAddress = (at: number): Hex => `0xd057${at.toString(16).padStart(36, '0')}`;

/**
 * The tokens that no wallet trades: those of thin pools, pegged ones, receipts of DeFi positions. `startedAt`, in
 * milliseconds since 1970, is when the sandbox starts.
 */
const oddTokens = (
  chain: SandboxChain,
  startedAt: number,
  addressOf: (symbol: string) => Hex,
): readonly SandboxToken[] => {
  const token = (address: Hex, odd: OddToken): SandboxToken => ({
    ...odd,
    chain,
    address,
    standard: 'erc20',
  });
  const named = (odd: OddToken) => token(addressOf(odd.symbol), odd);
  if (chain.id === 1) {
    const tradedSince = startedAt - 30 * HOUR_MS;
    const fresh = {
      symbol: 'FRESH',
      name: 'Fresh Paint',
      decimals: 18,
      priceUsd: 0.4821,
      poolSizeUsd: 120_455.5,
    };
    return [...ETHEREUM, { ...fresh, tradedSince }].map(named);
  }
  if (chain.id === 100) return GNOSIS.map(named);
  if (chain.id !== 8453) return [];
  const dust = Array.from({ length: DUST_TOKENS }, (_, at) => token(dustAddress(at), dustToken(at)));
  return [...BASE.map(named), ...dust];
};
