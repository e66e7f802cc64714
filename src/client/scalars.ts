/** The gateway's scalars as they are in JSON, for the `scalars` of graphql-codegen: a Decimal or BigInt would lose digits as a number. */
export const scalars = {
  Address: 'string',
  BigInt: 'string',
  ChainId: 'number',
  DateTime: 'string',
  Decimal: 'string',
  Hex: 'string',
  JSON: 'unknown',
  URL: 'string',
  UUID: 'string',
};
