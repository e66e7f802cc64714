import { GraphQLError } from 'graphql';
import { isErrorCode } from '../../../graph/errors.ts';

/** Yoga's messages for invalid requests, and the gateway's: what was expected, and what came. Yoga has no codes for them. */
const REWRITES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/^Must provide query string\.$/, 'Expected a query, got none.'],
  [/^POST body sent invalid JSON\.$/, 'Expected a body of JSON, got something else.'],
  [
    /^POST body is expected to be object but received (\w+)$/,
    'Expected a body that is a JSON object, got $1.',
  ],
  [/^Request body too large$/, 'Expected a body of at most 8 MB, got more.'],
  [/^Batching is not supported\.$/, 'Expected one operation, got a list.'],
  [
    /^Could not determine what operation to execute\.$/,
    'Expected operationName to name an operation of the document, got none or another.',
  ],
  [
    /^Unexpected parameter "(.{0,80}).*" in the request body\.$/s,
    'Expected query, operationName, variables or extensions, got "$1".',
  ],
  [/^GraphQL only supports GET and POST requests\.$/, 'Expected GET or POST, got another method.'],
  [
    /^Can only perform a mutation operation from a POST request\.$/,
    'Expected a mutation by POST, got one by GET.',
  ],
];

/** Returns an error of Yoga's with the gateway's message, and any other error as it is. */
export const rewriteYogaError = (error: unknown): unknown => {
  if (!(error instanceof GraphQLError) || isErrorCode(error.extensions.code)) return error;
  for (const [pattern, replacement] of REWRITES)
    if (pattern.test(error.message))
      return new GraphQLError(error.message.replace(pattern, replacement), error);
  return error;
};
