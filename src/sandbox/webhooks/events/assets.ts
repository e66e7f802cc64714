import type { Chain, ChainReader, Hex, Transaction } from '../../types.ts';
import type { EventAsset } from './event.ts';

/** The known metadata of an asset. */
export type KnownAsset = {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** The price of one whole unit in dollars; null when no market trades it. */
  readonly priceUsd: number | null;
  readonly logo: string | null;
  /** The size of its pool in dollars; null when no pool is known, and for the native asset. */
  readonly poolSizeUsd: number | null;
  /** Whether it has no pool that is big enough to make a price. */
  readonly lowLiquidity: boolean;
};

const NATIVE_DECIMALS = 18;
/** A smaller pool does not make a reliable price. */
const LOW_LIQUIDITY_USD = 10_000;
const NATIVE: EventAsset = { type: 'native', token: null };

/** An asset's metadata; null for an unknown token. A null token is the chain's native asset. */
export const knownAsset = (simulator: ChainReader, chain: Chain, token: Hex | null): KnownAsset | null => {
  const logo = simulator.logo(chain.id, token);
  if (token === null)
    return { ...chain.native, decimals: NATIVE_DECIMALS, logo, poolSizeUsd: null, lowLiquidity: false };
  const known = simulator.token(chain.id, token);
  return known && { ...known, logo, lowLiquidity: (known.poolSizeUsd ?? 0) < LOW_LIQUIDITY_USD };
};

/** The asset of one side of a swap: the native asset or an ERC-20, unless the token has another standard. */
export const tradedAsset = (simulator: ChainReader, chain: Chain, token: Hex | null): EventAsset =>
  token === null ? NATIVE : { type: simulator.token(chain.id, token)?.standard ?? 'erc20', token };

/** The contract that a transaction calls, as an asset; empty for a plain payment or a creation. */
export const calledAssets = (
  simulator: ChainReader,
  { chain, to, data }: Transaction,
): readonly EventAsset[] =>
  to === null || data === '0x' ? [] : [{ type: simulator.token(chain.id, to)?.standard ?? null, token: to }];

/**
 * All assets of a transaction: the native asset that it pays, the contract that it calls, and the assets that it moves
 * or approves.
 */
export const assetsOf = (simulator: ChainReader, transaction: Transaction): readonly EventAsset[] => {
  const moved = transaction.effects
    .filter((effect) => effect.kind !== 'swap')
    .map(({ asset, token }) => ({ type: asset, token }));
  return [...(transaction.value > 0n ? [NATIVE] : []), ...calledAssets(simulator, transaction), ...moved];
};

/** The value in dollars of an amount in the asset's smallest unit; null when the price is unknown. */
export const usdValue = (amount: bigint, asset: KnownAsset | null): number | null => {
  if (asset === null || asset.priceUsd === null) return null;
  // Twelve digits are more than a price has. Further digits are rounding noise.
  return Number(((Number(amount) / 10 ** asset.decimals) * asset.priceUsd).toPrecision(12));
};

/** The `token_metadata` of an activity; undefined, and so omitted from the JSON, when the token is unknown. */
export const tokenMetadata = (asset: KnownAsset | null): Readonly<Record<string, unknown>> | undefined => {
  if (asset === null) return undefined;
  const { symbol, decimals, name, logo, priceUsd } = asset;
  return { symbol, decimals, name, logo: logo ?? undefined, price_usd: priceUsd ?? undefined };
};

/** Formats milliseconds since 1970 as `2025-11-13T04:42:10+00:00`. */
export const blockTime = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}+00:00`;
