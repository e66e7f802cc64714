import { type GraphQLNamedType, isEnumType } from 'graphql';

/** Usual sizes of lists and leaves, for fields that say none of their own (`items` and `bytes` in graph/cost/field-cost.ts). */

export const DEFAULT_ITEMS = 4;

/** By scalar, as JSON. */
const BYTES: ReadonlyMap<string, number> = new Map([
  ['Address', 44],
  ['BigInt', 16],
  ['Boolean', 5],
  ['ChainId', 6],
  ['DateTime', 26],
  ['Decimal', 12],
  ['Float', 12],
  ['Hex', 68],
  ['ID', 160],
  ['Int', 6],
  ['JSON', 64],
  ['String', 24],
  ['URL', 80],
  ['UUID', 38],
]);

const BYTES_OF_ENUM = 12;
const BYTES_OF_ANOTHER = 32;

export const defaultBytes = (type: GraphQLNamedType): number =>
  BYTES.get(type.name) ?? (isEnumType(type) ? BYTES_OF_ENUM : BYTES_OF_ANOTHER);
