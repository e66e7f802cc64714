import type { SandboxChain } from '../chains.ts';
import type { Collection, Hex, Token } from '../types.ts';
import type { Event, Method } from './abi.ts';
import * as signatures from './abi.ts';
import type { CollectionTemplate } from './collections.ts';
import { GENUINE, LATEST, NAMES, UNSOLICITED } from './collections.ts';
import { oddTokens } from './odd-tokens.ts';
import { addressOf } from './random.ts';

type Abi = Readonly<Record<string, Method | Event>>;

/** The contracts of one chain. Their addresses never change, whatever the seed. */
export type Contracts = {
  readonly wrapped: Token;
  /** Every ERC-20 that trades, the wrapped native asset among them. */
  readonly coins: readonly Token[];
  /** The genuine collections, which wallets mint and trade. */
  readonly collections: readonly Collection[];
  /** The spam collections, which are airdropped unasked by contracts that the service does not decode. */
  readonly unsolicited: readonly Collection[];
  /** The collection that launches as the sandbox starts. */
  readonly latest: Collection;
  /** The collection of registered names. */
  readonly names: Collection;
  /** All of these collections, by address. */
  readonly nfts: ReadonlyMap<Hex, Collection>;
  readonly pathRouter: Hex;
  readonly tupleRouter: Hex;
  readonly pool: Hex;
  readonly marketplace: Hex;
  readonly registrar: Hex;
  /** Contracts without a known ABI. */
  readonly unknown: readonly Hex[];
  /** The ABI of each contract that the service decodes. */
  readonly abis: ReadonlyMap<Hex, Abi>;
  /** The names of known contracts that are no tokens. */
  readonly contractNames: ReadonlyMap<Hex, string>;
  /** Every token whose metadata is known. */
  readonly tokens: ReadonlyMap<Hex, Token>;
};

const STANDARDS: Readonly<Record<Token['standard'], Abi>> = {
  erc20: signatures.erc20,
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
  const wrapped: Token = {
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
  }: CollectionTemplate): Collection => ({
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
      [wrapped.address, { ...signatures.erc20, ...signatures.wrapped }],
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
