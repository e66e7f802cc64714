import { isObject, type RawObject } from '../../lib/json/raw-object.ts';
import { addressOf, floatOf, int32Of, integerOf, textOf, urlOf } from './fields.ts';

/** An item's token; a field that the item lacks, or that can't be read, is null. */
export type TokenInfo = {
  /** Null for the native asset. */
  readonly address: string | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  /** The price of one whole token. */
  readonly priceUsd: number | null;
};

/** A token that was sold or bought in a swap. */
export type SwapSide = {
  readonly token: TokenInfo | null;
  /** In the token's smallest unit. */
  readonly value: string | null;
};

export type Swap = { readonly from: SwapSide | null; readonly to: SwapSide | null };

type Prefix = 'token_' | 'from_token_' | 'to_token_';

/**
 * Reads the token from `token_address` and `token_metadata` under one of the prefixes. A field that the metadata lacks is
 * read from the item instead, as `token_symbol` and so on. Null when the item has no field of the token.
 */
export const readToken = (raw: RawObject, prefix: Prefix): TokenInfo | null => {
  const token = tokenOf(raw[`${prefix}address`], raw[`${prefix}metadata`], raw, prefix);
  return isEmpty(token) ? null : token;
};

/** Reads the token of a balance change's `asset`, whose fields have no prefix. */
export const readAsset = (asset: RawObject): TokenInfo =>
  tokenOf(asset.token_address, asset.token_metadata, asset, '');

/** Reads both sides of a swap; null when the item has neither. */
export const readSwap = (raw: RawObject): Swap | null => {
  const [from, to] = [readSide(raw, 'from_token_'), readSide(raw, 'to_token_')];
  return from === null && to === null ? null : { from, to };
};

/** Upstream does not document the name of the amount: both known names are read. */
const readSide = (raw: RawObject, prefix: Prefix): SwapSide | null => {
  const side = {
    token: readToken(raw, prefix),
    value: integerOf(raw[`${prefix}value`]) ?? integerOf(raw[`${prefix}amount`]),
  };
  return isEmpty(side) ? null : side;
};

const tokenOf = (address: unknown, metadata: unknown, item: RawObject, prefix: string): TokenInfo => {
  const details = isObject(metadata) ? metadata : {};
  const read = <Value>(field: string, as: (value: unknown) => Value | null): Value | null =>
    as(details[field]) ?? as(item[`${prefix}${field}`]);
  return {
    address: addressOf(address),
    symbol: read('symbol', textOf),
    name: read('name', textOf),
    decimals: read('decimals', int32Of),
    logo: read('logo', urlOf),
    priceUsd: read('price_usd', floatOf),
  };
};

const isEmpty = (fields: object): boolean => Object.values(fields).every((value) => value === null);
