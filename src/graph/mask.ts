import { GraphQLError } from 'graphql';
import { UpstreamError } from '../upstream/client/errors.ts';
import { type ErrorCode, internalError, isErrorCode, upstreamError } from './errors.ts';

/**
 * Returns the client's error for an error of an operation. An error of the catalogue stays as it is, a failure of upstream
 * gets its code, and an invalid request is BAD_USER_INPUT. Any other error is masked as INTERNAL_SERVER_ERROR and passed
 * to `onUnexpected`.
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
        extensions: { code, ...httpOf(error) },
      });

/**
 * Keeps the HTTP status that Yoga put into the extensions, for Yoga's own transport. A body that is
 * not a GraphQL request at all has `originalError`, and its status holds for every media type.
 */
const httpOf = ({ extensions: { http, originalError } }: GraphQLError): object => {
  if (http === undefined) return {};
  return { http: originalError === undefined ? http : { ...http, spec: false } };
};

const toClientError = (error: unknown, onUnexpected: (error: unknown) => void): GraphQLError => {
  if (error instanceof GraphQLError) return error;
  if (error instanceof UpstreamError && error.failure !== 'unsendable') return upstreamError(error);
  onUnexpected(error);
  return internalError();
};

/** Returns what a resolver threw; null for an error that graphql itself made of an invalid request. */
const originalErrorOf = (error: GraphQLError): unknown => {
  const { originalError } = error;
  if (originalError === undefined) return null;
  return originalError instanceof GraphQLError ? originalErrorOf(originalError) : originalError;
};
