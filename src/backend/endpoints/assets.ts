import type { ChainReader } from '../source.ts';
import type { AssetType, Chain, Hex, Token } from '../types.ts';

/** One of an event's assets. */
export type EventAsset = {
  /** Null for a called contract that is not a known token. */
  readonly type: AssetType | null;
  /** Null for the native asset. */
  readonly token: Hex | null;
};

/** The known metadata of an asset, at one time. */
export type KnownAsset = {
  readonly standard: AssetType;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** The price of one whole unit in dollars; null when no market trades it. */
  readonly priceUsd: number | null;
  readonly logo: string | null;
  /** The size of its pool in dollars; null when no pool is known, and for the native asset. */
  readonly poolSizeUsd: number | null;
  /** Whether it has no pool that is big enough to make a price; null where pools are unknown. */
  readonly lowLiquidity: boolean | null;
  readonly isStable: boolean;
  /** Whether the source flags it as spam; null where it does not say. */
  readonly isFlagged: boolean | null;
  readonly marketCapUsd: number | null;
  readonly site: string | null;
};

/** A smaller pool does not make a reliable price. */
const LOW_LIQUIDITY_USD = 10_000;
export const NATIVE: EventAsset = { type: 'native', token: null };

/**
 * An asset's metadata at a time in milliseconds since 1970; null for an unknown token. A null token is the chain's native
 * asset. `type` is what moves of it: a coin may have NFTs as well, which have no decimals and not its price. Default: the coin.
 */
export const knownAsset = (
  data: ChainReader,
  chain: Chain,
  token: Hex | null,
  time: number,
  type?: AssetType,
): KnownAsset | null => {
  const known = token === null ? null : data.token(chain.id, token);
  if (token !== null && known === null) return null;
  const isNftOfCoin = known?.standard === 'erc20' && (type === 'erc721' || type === 'erc1155');
  if (isNftOfCoin) return { ...nftOf(known, type), logo: data.logo(chain.id, token) };
  const { symbol, name, decimals, isStable = false } = known ?? chain.native;
  const pool = known?.poolSizeUsd;
  return {
    standard: known?.standard ?? 'native',
    symbol,
    name,
    decimals,
    priceUsd: data.price(chain.id, token, time),
    logo: data.logo(chain.id, token),
    poolSizeUsd: pool ?? null,
    lowLiquidity: known === null ? false : pool === undefined ? null : (pool ?? 0) < LOW_LIQUIDITY_USD,
    isStable,
    isFlagged: known?.flagged ?? null,
    marketCapUsd: known?.marketCapUsd ?? null,
    site: known?.site ?? null,
  };
};

const nftOf = ({ symbol, name, site }: Token, standard: AssetType): Omit<KnownAsset, 'logo'> => ({
  ...{ standard, symbol, name, decimals: 0, site: site ?? null, isStable: false },
  ...{ priceUsd: null, poolSizeUsd: null, lowLiquidity: null, isFlagged: null, marketCapUsd: null },
});

/** The asset of one side of a swap: the native asset or an ERC-20, unless the token has another standard. */
export const tradedAsset = (data: ChainReader, chain: Chain, token: Hex | null): EventAsset =>
  token === null ? NATIVE : { type: data.token(chain.id, token)?.standard ?? 'erc20', token };

/** What an amount in the asset's smallest unit is worth in dollars, to the precision of a double. */
export const worth = (amount: bigint, { decimals }: Pick<KnownAsset, 'decimals'>, price: number): number =>
  (Number(amount) / 10 ** decimals) * price;

/** The value in dollars of an amount in the asset's smallest unit; null without a price. */
export const usdValue = (amount: bigint, asset: KnownAsset | null): number | null =>
  asset === null || asset.priceUsd === null ? null : worth(amount, asset, asset.priceUsd);

/** A price or a value with the digits that lookups of balances write. */
export const inFifteenDigits = (value: number | null): number | null =>
  value === null ? null : Number(value.toPrecision(15));

/** Formats milliseconds since 1970 as `2025-11-13T04:42:10+00:00`. */
export const isoSeconds = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}+00:00`;

/** The same with nine digits of a second, which are left out where they are 0. */
export const isoNanoseconds = (milliseconds: number): string => {
  const rest = Math.floor(milliseconds) % 1000;
  return rest === 0
    ? isoSeconds(milliseconds)
    : isoSeconds(milliseconds).replace('+', `.${String(rest).padStart(3, '0')}000000+`);
};
