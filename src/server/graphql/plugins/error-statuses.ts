import { GraphQLError } from 'graphql';
import type { OperationPlugin } from '../operation-plugin.ts';

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
