import type { SandboxNativeAsset } from '../chains.ts';
import type { SandboxToken } from '../contracts.ts';

const HOUR_MS = 3_600_000;

/** How far a price moves from its middle, as a fraction of it. */
const SWING = { pegged: 0.0005, traded: 0.08 };

/** A pool that is smaller does not trade, so its price stands still. */
const TRADED_POOL_USD = 10_000;

/**
 * An asset's price at a time in milliseconds since 1970, in dollars a whole unit: the same in each hour, whatever the
 * seed; null when it has none then.
 */
export const priceAt = (asset: SandboxToken | SandboxNativeAsset, time: number): number | null => {
  const { priceUsd } = asset;
  if (priceUsd === null || priceUsd === 0) return null;
  const isToken = 'poolSizeUsd' in asset;
  if (isToken && asset.tradedSince !== undefined && time < asset.tradedSince) return null;
  if (isToken && (asset.poolSizeUsd ?? 0) < TRADED_POOL_USD) return priceUsd;
  const swing = asset.isStable === true ? SWING.pegged : SWING.traded;
  return priceUsd * (1 + swing * walk(labelOf(asset), Math.floor(time / HOUR_MS)));
};

/** A wrapped asset has the price of what it wraps, and a token has one price on all chains. */
const labelOf = ({ symbol }: SandboxToken | SandboxNativeAsset): number =>
  [...symbol.replace(/^W(?=[A-Z])/, '')].reduce(
    (hash, letter) => Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193),
    0x811c9dc5,
  );

/** A number from -1 to 1 that moves slowly from day to day, and a little from hour to hour. */
const walk = (label: number, hour: number): number => {
  const day = Math.floor(hour / 24);
  const part = (hour - day * 24) / 24;
  const slow = noise(label, day) * (1 - part) + noise(label, day + 1) * part;
  return 0.9 * slow + 0.1 * noise(~label, hour);
};

/** A number from -1 to 1 that any change of its arguments changes altogether (the finaliser of MurmurHash3). */
const noise = (label: number, at: number): number => {
  let hash = label ^ Math.imul(at, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 31 - 1;
};
