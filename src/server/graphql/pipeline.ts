import { RequestCache } from '@pothos/plugin-scope-auth';
import { type ExecutionResult, getOperationAST, validateExecutionArgs } from 'graphql';
import { resendAnswer } from '../../graph/answer/serialize.ts';
import type { SharedAnswers } from '../../graph/answer/shared-answers.ts';
import { clientError } from '../../graph/errors.ts';
import type { Executor } from '../../graph/executor.ts';
import type { PlannedSchema } from '../../graph/plan/planned-schema.ts';
import { onAbort } from '../../lib/deadlines.ts';
import type { MaybePromise } from '../../lib/tasks.ts';
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
import { acceptedBy } from './over-http/accept.ts';

/** The stages of an operation behind its document, the same for all transports. */
export type Pipeline = {
  execute(args: OperationArgs): MaybePromise<ExecutionResult>;
  subscribe(args: OperationArgs): Promise<SubscribeResult>;
  /** Completes what is sent over HTTP. */
  completeHttpResult(result: ExecutionResult, context: ServerContext): ExecutionResult;
};

export const createPipeline = (executor: Executor, plugins: readonly OperationPlugin[]): Pipeline => {
  const executeHooks = plugins.flatMap(({ onExecute }) => onExecute ?? []);
  const subscribeHooks = plugins.flatMap(({ onSubscribe }) => onSubscribe ?? []);
  const resultHooks = plugins.flatMap(({ onHttpResult }) => onHttpResult ?? []);
  const executeArgs: ExecuteFn = (args) => {
    const operation = validateExecutionArgs(args);
    return 'schema' in operation ? executor(operation) : { errors: operation };
  };
  return {
    execute(args) {
      const start: Start<ExecuteFn> = { args, executeFn: executeArgs, result: null };
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
      const start: Start<SubscribeFn> = { args, executeFn: noSubscription, result: null };
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

const completed = (result: ExecutionResult, completions: readonly Complete[]): ExecutionResult =>
  completions.reduce((incomplete, complete) => complete(incomplete), result);

const noSubscription: SubscribeFn = () => {
  throw new TypeError('Expected a plugin that starts subscriptions, got none.');
};

/** Executes a document whose lists plans can write against the planned schema, and any other against the public one. */
export const usePlannedExecution = (planned: PlannedSchema): OperationPlugin => ({
  onExecute(start) {
    const { args, executeFn } = start;
    const { parts } = args.contextValue;
    if (!planned.canExecute(args.document, parts?.format === 'v0.2')) return;
    const schema = parts ? planned.schemaOfParts : planned.schema;
    start.executeFn = (given) => executeFn({ ...given, schema });
  },
});

/** Answers an operation that reads nothing but pages with the bytes of an equal one, while those pages are fresh. */
export const useSharedAnswers = (
  answers: SharedAnswers,
  { readsPagesAlone }: PlannedSchema,
): OperationPlugin => ({
  onExecute(start) {
    const { args, executeFn } = start;
    const key = readsPagesAlone(args.document) ? answers.keyOf(args) : null;
    if (key === null) return;
    start.executeFn = (given) => {
      const { contextValue } = given;
      const data = answers.find(key, contextValue);
      return data
        ? resendAnswer(data, contextValue.answer)
        : answers.make(key, contextValue, () => executeFn(given));
    };
  },
});

/**
 * At shutdown, answers an operation that is still running with UPSTREAM_TIMEOUT. Without an answer a WebSocket's client
 * sends its operations again, also a mutation that upstream may have applied. A query on a WebSocket gets no answer, since
 * sending that again is harmless.
 */
export const useShutdownTimeout = (): OperationPlugin => ({
  onExecute(start) {
    const { args, executeFn } = start;
    const { shutdownSignal, transport } = args.contextValue;
    if (!shutdownSignal) return;
    const resends = transport === 'websocket';
    if (resends && getOperationAST(args.document, args.operationName)?.operation !== 'mutation') return;
    // An operation that is abandoned before it starts may have been answered with 503, which says that nothing of it was done.
    start.executeFn = (given) =>
      shutdownSignal.aborted ? timeoutResult() : unlessShutdown(executeFn(given), shutdownSignal);
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

/** Frees what an operation held in memory that outlives it. */
export const useOperationMemory = (): OperationPlugin => ({
  onExecute:
    ({ args: { contextValue } }) =>
    (result) => {
      // Pothos has it in a weak map. V8 frees that with a collection of the whole heap only, and with it the operation.
      RequestCache.clearForContext(contextValue);
      // An operation with errors may have ended before all of its fields: the garbage collector frees its pages.
      if (!result.errors) for (const read of contextValue.reads) read.release();
      return result;
    },
});

/**
 * Rejects a subscription over HTTP whose client reads no events, before it reads any. Yoga would start it, find no way to
 * send it, and leave it running.
 */
export const useEventsAccept = (): OperationPlugin => ({
  onSubscribe(start) {
    const { req } = start.args.contextValue;
    if (!req || acceptedBy(req).events !== null) return;
    const message = `Expected a client that accepts text/event-stream or multipart/mixed;subscriptionSpec=1.0 for a subscription, got one of ${req.headers.accept}.`;
    start.result = { errors: [clientError('BAD_USER_INPUT', message, { http: { status: 406 } })] };
  },
});
