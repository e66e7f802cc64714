import type { Chain } from '../../types.ts';

/** The shapes in which prices come: our own, and those of two price APIs that many use. */

/** Dollars by chain id and asset, such as `1/native` or `1/0x…`. */
export type PriceList = ReadonlyMap<string, number>;

type PricedChain = Pick<Chain, 'id' | 'name' | 'native'>;

type Fields = Readonly<Record<string, unknown>>;

/** An upper bound for any price, at which every amount still has a finite value. */
const MAX_PRICE = 1e15;

const EXPECTED =
  'a JSON object of chain ids, each with prices by `native` or a token\'s address: {"1":{"native":3120.5}}';

/**
 * Reads a list of prices. What an API says of assets of other chains is passed over.
 * @throws when it is not a list of prices. One in our own shape counts as a whole or not at all.
 */
export const parsePrices = (text: string, chains: readonly PricedChain[]): PriceList => {
  const value = parseJson(text);
  if (Array.isArray(value) && value.some((coin) => isFields(coin) && 'current_price' in coin))
    return fromMarkets(value, chains);
  if (isFields(value) && isFields(value.coins)) return fromCoins(value.coins, chains);
  if (isFields(value) && Object.values(value).some((coin) => isFields(coin) && 'usd' in coin))
    return fromSimple(value, chains);
  return fromOwn(value);
};

const fromOwn = (value: unknown): PriceList => {
  const prices = new Map<string, number>();
  for (const [chainId, assets] of entriesOf(value, '')) {
    if (!/^\d{1,16}$/.test(chainId)) throw new Error(`expected a chain id, got ${shown(chainId)}`);
    for (const [asset, price] of entriesOf(assets, ` for chain ${chainId}`)) {
      if (!/^(native|0x[0-9a-f]{40})$/i.test(asset))
        throw new Error(`expected \`native\` or an address for chain ${chainId}, got ${shown(asset)}`);
      if (!isPrice(price))
        throw new Error(
          `expected a number from 0 to ${MAX_PRICE} for ${asset} of chain ${chainId}, got ${shown(price)}`,
        );
      prices.set(`${Number(chainId)}/${asset.toLowerCase()}`, price);
    }
  }
  return prices;
};

/** DefiLlama's names of chains that have another one here. */
const LLAMA_NAMES: Fields = { bsc: 'bnb', xdai: 'gnosis', avax: 'avalanche_c', era: 'zksync' };

/**
 * The `coins` of https://coins.llama.fi/prices/current/…, by `chain:address`, and by `coingecko:id`: the latter are the native
 * assets with their symbols.
 */
const fromCoins = (coins: Fields, chains: readonly PricedChain[]): PriceList => {
  const prices = new Map<string, number>();
  for (const [coin, said] of Object.entries(coins)) {
    if (!isFields(said) || !isPrice(said.price)) continue;
    const [place = '', asset = ''] = coin.toLowerCase().split(':');
    const name = LLAMA_NAMES[place] ?? place;
    if (place === 'coingecko') addNative(prices, chains, said.symbol, said.price);
    else
      for (const chain of chains)
        if (chain.name === name)
          prices.set(`${chain.id}/${/^0x0{40}$/.test(asset) ? 'native' : asset}`, said.price);
  }
  return prices;
};

/** CoinGecko's `/coins/markets?vs_currency=usd`. */
const fromMarkets = (coins: readonly unknown[], chains: readonly PricedChain[]): PriceList => {
  const prices = new Map<string, number>();
  for (const coin of coins)
    if (isFields(coin) && isPrice(coin.current_price))
      addNative(prices, chains, coin.symbol, coin.current_price);
  return prices;
};

/** CoinGecko's ids of native assets. */
const SYMBOLS: Fields = {
  ...{ ethereum: 'ETH', binancecoin: 'BNB', xdai: 'XDAI', hyperliquid: 'HYPE', celo: 'CELO', mantle: 'MNT' },
  ...{ 'polygon-ecosystem-token': 'POL', 'avalanche-2': 'AVAX', rootstock: 'RBTC', ronin: 'RON' },
};

/** CoinGecko's `/simple/price?vs_currencies=usd`, by the ids of coins, or by their symbols where these were asked for. */
const fromSimple = (coins: Fields, chains: readonly PricedChain[]): PriceList => {
  const prices = new Map<string, number>();
  for (const [coin, said] of Object.entries(coins))
    if (isFields(said) && isPrice(said.usd)) addNative(prices, chains, SYMBOLS[coin] ?? coin, said.usd);
  return prices;
};

const addNative = (
  prices: Map<string, number>,
  chains: readonly PricedChain[],
  symbol: unknown,
  price: number,
): void => {
  if (typeof symbol !== 'string') return;
  for (const { id, native } of chains)
    if (native.symbol.toUpperCase() === symbol.toUpperCase()) prices.set(`${id}/native`, price);
};

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPrice = (price: unknown): price is number =>
  typeof price === 'number' && price >= 0 && price <= MAX_PRICE;

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 80);

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`expected ${EXPECTED}, got ${shown(text)}`);
  }
};

const entriesOf = (value: unknown, where: string): readonly (readonly [string, unknown])[] => {
  if (!isFields(value)) throw new Error(`expected ${EXPECTED}, got ${shown(value)}${where}`);
  return Object.entries(value);
};
