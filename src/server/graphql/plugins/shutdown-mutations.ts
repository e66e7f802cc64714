import { type ExecutionResult, getOperationAST } from 'graphql';
import { clientError } from '../../../graph/errors.ts';
import { onAbort } from '../../../lib/abort.ts';
import type { OperationPlugin } from '../operation-plugin.ts';

/**
 * At shutdown, answers an operation that is still running with UPSTREAM_TIMEOUT. Without an answer a WebSocket's client
 * sends its operations again, also a mutation that upstream may have applied. A query on a WebSocket gets no answer, since
 * sending that again is harmless.
 */
export const useShutdownTimeout = (): OperationPlugin => ({
  onExecute({ args: { contextValue, document, operationName }, executeFn, setExecuteFn }) {
    const { shutdownSignal, socketCaller } = contextValue;
    if (!shutdownSignal) return;
    if (socketCaller && getOperationAST(document, operationName)?.operation !== 'mutation') return;
    // An operation that is abandoned before it starts may have been answered with 503, which says that nothing of it was done.
    setExecuteFn((args) =>
      shutdownSignal.aborted ? timeoutResult() : unlessShutdown(executeFn(args), shutdownSignal),
    );
  },
});

const unlessShutdown = (
  answer: ExecutionResult | Promise<ExecutionResult>,
  shutdownSignal: AbortSignal,
): ExecutionResult | Promise<ExecutionResult> => {
  if (!(answer instanceof Promise)) return answer;
  const waits = waitsOf(shutdownSignal);
  return new Promise((resolve, reject) => {
    const onShutdown = () => resolve(timeoutResult());
    const stopWaiting = () => waits.delete(onShutdown);
    waits.add(onShutdown);
    answer.then(resolve, reject);
    answer.then(stopWaiting, stopWaiting);
  });
};

/** What is called at a shutdown. All requests share its signal: a listener of each would be slow to remove. */
const allWaits = new WeakMap<AbortSignal, Set<() => void>>();

const waitsOf = (shutdownSignal: AbortSignal): Set<() => void> => {
  const known = allWaits.get(shutdownSignal);
  if (known) return known;
  const waits = new Set<() => void>();
  allWaits.set(shutdownSignal, waits);
  onAbort(shutdownSignal, () => {
    for (const onShutdown of waits) onShutdown();
  });
  return waits;
};

const TIMEOUT =
  'Upstream did not answer before the gateway had to close the connection. It may still carry out the request.';

const timeoutResult = (): ExecutionResult => ({ errors: [clientError('UPSTREAM_TIMEOUT', TIMEOUT)] });
