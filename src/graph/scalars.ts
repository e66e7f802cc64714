import { keccak_256 } from '@noble/hashes/sha3.js';
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from 'graphql';
import { type BuilderTypes, builder } from './builder.ts';
import { badUserInput } from './errors.ts';

/** A JSON schema of the draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown };

type ScalarName = Exclude<keyof BuilderTypes['Scalars'], 'ID' | 'Int' | 'Float' | 'String' | 'Boolean'>;

/** How a scalar is described and parsed. The parsers throw BAD_USER_INPUT. */
type Codec<Internal> = {
  readonly description: string;
  /** The JSON schema of its input, for clients that read no GraphQL. A value that it allows may still be refused. */
  readonly jsonSchema: JsonSchema;
  readonly parseValue: (value: unknown) => Internal;
  readonly parseLiteral?: (node: ValueNode) => Internal;
};

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const BIG_INT = /^(?:-?\d+|0x[0-9a-fA-F]+)$/;
const DECIMAL = /^-?\d+(?:\.\d+)?$/;
const HEX = /^0x(?:[0-9a-fA-F]{2})*$/;

const textLike = ({ source }: RegExp): JsonSchema => ({ type: 'string', pattern: source });

/** Formats a value for an error message, cut to 80 characters. */
const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
};

/**
 * Parses an address in any letter case, and returns it in lower case. Throws BAD_USER_INPUT for any other value, and for
 * mixed case without a valid EIP-55 checksum.
 */
export const parseAddress = (value: unknown): string => {
  if (typeof value !== 'string' || !ADDRESS.test(value))
    throw badUserInput(`Expected an Address (0x and 40 hex digits), got ${shown(value)}.`);
  const digits = value.slice(2);
  const lower = `0x${digits.toLowerCase()}` as const;
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  const right = mixed ? withChecksum(lower.slice(2)) : digits;
  if (right !== digits)
    throw badUserInput(
      `Expected an Address in one letter case or with a valid EIP-55 checksum, got ${shown(value)}, whose checksum is wrong: with these digits it is 0x${right}.`,
    );
  return lower;
};

/** EIP-55: a letter is in upper case where the hash of the address has a digit of 8 or more. `digits` are in lower case. */
const withChecksum = (digits: string): string => {
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex');
  return digits.replace(/[a-f]/g, (letter, at: number) =>
    Number.parseInt(hash[at] ?? '', 16) >= 8 ? letter.toUpperCase() : letter,
  );
};

const parseBigInt = (value: unknown): string => {
  const isValid = (typeof value === 'string' && BIG_INT.test(value)) || Number.isSafeInteger(value);
  if (!isValid)
    throw badUserInput(`Expected a BigInt (a decimal or 0x-hex string, or an integer), got ${shown(value)}.`);
  return BigInt(value as string | number).toString();
};

const parseChainId = (value: unknown): number => {
  const id = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return id;
  throw badUserInput(`Expected a ChainId (an integer from 0 to 2^53 - 1), got ${shown(value)}.`);
};

const parseDateTime = (value: unknown): string => {
  const time =
    typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/i.test(value)
      ? Date.parse(value)
      : Number.NaN;
  if (Number.isNaN(time))
    throw badUserInput(`Expected a DateTime (ISO 8601 with its zone), got ${shown(value)}.`);
  return new Date(time).toISOString();
};

const parseDecimal = (value: unknown): string => {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && DECIMAL.test(text)) return text;
  throw badUserInput(`Expected a Decimal (a decimal number, as a string), got ${shown(value)}.`);
};

const parseHex = (value: unknown): string => {
  if (typeof value === 'string' && HEX.test(value)) return value.toLowerCase();
  throw badUserInput(`Expected Hex (0x and an even number of hex digits), got ${shown(value)}.`);
};

const parseUrl = (value: unknown): string => {
  if (typeof value === 'string' && /^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) && URL.canParse(value))
    return value;
  throw badUserInput(`Expected a URL (http or https, absolute), got ${shown(value)}.`);
};

/** Parses a UUID and returns it in lower case. Throws BAD_USER_INPUT for any other value. */
export const parseUuid = (value: unknown): string => {
  if (typeof value === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value))
    return value.toLowerCase();
  throw badUserInput(`Expected a UUID (8-4-4-4-12 hex digits), got ${shown(value)}.`);
};

/** Parses an integer literal from its digits, which may be more than a float can represent. */
const integerLiteral =
  <Internal>(parse: (value: unknown) => Internal) =>
  (node: ValueNode): Internal =>
    parse(node.kind === Kind.INT ? node.value : valueFromASTUntyped(node));

const scalars: { readonly [Name in ScalarName]: Codec<BuilderTypes['Scalars'][Name]['Input']> } = {
  Address: {
    description:
      'A 20-byte EVM address: 0x and 40 hex digits. Input: any letter case; mixed case must have a valid EIP-55 checksum. Output: lower case.',
    jsonSchema: textLike(ADDRESS),
    parseValue: parseAddress,
  },
  BigInt: {
    description:
      'An integer of any size. Input: a decimal string, a 0x-hex string or an integer. Output: a decimal string.',
    jsonSchema: textLike(BIG_INT),
    parseValue: parseBigInt,
    parseLiteral: integerLiteral(parseBigInt),
  },
  ChainId: {
    description: 'An EVM chain id: an integer from 0 to 2^53 - 1, a JSON number. Int allows only 32 bits.',
    jsonSchema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    parseValue: parseChainId,
    parseLiteral: integerLiteral(parseChainId),
  },
  DateTime: {
    description:
      'A date and time in ISO 8601. Input: with a zone, which is Z or an offset such as +02:00. Output: in UTC.',
    jsonSchema: { type: 'string', format: 'date-time' },
    parseValue: parseDateTime,
  },
  Decimal: {
    description: 'An exact decimal number. Input: a string or a number. Output: a string.',
    jsonSchema: textLike(DECIMAL),
    parseValue: parseDecimal,
  },
  Hex: {
    description: 'Bytes in hex: 0x and an even number of hex digits. Output: lower case.',
    jsonSchema: textLike(HEX),
    parseValue: parseHex,
  },
  JSON: { description: 'Any JSON value.', jsonSchema: {}, parseValue: (value) => value },
  URL: {
    description: 'An absolute URL. Input: http or https. Output: as the service wrote it.',
    jsonSchema: { type: 'string', format: 'uri' },
    parseValue: parseUrl,
  },
  UUID: {
    description: 'A UUID of 8-4-4-4-12 hex digits. Output: lower case.',
    jsonSchema: { type: 'string', format: 'uuid' },
    parseValue: parseUuid,
  },
};

/** Parses a literal. An error names the literal's location: graphql adds it only for its own scalars, enums and objects. */
const readLiteral =
  ({ parseValue, parseLiteral = (node) => parseValue(valueFromASTUntyped(node)) }: Codec<unknown>) =>
  (node: ValueNode): unknown => {
    try {
      return parseLiteral(node);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      throw new GraphQLError(error.message, { nodes: node, extensions: error.extensions });
    }
  };

for (const [name, codec] of Object.entries(scalars)) {
  const { description, jsonSchema, parseValue }: Codec<unknown> = codec;
  builder.addScalarType(
    name as ScalarName,
    new GraphQLScalarType<unknown>({
      name,
      description,
      parseValue,
      parseLiteral: readLiteral(codec),
      serialize: (value) => value,
      extensions: { jsonSchema },
    }),
  );
}
