import { type ExecutionResult, GraphQLError } from 'graphql';
import { isErrorCode, maskError } from '../../graph/errors.ts';
import type { Trace } from '../../lib/trace.ts';
import type { OperationPlugin } from './operation-plugin.ts';

export type MaskedErrors = {
  readonly errors: GraphQLError[];
  /** The errors outside the catalogue. The client gets INTERNAL_SERVER_ERROR for each. */
  readonly unexpectedErrors: unknown[];
};

/** Masks the errors of an operation, whose log line then reports the unexpected ones. */
export const maskErrors = (errors: readonly unknown[]): MaskedErrors => {
  const unexpectedErrors: unknown[] = [];
  const onUnexpected = (error: unknown) => unexpectedErrors.push(error);
  return {
    errors: errors.map((error) => maskError(rewriteYogaError(error), onUnexpected)),
    unexpectedErrors,
  };
};

/** Masks one error that no operation's log line reports: of a subscription's event, or one that ends a subscription. */
export type MaskError = (error: unknown, trace: Trace) => GraphQLError;

/** Calls `onUnexpected` with each error outside the catalogue. */
export const createErrorMask =
  (onUnexpected: (error: unknown, trace: Trace) => void): MaskError =>
  (error, trace) =>
    maskError(error, (unexpected) => onUnexpected(unexpected, trace));

/** The same error with `extensions.requestId`, unless it has one: a WebSocket has no header for the id. */
export const withRequestId = (error: GraphQLError, { requestId }: Trace): GraphQLError =>
  error.extensions.requestId === undefined
    ? new GraphQLError(error.message, {
        nodes: error.nodes,
        path: error.path,
        extensions: { ...error.extensions, requestId },
      })
    : error;

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
const rewriteYogaError = (error: unknown): unknown => {
  if (!(error instanceof GraphQLError) || isErrorCode(error.extensions.code)) return error;
  for (const [pattern, replacement] of REWRITES)
    if (pattern.test(error.message))
      return new GraphQLError(error.message.replace(pattern, replacement), error);
  return error;
};

/** The HTTP status of an operation that was rejected as a whole before it ran, unless its error has a status. */
const STATUSES: Readonly<Record<string, number>> = {
  OPERATION_TOO_COMPLEX: 400,
  COMPUTE_BUDGET_EXCEEDED: 429,
  RATE_LIMITED: 429,
};

/**
 * Gives rejections their HTTP status and `Retry-After`. The status is for clients that accept
 * `application/graphql-response+json`: under `application/json` it describes the transport only (GraphQL over HTTP, 6.4).
 */
export const useErrorStatuses = (): OperationPlugin => ({
  onHttpResult: (result) =>
    result.data === undefined && result.errors
      ? { ...result, errors: result.errors.map(withStatus) }
      : result,
});

const withStatus = (error: GraphQLError): GraphQLError => {
  const { code, retryAfterMs } = error.extensions;
  const status = STATUSES[String(code)];
  if (status === undefined || error.extensions.http !== undefined) return error;
  const seconds = typeof retryAfterMs === 'number' ? Math.ceil(retryAfterMs / 1000) : null;
  const headers = seconds === null ? {} : { 'retry-after': String(seconds) };
  const http = { status, headers, spec: true };
  return new GraphQLError(error.message, { extensions: { ...error.extensions, http } });
};

/** The most errors of one response, or of one event of a subscription. */
export const MAX_ERRORS = 20;

/** Drops the errors of a response beyond the first `MAX_ERRORS`. */
export const useErrorLimit = (): OperationPlugin => ({ onExecute: () => limit, onSubscribe: () => limit });

const limit = (result: ExecutionResult): ExecutionResult => {
  const { errors = [] } = result;
  return errors.length > MAX_ERRORS ? { ...result, errors: errors.slice(0, MAX_ERRORS) } : result;
};
