import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { OperationContext, ServerContext } from './server-context.ts';

/** What an operation runs with. */
export type OperationArgs = ExecutionArgs & { readonly contextValue: OperationContext };

/** Runs a query or a mutation. */
export type ExecuteFn = (args: OperationArgs) => MaybePromise<ExecutionResult>;

/** Starts a subscription. */
export type SubscribeFn = (args: OperationArgs) => Promise<ExecutionResult>;

/** An operation that is about to run. A plugin may wrap the function that runs it, or end it with a result. */
export type Start<Run> = {
  readonly args: OperationArgs;
  readonly executeFn: Run;
  setExecuteFn(executeFn: Run): undefined;
  /** Neither later plugins nor the operation run. */
  setResultAndStopExecution(result: ExecutionResult): undefined;
};

/** Completes the result of an operation that has run, or that a later plugin has ended before. */
export type Complete = (result: ExecutionResult) => ExecutionResult;

/**
 * A check, a limit or an observer of the operations of all transports. Its hooks run in the order of the plugins, and the
 * functions that complete a result in the same order.
 */
export type OperationPlugin = {
  /** Called before a query or a mutation runs. */
  readonly onExecute?: (start: Start<ExecuteFn>) => Complete | undefined;
  /** Called before a subscription starts. */
  readonly onSubscribe?: (start: Start<SubscribeFn>) => MaybePromise<Complete | undefined>;
  /** Completes what is sent over HTTP, also where the request was rejected before its operation ran. */
  readonly onHttpResult?: (result: ExecutionResult, context: ServerContext) => ExecutionResult;
};
