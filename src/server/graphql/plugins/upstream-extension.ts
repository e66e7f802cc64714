import type { ExecutionResult } from 'graphql';
import { Usage } from '../../../upstream/client/usage.ts';
import type { OperationPlugin } from '../operation-plugin.ts';

/** Adds `extensions.upstream`, the operation's cost, to every response. Each event of a subscription has its own, see subscriptions/. */
export const useUpstreamExtension = (): OperationPlugin => ({
  onExecute:
    ({ args: { contextValue } }) =>
    (result) =>
      withCost(result, contextValue.upstream),
  // A subscription that starts has no result yet. A rejection over WebSocket is not processed further, so it is completed here.
  onSubscribe:
    ({ args: { contextValue } }) =>
    (result) =>
      result.errors ? withCost(result, contextValue.upstream) : result,
  // An operation that was rejected before it ran made no upstream request.
  onHttpResult: (result) => (result.extensions?.upstream ? result : withCost(result, new Usage())),
});

const withCost = (result: ExecutionResult, upstream: Usage): ExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, upstream: { ...upstream } },
});
