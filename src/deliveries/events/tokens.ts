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

/** The names of a token's fields in an item. A name made for each look-up would cost more than the look-up. */
const namesWith = (prefix: string) => ({
  address: `${prefix}address`,
  metadata: `${prefix}metadata`,
  symbol: `${prefix}symbol`,
  name: `${prefix}name`,
  decimals: `${prefix}decimals`,
  logo: `${prefix}logo`,
  priceUsd: `${prefix}price_usd`,
  value: `${prefix}value`,
  amount: `${prefix}amount`,
});

type Names = ReturnType<typeof namesWith>;

const TOKEN = namesWith('token_');
const FROM_TOKEN = namesWith('from_token_');
const TO_TOKEN = namesWith('to_token_');
/** The fields of an asset have no prefix, except two. */
const ASSET: Names = { ...namesWith(''), address: TOKEN.address, metadata: TOKEN.metadata };

/**
 * Reads the token from `token_address` and `token_metadata`. A field that the metadata lacks is read from the item instead,
 * as `token_symbol` and so on. Null when the item has no field of the token.
 */
export const readToken = (raw: RawObject): TokenInfo | null => tokenUnlessEmpty(raw, TOKEN);

/** Reads the token of a balance change's `asset`, whose fields have no prefix. */
export const readAsset = (asset: RawObject): TokenInfo => tokenOf(asset, ASSET);

/** Reads both sides of a swap; null when the item has neither. */
export const readSwap = (raw: RawObject): Swap | null => {
  const [from, to] = [readSide(raw, FROM_TOKEN), readSide(raw, TO_TOKEN)];
  return from === null && to === null ? null : { from, to };
};

/** Upstream does not document the name of the amount: both known names are read. */
const readSide = (raw: RawObject, names: Names): SwapSide | null => {
  const side = {
    token: tokenUnlessEmpty(raw, names),
    value: integerOf(raw[names.value]) ?? integerOf(raw[names.amount]),
  };
  return isEmpty(side) ? null : side;
};

const tokenUnlessEmpty = (item: RawObject, names: Names): TokenInfo | null => {
  const token = tokenOf(item, names);
  return isEmpty(token) ? null : token;
};

const tokenOf = (item: RawObject, names: Names): TokenInfo => {
  const metadata = item[names.metadata];
  const details: RawObject = isObject(metadata) ? metadata : {};
  return {
    address: addressOf(item[names.address]),
    symbol: textOf(details.symbol) ?? textOf(item[names.symbol]),
    name: textOf(details.name) ?? textOf(item[names.name]),
    decimals: int32Of(details.decimals) ?? int32Of(item[names.decimals]),
    logo: urlOf(details.logo) ?? urlOf(item[names.logo]),
    priceUsd: floatOf(details.price_usd) ?? floatOf(item[names.priceUsd]),
  };
};

const isEmpty = (fields: object): boolean => Object.values(fields).every((value) => value === null);
