import { GraphQLError } from 'graphql';
import { MAX_COOLDOWN_MS, UpstreamError } from '../upstream/client/errors.ts';

/** The most characters of a path that are shown. */
const MAX_PATH = 200;

/** `retryAfterMs` of a 429 without Retry-After. The documented limits are a few requests a second. */
const DEFAULT_RETRY_AFTER_MS = 1000;

/** All values of `extensions.code`. */
export const ERROR_CODES = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'PERSISTED_QUERY_HASH_MISMATCH',
  'BAD_USER_INPUT',
  'INVALID_CURSOR',
  'CURSOR_EXPIRED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'QUOTA_EXCEEDED',
  'RATE_LIMITED',
  'COMPUTE_BUDGET_EXCEEDED',
  'OPERATION_TOO_COMPLEX',
  'UPSTREAM_REJECTED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_INVALID_RESPONSE',
  'LOG_UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export const isErrorCode = (code: unknown): code is ErrorCode => ERROR_CODES.some((known) => known === code);

/**
 * Creates an error for clients. `message` is a sentence that says what was expected and what came. `facts` are further
 * extensions.
 */
export const clientError = (
  code: ErrorCode,
  message: string,
  facts: Readonly<Record<string, unknown>> = {},
): GraphQLError => new GraphQLError(message, { extensions: { code, ...facts } });

/** Returns the start of a path in the answer, for an error: clients choose its names, which may be long. */
export const shownPath = (path: string): string => path.slice(0, MAX_PATH);

export const badUserInput = (message: string): GraphQLError => clientError('BAD_USER_INPUT', message);

/** The client's error for a defect of the gateway, without any details. */
const internalError = (): GraphQLError =>
  clientError('INTERNAL_SERVER_ERROR', 'Something went wrong inside the gateway.');

/** Returns the client's error for an upstream request that failed. */
export const upstreamError = (error: UpstreamError): GraphQLError => {
  const { failure, status, retryAfterMs, gatewayKey } = error;
  switch (failure) {
    case 'quota':
      return clientError('QUOTA_EXCEEDED', "The key's quota of compute units is used up.", { status });
    case 'rateLimited':
    case 'coolingDown':
      return clientError('RATE_LIMITED', 'The service asks for fewer requests.', {
        status,
        retryAfterMs: Math.min(retryAfterMs ?? DEFAULT_RETRY_AFTER_MS, MAX_COOLDOWN_MS),
      });
    case 'unauthenticated':
    case 'forbidden':
      // The client can't fix the gateway's own key, and upstream's message may say too much about it.
      if (gatewayKey)
        return clientError('UPSTREAM_REJECTED', "The service refuses the gateway's key.", { status });
      return failure === 'forbidden'
        ? clientError('FORBIDDEN', sentenceOf(error, 'The key lacks the permission.'), { status })
        : clientError('UNAUTHENTICATED', sentenceOf(error, 'The service does not accept the key.'), {
            status,
          });
    case 'rejected':
      return clientError('UPSTREAM_REJECTED', sentenceOf(error, 'The service refused the request.'), {
        status,
      });
    case 'tooCostly':
      return clientError('OPERATION_TOO_COMPLEX', error.message);
    case 'timeout':
      return clientError('UPSTREAM_TIMEOUT', error.message);
    case 'invalidResponse':
      return clientError('UPSTREAM_INVALID_RESPONSE', error.message);
    case 'unsendable':
      return internalError();
    case 'unavailable':
    case 'aborted':
      return clientError(
        'UPSTREAM_UNAVAILABLE',
        error.ofChain ? sentenceOf(error, error.message) : error.message,
        status === undefined ? {} : { status },
      );
  }
};

/** Returns upstream's own message, or `otherwise` if it sent none. */
const sentenceOf = (error: UpstreamError, otherwise: string): string => error.serviceMessage || otherwise;

/**
 * Returns the client's error for an error of an operation. An error of the catalogue stays unchanged, a failure of upstream
 * gets its code, and an invalid request is BAD_USER_INPUT. Any other error is masked as INTERNAL_SERVER_ERROR and passed to
 * `onUnexpected`.
 */
export const maskError = (error: unknown, onUnexpected: (error: unknown) => void): GraphQLError => {
  if (!(error instanceof GraphQLError)) return toClientError(error, onUnexpected);
  const cause = originalErrorOf(error);
  if (cause === null) return withCode(error, 'BAD_USER_INPUT');
  const { message, extensions } = toClientError(cause, onUnexpected);
  return new GraphQLError(message, { nodes: error.nodes, path: error.path, extensions });
};

/** Returns the same error with `code`, unless it has a code of the catalogue. */
export const withCode = (error: GraphQLError, code: ErrorCode): GraphQLError =>
  isErrorCode(error.extensions.code)
    ? error
    : new GraphQLError(error.message, {
        nodes: error.nodes,
        source: error.source,
        positions: error.positions,
        path: error.path,
        extensions: { code },
      });

const toClientError = (error: unknown, onUnexpected: (error: unknown) => void): GraphQLError => {
  if (error instanceof GraphQLError) return error;
  if (error instanceof UpstreamError && error.failure !== 'unsendable') return upstreamError(error);
  onUnexpected(error);
  return internalError();
};

/** Returns what a resolver threw; null for an error that graphql itself made for an invalid request. */
const originalErrorOf = (error: GraphQLError): unknown => {
  const { originalError } = error;
  if (originalError === undefined) return null;
  return originalError instanceof GraphQLError ? originalErrorOf(originalError) : originalError;
};
