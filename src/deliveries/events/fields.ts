import { plainDecimal } from '../../lib/decimal.ts';
import { isObject, type RawObject } from '../../lib/json/exact-json.ts';
import { readTokenDecimals, readWebUrl } from '../../upstream/parse/fields.ts';

/** Lenient readers of single JSON fields: a value that can't be read is null, never an error. */

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A boolean, from a JSON boolean or from the text `true` or `false` in any case. */
export const booleanOf = (value: unknown): boolean | null => {
  const text = textOf(value)?.trim().toLowerCase();
  if (value === true || text === 'true') return true;
  return value === false || text === 'false' ? false : null;
};

const ADDRESS_LENGTH = 42;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const HEX = /^0x[0-9a-f]*$/;

/** A 20-byte address in lower case. */
export const addressOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length === ADDRESS_LENGTH ? inLowerCase(value, ADDRESS) : null;

/** 0x-prefixed hex in lower case. */
export const hexOf = (value: unknown): string | null =>
  typeof value === 'string' ? inLowerCase(value, HEX) : null;

/** The text in lower case if it matches then. Most texts are in lower case. */
const inLowerCase = (text: string, pattern: RegExp): string | null => {
  if (pattern.test(text)) return text;
  const lower = text.toLowerCase();
  return pattern.test(lower) ? lower : null;
};

/** A 256-bit integer has 78 digits at most. */
const MAX_DIGITS = 100;
/** A float represents it exactly. */
const SHORT_INTEGER = /^\d{1,15}$/;

/** A decimal string, from a JSON integer, a decimal string or 0x-hex of at most 100 digits. */
export const integerOf = (value: unknown): string | null => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  const text = textOf(value)?.trim() ?? '';
  if (text === '') return null;
  if (SHORT_INTEGER.test(text)) return String(Number(text));
  return text.length <= MAX_DIGITS && /^(?:-?\d+|0x[0-9a-f]+)$/i.test(text) ? BigInt(text).toString() : null;
};

/** A non-negative integer of at most 2^53 - 1, which a float represents exactly. */
export const smallIntegerOf = (value: unknown): number | null => {
  // The sum of -0 and 0 is 0.
  const integer = typeof value === 'number' ? value + 0 : Number(integerOf(value) ?? Number.NaN);
  return Number.isSafeInteger(integer) && integer >= 0 ? integer : null;
};

/** A non-negative integer of at most 2^31 - 1, the maximum of a GraphQL Int. */
export const int32Of = (value: unknown): number | null => {
  const integer = smallIntegerOf(value);
  return integer !== null && integer < 2 ** 31 ? integer : null;
};

/** A decimal number without an exponent, from a JSON number or its text: a float would lose digits of an amount of money. */
export const decimalOf = (value: unknown): string | null =>
  typeof value === 'number' ? plainDecimal(String(value)) : plainDecimal(textOf(value)?.trim() ?? '');

const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/i;

/** Milliseconds since 1970, from an ISO 8601 date-time. A date-time without a zone is in UTC. */
export const timeOf = (value: unknown): number | null => {
  const text = textOf(value)?.trim() ?? '';
  const match = TIME.exec(text);
  if (match === null) return null;
  const time = Date.parse(match[1] === undefined ? `${text}Z` : text);
  return Number.isNaN(time) ? null : time;
};

/** An ISO 8601 date-time in UTC. */
export const isoTimeOf = (value: unknown): string | null => {
  const time = timeOf(value);
  return time === null ? null : new Date(time).toISOString();
};

/** The value in upper case, if it is one of `names`. */
export const oneOf = <Name extends string>(names: readonly Name[], value: unknown): Name | null => {
  const name = textOf(value)?.toUpperCase();
  return names.find((known) => known === name) ?? null;
};

/** What an item says of its token; a field that the item lacks, or that can't be read, is null. */
type TokenFields = {
  /** Null for the native asset. */
  readonly address: string | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  /** The price of one whole token. */
  readonly priceUsd: string | null;
  /** The liquidity behind the price. */
  readonly poolSizeUsd: string | null;
};

/** The names of a token's fields in an item. A name made for each look-up would cost more than the look-up. */
const namesWith = (prefix: string) => ({
  address: `${prefix}address`,
  metadata: `${prefix}metadata`,
  symbol: `${prefix}symbol`,
  name: `${prefix}name`,
  decimals: `${prefix}decimals`,
  logo: `${prefix}logo`,
  priceUsd: `${prefix}price_usd`,
  poolSizeUsd: `${prefix}pool_size`,
  value: `${prefix}value`,
  amount: `${prefix}amount`,
});

type Names = ReturnType<typeof namesWith>;

const TOKEN = namesWith('token_');
const FROM_TOKEN = namesWith('from_token_');
const TO_TOKEN = namesWith('to_token_');
/** The fields of an asset have no prefix, except two. */
const ASSET: Names = {
  ...namesWith(''),
  address: TOKEN.address,
  metadata: TOKEN.metadata,
  poolSizeUsd: 'pool_size_usd',
};

/**
 * Reads the token from `token_address` and `token_metadata`. A field that the metadata lacks is read from the item instead,
 * as `token_symbol` and so on.
 */
export const readToken = (raw: RawObject): TokenFields => tokenOf(raw, TOKEN);

/** Reads the token of a balance change's `asset`, whose fields have no prefix. */
export const readAsset = (asset: RawObject): TokenFields => tokenOf(asset, ASSET);

/** What a swap sold. */
export const readSold = (raw: RawObject): SideFields => readSide(raw, FROM_TOKEN);

/** What a swap bought. */
export const readBought = (raw: RawObject): SideFields => readSide(raw, TO_TOKEN);

/** A token that was sold or bought, and how much of it, in its smallest unit. */
type SideFields = TokenFields & { readonly value: string | null };

/** Upstream does not document the name of the amount: both known names are read. */
const readSide = (raw: RawObject, names: Names): SideFields => ({
  ...tokenOf(raw, names),
  value: integerOf(raw[names.value]) ?? integerOf(raw[names.amount]),
});

const tokenOf = (item: RawObject, names: Names): TokenFields => {
  const metadata = item[names.metadata];
  const details: RawObject = isObject(metadata) ? metadata : {};
  return {
    address: addressOf(item[names.address]),
    symbol: textOf(details.symbol) ?? textOf(item[names.symbol]),
    name: textOf(details.name) ?? textOf(item[names.name]),
    decimals: readTokenDecimals(details.decimals) ?? readTokenDecimals(item[names.decimals]),
    logo: readWebUrl(details.logo) ?? readWebUrl(item[names.logo]),
    priceUsd: decimalOf(details.price_usd) ?? decimalOf(item[names.priceUsd]),
    poolSizeUsd: decimalOf(details.pool_size) ?? decimalOf(item[names.poolSizeUsd]),
  };
};
