import { GraphQLError } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';

/** Of operations that were refused as a whole, before they ran, where the refusal does not say one itself. */
const STATUSES: Readonly<Record<string, number>> = {
  OPERATION_TOO_COMPLEX: 400,
  COMPUTE_BUDGET_EXCEEDED: 429,
  RATE_LIMITED: 429,
};

/**
 * The HTTP status of a refusal, and when to come again. For who accepts `application/graphql-response+json`; under
 * `application/json` the status tells of the transport alone.
 */
export const useHttpStatus = (): Plugin => ({
  onResultProcess({ result, setResult }) {
    if (isAsyncIterable(result) || Array.isArray(result) || result.data !== undefined || !result.errors)
      return;
    setResult({ ...result, errors: result.errors.map(withStatus) });
  },
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
