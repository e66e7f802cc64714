import type { ExecutionResult } from 'graphql';
import { onSingleResult, type ServerPlugin } from '../server-context.ts';

/** The most errors of one response, or of one event of a subscription. */
export const MAX_ERRORS = 20;

/** Drops the errors of a response beyond the first `MAX_ERRORS`. */
export const useErrorLimit = (): ServerPlugin => ({
  onExecute: () => ({ onExecuteDone: onSingleResult(limit) }),
  onSubscribe: () => ({ onSubscribeResult: onSingleResult(limit) }),
});

const limit = (result: ExecutionResult, setResult: (limited: ExecutionResult) => void): void => {
  const { errors = [] } = result;
  if (errors.length > MAX_ERRORS) setResult({ ...result, errors: errors.slice(0, MAX_ERRORS) });
};
