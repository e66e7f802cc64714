import { type ExecutionResult, GraphQLError } from 'graphql';
import { maskError } from '../../graph/errors.ts';
import type { Trace } from '../../lib/trace.ts';
import type { OperationPlugin } from './operation-plugin.ts';

export type MaskedErrors = {
  readonly errors: readonly GraphQLError[];
  /** The errors outside the catalogue. The client gets INTERNAL_SERVER_ERROR for each. */
  readonly unexpectedErrors: readonly unknown[];
};

const NONE: MaskedErrors = { errors: [], unexpectedErrors: [] };

/** Masks the errors of an operation, whose log line then reports the unexpected ones. */
export const maskErrors = (errors: readonly unknown[]): MaskedErrors => {
  if (errors.length === 0) return NONE;
  const unexpectedErrors: unknown[] = [];
  const onUnexpected = (error: unknown) => unexpectedErrors.push(error);
  return {
    errors: errors.map((error) => maskError(error, onUnexpected)),
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

/**
 * The same error for a transport other than HTTP: with `extensions.requestId`, since no client reads a header for the id, and
 * without an HTTP status.
 */
export const withRequestId = (
  { message, nodes, path, extensions }: GraphQLError,
  trace: Trace,
): GraphQLError => {
  const { http, requestId = trace.requestId, ...others } = extensions;
  return new GraphQLError(message, { nodes, path, extensions: { ...others, requestId } });
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

/** The most errors of a document, of its variables, or of any other response without data. */
export const MAX_ERRORS = 20;

/**
 * Drops the errors beyond the first `MAX_ERRORS` of a response without data. Data keeps all: each says why a field is null,
 * and counts against the limit of the answer.
 */
export const useErrorLimit = (): OperationPlugin => ({
  onExecute: () => limitErrors,
  onSubscribe: () => limitErrors,
});

/** The same for one result, such as an event of a subscription. */
export const limitErrors = <Result extends ExecutionResult>(result: Result): Result => {
  const { data, errors = [] } = result;
  return errors.length > MAX_ERRORS && !data ? { ...result, errors: errors.slice(0, MAX_ERRORS) } : result;
};
