import type { Chain, ChainReader, Hex, Transaction } from '../../types.ts';
import type { EventAsset } from './event.ts';

/** What the service knows of an asset. */
export type KnownAsset = {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** Of one whole unit; null when no market trades it. */
  readonly priceUsd: number | null;
  readonly logo: string | null;
  /** In dollars. Null when the service knows no pool, and for the native asset. */
  readonly poolSizeUsd: number | null;
  /** Whether it has no pool that is big enough to make a price. */
  readonly lowLiquidity: boolean;
};

const NATIVE_DECIMALS = 18;
/** A pool that holds less says little about a price. */
const LOW_LIQUIDITY_USD = 10_000;
const NATIVE: EventAsset = { type: 'native', token: null };

/** Null for a token that the service does not know; a null token is the chain's native asset. */
export const knownAsset = (simulator: ChainReader, chain: Chain, token: Hex | null): KnownAsset | null => {
  const logo = simulator.logo(chain.id, token);
  if (token === null)
    return { ...chain.native, decimals: NATIVE_DECIMALS, logo, poolSizeUsd: null, lowLiquidity: false };
  const known = simulator.token(chain.id, token);
  return known && { ...known, logo, lowLiquidity: (known.poolSizeUsd ?? 0) < LOW_LIQUIDITY_USD };
};

/** Which asset a side of a swap was; swaps trade native assets and ERC-20s, unless the token says otherwise. */
export const tradedAsset = (simulator: ChainReader, chain: Chain, token: Hex | null): EventAsset =>
  token === null ? NATIVE : { type: simulator.token(chain.id, token)?.standard ?? 'erc20', token };

/** The contract that a transaction calls, seen as a token; none for a plain payment or a creation. */
export const calledAssets = (
  simulator: ChainReader,
  { chain, to, data }: Transaction,
): readonly EventAsset[] =>
  to === null || data === '0x' ? [] : [{ type: simulator.token(chain.id, to)?.standard ?? null, token: to }];

/** All assets that a transaction is about: what it pays, whom it calls, what moved or was approved because of it. */
export const assetsOf = (simulator: ChainReader, transaction: Transaction): readonly EventAsset[] => {
  const moved = transaction.effects
    .filter((effect) => effect.kind !== 'swap')
    .map(({ asset, token }) => ({ type: asset, token }));
  return [...(transaction.value > 0n ? [NATIVE] : []), ...calledAssets(simulator, transaction), ...moved];
};

/** What an amount in the asset's smallest unit is worth now; null when that is unknown. */
export const usdValue = (amount: bigint, asset: KnownAsset | null): number | null => {
  if (asset === null || asset.priceUsd === null) return null;
  // The noise of binary fractions says nothing: twelve digits are more than a price has.
  return Number(((Number(amount) / 10 ** asset.decimals) * asset.priceUsd).toPrecision(12));
};

/** The `token_metadata` of an activity; undefined, so left out of the JSON, when the token is unknown. */
export const tokenMetadata = (asset: KnownAsset | null): Readonly<Record<string, unknown>> | undefined => {
  if (asset === null) return undefined;
  const { symbol, decimals, name, logo, priceUsd } = asset;
  return { symbol, decimals, name, logo: logo ?? undefined, price_usd: priceUsd ?? undefined };
};

/** `2025-11-13T04:42:10+00:00` from milliseconds since 1970. */
export const blockTime = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}+00:00`;
