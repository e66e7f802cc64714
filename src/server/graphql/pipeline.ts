import {
  type ExecutionArgs,
  type ExecutionResult,
  executeRootSelectionSet,
  validateExecutionArgs,
} from 'graphql';
import type { MaybePromise } from '../../lib/values.ts';
import type { SubscribeResult } from '../subscriptions/shared-execution.ts';
import type {
  Complete,
  ExecuteFn,
  OperationArgs,
  OperationContext,
  OperationPlugin,
  ServerContext,
  ServerPlugin,
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

/** Has Yoga run its operations through the pipeline. `contextOf` creates the context of one. */
export const usePipeline = (
  { execute, subscribe, completeHttpResult }: Pipeline,
  contextOf: (given: ServerContext) => OperationContext,
): ServerPlugin => {
  const withContext = (args: ExecutionArgs): OperationArgs => {
    const given = args.contextValue as ServerContext;
    given.operation = contextOf(given);
    return { ...args, contextValue: given.operation };
  };
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn((args) => execute(withContext(args))),
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn((args) => subscribe(withContext(args))),
    onResultProcess({ result, setResult, setResultProcessor, serverContext }) {
      const context = serverContext.operation ?? serverContext;
      setResult(completeHttpResult(result as ExecutionResult, context));
      // The response has ended with the last part: Yoga drops what it makes of the result.
      if (context.parts?.hasBegun)
        setResultProcessor((_result, { Response }) => new Response(null), 'multipart/mixed');
    },
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
