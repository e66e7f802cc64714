import { GraphQLError } from 'graphql';
import { withCode } from '../../../graph/mask.ts';
import { onSingleResult, type ServerPlugin } from '../server-context.ts';

/** The HTTP status of an operation that was rejected as a whole before it ran, unless its error has a status. */
const STATUSES: Readonly<Record<string, number>> = {
  OPERATION_TOO_COMPLEX: 400,
  COMPUTE_BUDGET_EXCEEDED: 429,
  RATE_LIMITED: 429,
};

/**
 * Gives the errors of a document their codes, and rejections their HTTP status and `Retry-After`. Errors of an execution
 * get their codes where they are masked. The status is for clients that accept `application/graphql-response+json`: under
 * `application/json` it describes the transport only (GraphQL over HTTP, 6.4).
 */
export const useErrorCodes = (): ServerPlugin => ({
  onParse:
    () =>
    ({ result, replaceParseResult }) => {
      if (result instanceof GraphQLError) replaceParseResult(withCode(result, 'GRAPHQL_PARSE_FAILED'));
    },
  onValidate:
    () =>
    ({ result, setResult }) =>
      setResult(result.map((error) => withCode(error as GraphQLError, 'GRAPHQL_VALIDATION_FAILED'))),
  onResultProcess: onSingleResult((result, setResult) => {
    if (result.data === undefined && result.errors)
      setResult({ ...result, errors: result.errors.map(withStatus) });
  }),
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
