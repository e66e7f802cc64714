import type { ExecutionResult } from 'graphql';
import { createUsage, type Usage } from '../../../upstream/client/usage.ts';
import { onSingleResult, type ServerPlugin } from '../server-context.ts';

/** Adds `extensions.upstream`, the operation's cost, to every response. Each event of a subscription has its own, see subscriptions/. */
export const useUpstreamExtension = (): ServerPlugin => ({
  onExecute: ({ args: { contextValue } }) => ({
    onExecuteDone: onSingleResult((result, setResult) => setResult(withCost(result, contextValue.upstream))),
  }),
  // A subscription that starts has no result yet. A rejection over WebSocket is not processed further, so it is completed here.
  onSubscribe: ({ args: { contextValue } }) => ({
    onSubscribeResult: onSingleResult((result, setResult) => {
      if (result.errors) setResult(withCost(result, contextValue.upstream));
    }),
  }),
  // An operation that was rejected before it ran made no upstream request.
  onResultProcess: onSingleResult((result, setResult) => {
    if (!result.extensions?.upstream) setResult(withCost(result, createUsage()));
  }),
});

const withCost = (result: ExecutionResult, upstream: Usage): ExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, upstream: { ...upstream } },
});
