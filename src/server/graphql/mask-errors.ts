import { GraphQLError } from 'graphql';
import { maskError } from '../../graph/mask.ts';
import type { Trace } from '../../lib/trace-context.ts';
import { rewriteYogaError } from './plugins/yoga-messages.ts';

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
