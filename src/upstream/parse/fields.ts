import { plainDecimal } from '../../lib/decimal.ts';
import { isWithin } from '../../lib/json/size.ts';

/**
 * Strict readers of one value of upstream's JSON. Upstream sends integers as JSON numbers, decimal strings or hex strings;
 * none of them passes through a float. A reader throws MalformedFieldError for a value that it can't parse. `optional`
 * returns null for an absent field and for null, since deployments send either.
 */

/** How one value of upstream's JSON is read. */
export type FieldKind =
  | 'string'
  /** A 20-byte address in lower case. */
  | 'address'
  /** As `address`; "" counts as null. */
  | 'addressOrEmpty'
  /** As `addressOrEmpty`; "native" counts as null: the chain's own currency has no address. */
  | 'addressOrNative'
  /** 0x-prefixed hex in lower case. */
  | 'hex'
  /** An integer as a decimal string. */
  | 'integer'
  /** A decimal number as a string. */
  | 'decimal'
  | 'number'
  /** A number that is an integer of 32 bits with a sign. */
  | 'int'
  | 'boolean'
  /** ISO 8601 in UTC with milliseconds. */
  | 'time'
  | 'chainId'
  /** Any JSON of at most 200 levels. */
  | 'json'
  /** As `integer`; null where a delivery names a side, SENDER or RECEIVER in any case. */
  | 'integerOrSide'
  /** Null for anything but a string. */
  | 'lenientString'
  /** A string that begins with http://, https:// or ipfs://, in any case; null for anything else: pages show it as it is. */
  | 'webUrl'
  /** An integer from 0 to 255, since ERC-20 states decimals in 8 bits; null for anything else. */
  | 'tokenDecimals'
  /** A string as it is, any other JSON as its JSON text. */
  | 'text'
  /** Any JSON. Numbers and booleans become strings, even in lists of lists; objects stay unchanged. */
  | 'texts';

export class MalformedFieldError extends Error {
  readonly field: string;
  readonly problem: string;

  constructor(field: string, problem: string) {
    // A page may have thousands of malformed fields. A stack would cost more than all the rest, and shows nothing useful.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(`${field}: ${problem}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'MalformedFieldError';
    this.field = field;
    this.problem = problem;
  }

  /** The same error with a longer field name: `hash` becomes `transactions[3].hash`. */
  within(place: string): MalformedFieldError {
    return new MalformedFieldError(`${place}.${this.field}`, this.problem);
  }
}

export const malformed = (field: string, expected: string, got: unknown): MalformedFieldError =>
  new MalformedFieldError(field, `expected ${expected}, got ${shown(got)}`);

/** Reads the value of the named field. Throws MalformedFieldError. */
export type Reader<Value> = (value: unknown, field: string) => Value;

export const optional =
  <Value>(read: Reader<Value>): Reader<Value | null> =>
  (value, field) =>
    value === undefined || value === null ? null : read(value, field);

export const readString: Reader<string> = (value, field) => {
  if (typeof value === 'string') return value;
  throw malformed(field, 'a string', value);
};

export const readBoolean: Reader<boolean> = (value, field) => {
  if (typeof value === 'boolean') return value;
  throw malformed(field, 'true or false', value);
};

export const readNumber: Reader<number> = (value, field) => {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw malformed(field, 'a number', value);
};

/** An integer of 32 bits with a sign. */
export const readInt: Reader<number> = (value, field) => {
  const number = readNumber(value, field);
  if (number === (number | 0)) return number;
  throw malformed(field, 'an integer from -2^31 to 2^31 - 1', value);
};

/** The decimals of a token. Null for a number that no token can have, since no amount could be shown with it. */
export const readTokenDecimals = (value: unknown): number | null => {
  const number = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value;
  const isByte = typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= 255;
  // JSON has a zero with a sign.
  return isByte ? number + 0 : null;
};

/** A URL that a page may show as it is; null for anything else. */
export const readWebUrl = (value: unknown): string | null =>
  typeof value === 'string' && /^(?:https?|ipfs):\/\/[\s\S]/i.test(value) ? value : null;

/** A 20-byte address in lower case. */
export const readAddress: Reader<string> = (value, field) => {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase();
  throw malformed(field, 'a 20-byte hex address', value);
};

/** A UUID in lower case. */
export const readUuid: Reader<string> = (value, field) => {
  if (typeof value === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value))
    return value.toLowerCase();
  throw malformed(field, 'a UUID', value);
};

/** 0x-prefixed hex in lower case. */
export const readHex: Reader<string> = (value, field) => {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)) return value.toLowerCase();
  throw malformed(field, '0x-prefixed hex', value);
};

/** Longer integers are malformed: a 256-bit integer has 78 digits. */
const MAX_DIGITS = 100;

/** An integer of at most 100 digits, as a decimal string. */
export const readInteger: Reader<string> = (value, field) => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string' && value.length <= MAX_DIGITS) {
    if (/^(?:0|-?[1-9]\d*)$/.test(value)) return value;
    if (/^(?:-?\d+|0[xX][0-9a-fA-F]+)$/.test(value)) return BigInt(value).toString();
    if (value === '0x') return '0';
  }
  throw malformed(field, 'an integer (decimal or 0x-hex)', value);
};

/** A decimal number as a string, with the digits that upstream wrote and without an exponent. */
export const readDecimal: Reader<string> = (value, field) => {
  const text = typeof value === 'number' ? String(value) : value;
  const decimal = typeof text === 'string' ? plainDecimal(text) : null;
  if (decimal !== null) return decimal;
  throw malformed(field, 'a decimal number', value);
};

/** A non-negative integer that a JSON number holds exactly. */
export const readChainId: Reader<number> = (value, field) => {
  const id = Number(readInteger(value, field));
  if (Number.isSafeInteger(id) && id >= 0) return id;
  throw malformed(field, 'a chain id of at most 2^53 - 1', value);
};

/** A time as it is written here, on a day that every month has. Most are. */
const WRITTEN_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** ISO 8601 in UTC with milliseconds. A time without a zone counts as UTC. */
export const readTime: Reader<string> = (value, field) => {
  if (typeof value === 'string') {
    if (WRITTEN_TIME.test(value)) return value;
    const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(value) ? value : `${value}Z`;
    const time = Date.parse(zoned);
    if (/^\d{4}-\d{2}-\d{2}/.test(value) && !Number.isNaN(time)) return new Date(time).toISOString();
  }
  throw malformed(field, 'an ISO 8601 date-time', value);
};

/** A list. A missing field or null counts as empty. */
export const readList: Reader<readonly unknown[]> = (value, field) => {
  const list = value ?? [];
  if (Array.isArray(list)) return list;
  throw malformed(field, 'a list', value);
};

/** More levels than any real value has, and few enough for the stack of a recursive reader. */
const MAX_LEVELS = 200;

/** Any JSON of at most 200 levels; null for an absent field. */
export const readJson: Reader<unknown> = (value, field) => {
  if (isWithin(value, { levels: MAX_LEVELS, characters: Number.POSITIVE_INFINITY })) return value ?? null;
  throw malformed(field, `a value of at most ${MAX_LEVELS} levels`, value);
};

const MAX_SHOWN = 80;

const shown = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') {
    const text = JSON.stringify(value.slice(0, MAX_SHOWN));
    return value.length > MAX_SHOWN || text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}…` : text;
  }
  if (isWithin(value, { levels: MAX_LEVELS, characters: MAX_SHOWN })) return JSON.stringify(value);
  return Array.isArray(value) ? `a list of ${value.length}` : 'a large object';
};

/** The closed sets of words that upstream uses, as GraphQL spells them: the wire has them in lower case. */

export const WEBHOOK_TYPES = ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'] as const;
export const TRANSACTION_SIDES = ['SENDER', 'RECEIVER'] as const;
export const ACTIVITY_TYPES = ['APPROVE', 'MINT', 'BURN', 'RECEIVE', 'SEND', 'SWAP', 'CALL'] as const;
export const ASSET_TYPES = ['NATIVE', 'ERC20', 'ERC721', 'ERC1155'] as const;

/** What the service may offer for a chain, by the names in its list of chains. */
export const CHAIN_LOOKUPS = [
  'BALANCES',
  'ACTIVITY',
  'TRANSACTIONS',
  'TRANSACTION',
  'COLLECTIBLES',
  'APPROVALS',
  'NAMES',
  'TOKEN_INFO',
  'TOKEN_HOLDERS',
  'DEFI_POSITIONS',
  'WEBHOOKS',
] as const;

export type ChainLookup = (typeof CHAIN_LOOKUPS)[number];

/** Those that hosted services don't have: this project's own service offers them. */
export const OWN_LOOKUPS: ReadonlySet<ChainLookup> = new Set<ChainLookup>([
  'TRANSACTION',
  'APPROVALS',
  'NAMES',
]);

/** What a webhook delivers; it can not be changed. */
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

/** The side of a transaction that the subscribed address is on. */
export type TransactionSide = (typeof TRANSACTION_SIDES)[number];

/** What happened, seen from the subscribed address. */
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

export type AssetType = (typeof ASSET_TYPES)[number];

/** Upstream's word as GraphQL spells it; null for a value that is not in `words`. */
export const oneOf = <Word extends string>(words: readonly Word[], value: unknown): Word | null => {
  const word = typeof value === 'string' ? value.toUpperCase() : null;
  return words.find((known) => known === word) ?? null;
};
