import type { ExecutionResult } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';

/** In one reply, or one event of a subscription. */
export const MAX_ERRORS = 20;

/** Leaves out what a reply has of errors beyond the first so many. */
export const useErrorLimit = (): Plugin => ({
  onExecute: () => ({
    onExecuteDone({ result, setResult }) {
      if (!isAsyncIterable(result)) limit(result, setResult);
    },
  }),
  onSubscribe: () => ({
    onSubscribeResult({ result, setResult }) {
      if (!isAsyncIterable(result)) limit(result, setResult);
    },
  }),
});

const limit = (result: ExecutionResult, setResult: (limited: ExecutionResult) => void): void => {
  const { errors = [] } = result;
  if (errors.length > MAX_ERRORS) setResult({ ...result, errors: errors.slice(0, MAX_ERRORS) });
};
