import { type ExecutionResult, executeRootSelectionSet, validateExecutionArgs } from 'graphql';
import type { MaybePromise } from '../../lib/values.ts';
import type { SubscribeResult } from '../subscriptions/shared-execution.ts';
import type {
  Complete,
  ExecuteFn,
  OperationArgs,
  OperationPlugin,
  ServerContext,
  Start,
  SubscribeFn,
} from './operation-plugin.ts';

/** The stages of an operation behind its document, the same for all transports. */
export type Pipeline = {
  execute(args: OperationArgs): MaybePromise<ExecutionResult>;
  subscribe(args: OperationArgs): Promise<SubscribeResult>;
  /** Completes what is sent over HTTP. */
  completeHttpResult(result: ExecutionResult, context: ServerContext): ExecutionResult;
};

export const createPipeline = (plugins: readonly OperationPlugin[]): Pipeline => {
  const executeHooks = plugins.flatMap(({ onExecute }) => onExecute ?? []);
  const subscribeHooks = plugins.flatMap(({ onSubscribe }) => onSubscribe ?? []);
  const resultHooks = plugins.flatMap(({ onHttpResult }) => onHttpResult ?? []);
  return {
    execute(args) {
      const start = new PendingStart<ExecuteFn>(args, executeOnce);
      const completions: Complete[] = [];
      for (const hook of executeHooks) {
        const complete = hook(start);
        if (complete) completions.push(complete);
        if (start.result) return completed(start.result, completions);
      }
      const result = start.executeFn(args);
      return result instanceof Promise
        ? result.then((resolved) => completed(resolved, completions))
        : completed(result, completions);
    },
    async subscribe(args) {
      const start = new PendingStart<SubscribeFn>(args, noSubscription);
      const completions: Complete[] = [];
      for (const hook of subscribeHooks) {
        const complete = await hook(start);
        if (complete) completions.push(complete);
        if (start.result) return completed(start.result, completions);
      }
      return completed(await start.executeFn(args), completions);
    },
    completeHttpResult: (result, context) =>
      resultHooks.reduce((incomplete, hook) => hook(incomplete, context), result),
  };
};

class PendingStart<Run> implements Start<Run> {
  readonly args: OperationArgs;
  executeFn: Run;
  /** The result with which a plugin has ended the operation. */
  result: ExecutionResult | null = null;

  constructor(args: OperationArgs, executeFn: Run) {
    this.args = args;
    this.executeFn = executeFn;
  }

  readonly setExecuteFn = (executeFn: Run): undefined => {
    this.executeFn = executeFn;
  };

  readonly setResultAndStopExecution = (result: ExecutionResult): undefined => {
    this.result = result;
  };
}

const completed = (result: ExecutionResult, completions: readonly Complete[]): ExecutionResult =>
  completions.reduce((incomplete, complete) => complete(incomplete), result);

/**
 * The executor of graphql-js awaits only what has a method `then`. Yoga's awaits whatever has a member of that name: JSON of
 * the service, and an object of which a client calls a field `then`. No document that it gets has a directive that would
 * make it return results in increments.
 */
const executeOnce: ExecuteFn = (args) => {
  const operation = validateExecutionArgs(args);
  return 'schema' in operation ? executeRootSelectionSet(operation) : { errors: operation };
};

const noSubscription: SubscribeFn = () => {
  throw new TypeError('Expected a plugin that starts subscriptions, got none.');
};
