import type { ExecutionResult } from 'graphql';
import type { OperationPlugin } from '../operation-plugin.ts';

/** The most errors of one response, or of one event of a subscription. */
export const MAX_ERRORS = 20;

/** Drops the errors of a response beyond the first `MAX_ERRORS`. */
export const useErrorLimit = (): OperationPlugin => ({ onExecute: () => limit, onSubscribe: () => limit });

const limit = (result: ExecutionResult): ExecutionResult => {
  const { errors = [] } = result;
  return errors.length > MAX_ERRORS ? { ...result, errors: errors.slice(0, MAX_ERRORS) } : result;
};
