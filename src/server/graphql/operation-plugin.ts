import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller, Context } from '../../context.ts';
import type { MemoryBudget } from '../../lib/memory-budget.ts';
import type { Trace } from '../../lib/trace.ts';
import type { MaybePromise } from '../../lib/values.ts';
import type { Unchanged, Validity } from './answers/validity.ts';
import type { PartedAnswer, PartWriter } from './incremental/part-writer.ts';

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
  /** Completes what is sent over HTTP, even if the request was rejected before its operation ran. */
  readonly onHttpResult?: (result: ExecutionResult, context: ServerContext) => ExecutionResult;
};

/** The memory of one WebSocket for answers to its operations, see limits/socket-memory.ts. */
type SocketMemory = {
  readonly memory: MemoryBudget;
  /** Resolves when the peer has read enough for another operation to start, or has disconnected. */
  untilDrained(): Promise<void>;
};

/** What a transport passes to the GraphQL pipeline with each operation. */
export type ServerContext = {
  /** The HTTP request, as the Fetch API has it; undefined on a WebSocket. */
  readonly request?: Request;
  /** The HTTP request and its response, as Node has them; undefined on a WebSocket. */
  readonly req?: IncomingMessage;
  readonly res?: ServerResponse;
  /** The caller of an HTTP request, once it is authenticated. */
  httpCaller?: Caller;
  /** The text of the request's document, if it was prepared before Yoga got the request. */
  readonly preparedText?: string;
  /** The caller of a WebSocket's operation; undefined on HTTP. */
  readonly socketCaller?: Caller;
  /** The trace of a WebSocket's operation. The trace of an HTTP request is read from `req` and `res`. */
  readonly trace?: Trace;
  /** The size of the WebSocket message that started the operation, in bytes. */
  readonly messageBytes?: number;
  readonly socketMemory?: SocketMemory;
  /**
   * Aborts when the client has completed the operation or has disconnected. For an HTTP request that Yoga answers, it is
   * `request.signal`.
   */
  readonly clientSignal?: AbortSignal;
  /** Sends the parts of an answer over a WebSocket. Those over HTTP are written to `res`. */
  readonly partWriter?: PartWriter;
  /** The parts of the operation's answer, where it asks for parts and its client reads them. */
  parts?: PartedAnswer;
  /** Aborts when a shutdown can't wait for the operation any longer, see plugins/shutdown-mutations.ts. */
  readonly shutdownSignal?: AbortSignal;
  /** The client's Accept-Encoding where its answer may be compressed: see answers/compression.ts. */
  acceptEncoding?: string;
  /** Of an answer that may be asked for again: see answers/conditional-gets.ts. */
  validity?: Validity;
  /** Why the client gets no data, since it has them: see answers/conditional-gets.ts. */
  unchanged?: Unchanged;
  /** The context of the operation of a request that Yoga answers, once it runs. */
  operation?: OperationContext;
  /** Whether the operation was reported to the observer, see plugins/operation-observer.ts. */
  isReported?: boolean;
};

/** What plugins find in `contextValue` of an operation that runs. */
export type OperationContext = ServerContext & Context;

/** A plugin of Yoga, for what is about HTTP alone. */
export type ServerPlugin = Plugin<ServerContext, ServerContext>;
