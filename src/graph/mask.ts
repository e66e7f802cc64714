import { GraphQLError } from 'graphql';
import { UpstreamError } from '../upstream/client/errors.ts';
import { clientError, type ErrorCode, isErrorCode, upstreamError } from './errors.ts';

/**
 * What a client is told of an error that an operation met: catalogued errors as they are, upstream failures by their
 * code, faults of the request as BAD_USER_INPUT. A stranger is masked, and `onUnexpected` gets to know it.
 */
export const maskError = (error: unknown, onUnexpected: (error: unknown) => void): GraphQLError => {
  if (!(error instanceof GraphQLError)) return toClientError(error, onUnexpected);
  const cause = originalErrorOf(error);
  if (cause === null) return withCode(error, 'BAD_USER_INPUT');
  const { message, extensions } = toClientError(cause, onUnexpected);
  return new GraphQLError(message, { nodes: error.nodes, path: error.path, extensions });
};

/** The same error with `code`, unless it has one of the catalogue. */
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
 * Of what Yoga puts into extensions, only the HTTP status is for its own transport. `originalError` tells of a body that
 * is no GraphQL request at all, and whose status holds for every media type.
 */
const httpOf = ({ extensions: { http, originalError } }: GraphQLError): object => {
  if (http === undefined) return {};
  return { http: originalError === undefined ? http : { ...http, spec: false } };
};

const toClientError = (error: unknown, onUnexpected: (error: unknown) => void): GraphQLError => {
  if (error instanceof GraphQLError) return error;
  if (error instanceof UpstreamError) return upstreamError(error);
  onUnexpected(error);
  return clientError('INTERNAL_SERVER_ERROR', 'Something went wrong inside the gateway.');
};

/** What a resolver threw; null when graphql itself made the error, of a request that it could not accept. */
const originalErrorOf = (error: GraphQLError): unknown => {
  const { originalError } = error;
  if (originalError === undefined) return null;
  return originalError instanceof GraphQLError ? originalErrorOf(originalError) : originalError;
};
