import type { ExecutionResult } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Context } from '../../../context.ts';
import { createUsage, type Usage } from '../../../upstream/client/usage.ts';

/** `extensions.upstream` on every response: what the operation cost. An event of a subscription has its own, see subscriptions/. */
export const useUpstreamExtension = (): Plugin<Context> => ({
  onExecute: ({ args: { contextValue } }) => ({
    onExecuteDone({ result, setResult }) {
      if (!isAsyncIterable(result)) setResult(withCost(result, contextValue.upstream));
    },
  }),
  // One that begins is none yet; one that does not is an answer, which over WebSocket nobody processes further.
  onSubscribe: ({ args: { contextValue } }) => ({
    onSubscribeResult({ result, setResult }) {
      if (!isAsyncIterable(result) && result.errors) setResult(withCost(result, contextValue.upstream));
    },
  }),
  // What was refused before it ran asked nothing of the service.
  onResultProcess({ result, setResult }) {
    if (!isAsyncIterable(result) && !Array.isArray(result) && !result.extensions?.upstream)
      setResult(withCost(result as ExecutionResult, createUsage()));
  },
});

const withCost = (result: ExecutionResult, upstream: Usage): ExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, upstream: { ...upstream } },
});
