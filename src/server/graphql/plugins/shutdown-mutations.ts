import { type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { clientError } from '../../../graph/errors.ts';
import { onAbort } from '../../../lib/abort.ts';

type ServerContext = {
  /** Aborts when an operation's answer can't be waited for any more, though its client still does. */
  readonly shutdownSignal?: AbortSignal;
  /** The client of a WebSocket; HTTP's operations have none here. */
  readonly caller?: object;
};

/**
 * Answers an operation that is abandoned in the service's place, by UPSTREAM_TIMEOUT. Not a query on a WebSocket: its
 * client asks for that again by itself, and for a mutation too, though it may have been done.
 */
export const useShutdownTimeout = (): Plugin<ServerContext> => ({
  onExecute({ args: { contextValue, document, operationName }, executeFn, setExecuteFn }) {
    const { shutdownSignal, caller } = contextValue;
    if (!shutdownSignal) return;
    if (caller && getOperationAST(document, operationName)?.operation !== 'mutation') return;
    // What is abandoned before it has begun may have been answered by 503, which says that nothing of it is done.
    setExecuteFn((args) =>
      shutdownSignal.aborted ? timeoutResult() : unlessShutdown(executeFn(args), shutdownSignal),
    );
  },
});

const unlessShutdown = async (
  answer: ExecutionResult | Promise<ExecutionResult>,
  shutdownSignal: AbortSignal,
): Promise<ExecutionResult> => {
  const { promise, resolve } = Promise.withResolvers<ExecutionResult>();
  const stopListening = onAbort(shutdownSignal, () => resolve(timeoutResult()));
  try {
    return await Promise.race([answer, promise]);
  } finally {
    stopListening();
  }
};

const timeoutResult = (): ExecutionResult => ({ errors: [clientError('UPSTREAM_TIMEOUT', NO_ANSWER_YET)] });

const NO_ANSWER_YET =
  'The service did not answer before the connection had to be closed; what was asked of it may yet be done.';
