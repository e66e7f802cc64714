import { addressOf, floatOf, int32Of, integerOf, isObject, type RawObject, textOf, urlOf } from './fields.ts';

/** What an item says of a token: null where it does not say it, or does not say it so that it reads. */
export type TokenInfo = {
  /** Null for the native asset. */
  readonly address: string | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  /** Of one whole token. */
  readonly priceUsd: number | null;
};

/** What was given or taken in a swap. */
export type SwapSide = {
  readonly token: TokenInfo | null;
  /** In the token's smallest unit. */
  readonly value: string | null;
};

export type Swap = { readonly from: SwapSide | null; readonly to: SwapSide | null };

type Prefix = 'token_' | 'from_token_' | 'to_token_';

/**
 * From `token_address` and `token_metadata` under one of the prefixes. What the metadata leaves out is also looked for
 * beside it, as `token_symbol` and so on. Null when the item says nothing of the token.
 */
export const readToken = (raw: RawObject, prefix: Prefix): TokenInfo | null => {
  const token = tokenOf(raw[`${prefix}address`], raw[`${prefix}metadata`], raw, prefix);
  return saysNothing(token) ? null : token;
};

/** A balance change's `asset`, whose fields stand without a prefix. */
export const readAsset = (asset: RawObject): TokenInfo =>
  tokenOf(asset.token_address, asset.token_metadata, asset, '');

/** Null when the item says nothing of either side. */
export const readSwap = (raw: RawObject): Swap | null => {
  const [from, to] = [readSide(raw, 'from_token_'), readSide(raw, 'to_token_')];
  return from === null && to === null ? null : { from, to };
};

/** How deployments name the amount is not documented: both names are read. */
const readSide = (raw: RawObject, prefix: Prefix): SwapSide | null => {
  const side = {
    token: readToken(raw, prefix),
    value: integerOf(raw[`${prefix}value`]) ?? integerOf(raw[`${prefix}amount`]),
  };
  return saysNothing(side) ? null : side;
};

const tokenOf = (address: unknown, metadata: unknown, beside: RawObject, prefix: string): TokenInfo => {
  const details = isObject(metadata) ? metadata : {};
  const read = <Value>(field: string, as: (value: unknown) => Value | null): Value | null =>
    as(details[field]) ?? as(beside[`${prefix}${field}`]);
  return {
    address: addressOf(address),
    symbol: read('symbol', textOf),
    name: read('name', textOf),
    decimals: read('decimals', int32Of),
    logo: read('logo', urlOf),
    priceUsd: read('price_usd', floatOf),
  };
};

const saysNothing = (said: object): boolean => Object.values(said).every((value) => value === null);
