import type { ServerResponse } from 'node:http';
import type { DocumentNode, ExecutionArgs, ExecutionResult, OperationTypeNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller, Context } from '../../context.ts';
import type { MemoryBudget } from '../../lib/memory-budget.ts';
import type { MaybePromise } from '../../lib/tasks.ts';
import type { Trace } from '../../lib/trace.ts';
import type { WholeRequest } from '../http/whole-body.ts';
import type { Attributed, ClientName } from './attribution.ts';
import type { PartedAnswer, PartWriter } from './part-writer.ts';

/** What an operation runs with. */
export type OperationArgs = ExecutionArgs & { readonly contextValue: OperationContext };

/** Runs a query or a mutation. */
export type ExecuteFn = (args: OperationArgs) => MaybePromise<ExecutionResult>;

/** Starts a subscription. */
export type SubscribeFn = (args: OperationArgs) => Promise<ExecutionResult>;

/** An operation that is about to run. */
export type Start<Run> = {
  readonly args: OperationArgs;
  /** A plugin may wrap it. */
  executeFn: Run;
  /** Where a plugin sets one, neither later plugins nor the operation run. */
  result: ExecutionResult | null;
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

/** The memory of one WebSocket for answers to its operations, see `useSocketMemory`. */
export type SocketMemory = {
  readonly memory: MemoryBudget;
  /** Resolves when the peer has read enough for another operation to start, or has disconnected. */
  untilDrained(): Promise<void>;
};

/** The parameters of a request for one operation. */
export type Params = {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
};

/** An operation that has passed every check of its request and its document. */
export type Received = {
  readonly caller: Caller;
  readonly params: Params;
  /** Whether the request names its document by a hash, or may run trusted ones only. */
  readonly isPersisted: boolean;
  readonly document: DocumentNode;
  readonly type: OperationTypeNode;
};

/** An HTTP request and its response. */
export type HttpContext = {
  readonly req: WholeRequest;
  readonly res: ServerResponse;
  /** Aborts when the client disconnects. */
  readonly clientSignal: AbortSignal;
  /** Aborts when a shutdown can't wait for the operation any longer, see `useShutdownTimeout`. */
  readonly shutdownSignal: AbortSignal;
  /** What the request asks for, once that is checked. */
  received?: Received;
  /** The context of the operation of a request that Yoga answers, once it runs. */
  operation?: OperationContext & HttpContext;
};

/** How long an answer over HTTP is right, and the tag by which its client asks whether it still is. */
export type Validity = {
  readonly tag: string;
  /** Seconds in which no page behind the answer gets too old. */
  readonly maxAgeSeconds: number;
};

/** Why a client's own answer is still right: its pages are the same, or the answer that was made anew is. */
export type Unchanged = 'pages' | 'data';

/** What a stream knows of its caller, who may subscribe. */
type VerifiedSubscription = {
  readonly billingKey: string;
  /** When the caller's token expires, in milliseconds since 1970; null if it never does. */
  readonly expiresAt: number | null;
  readonly trace: Trace;
  /** Aborts when upstream refuses the caller's key later. */
  readonly revoked: AbortSignal;
};

/**
 * What carries an operation. The first three are GraphQL over HTTP: a client that prefers event streams, a subscription in
 * parts, and any other.
 */
export type Transport = 'sse' | 'multipart' | 'http' | 'websocket' | 'mcp';

/**
 * What a transport passes to the GraphQL pipeline with each operation. The members of HttpContext are those of GraphQL over
 * HTTP. Other transports pass the first four of what follows instead.
 */
export type ServerContext = Partial<Omit<HttpContext, 'operation'>> & {
  readonly transport?: 'websocket' | 'mcp';
  /** Over HTTP it is that of `received`. */
  readonly caller?: Caller;
  /** Over HTTP it is read from `req`. */
  readonly client?: ClientName;
  /** Over HTTP it is read from `res`. */
  readonly trace?: Trace;
  /** Who sent the operation, once it runs. */
  attributed?: Attributed;
  /** The size of the WebSocket message that started the operation, in bytes. */
  readonly messageBytes?: number;
  readonly socketMemory?: SocketMemory;
  /** Sends the parts of an answer over a WebSocket. Those over HTTP are written to `res`. */
  readonly partWriter?: PartWriter;
  /** The parts of the operation's answer, where it asks for parts and its client reads them. */
  parts?: PartedAnswer;
  /** The client's Accept-Encoding where its answer may be compressed: see `useCompressibleAnswers`. */
  acceptEncoding?: string;
  /** Of an answer that may be asked for again: see answers/conditional-gets.ts. */
  validity?: Validity;
  /** Why no data is sent, if the client has it already: see answers/conditional-gets.ts. */
  unchanged?: Unchanged;
  /** A subscription over HTTP, once its caller's key is verified: see subscriptions/event-stream.ts. */
  verified?: VerifiedSubscription;
  /** Whether the operation was reported to the observer, see observe.ts. */
  isReported?: boolean;
};

/** What plugins find in `contextValue` of an operation that runs. */
export type OperationContext = ServerContext & Context;

/** A plugin of Yoga, for what is about HTTP alone. */
export type ServerPlugin = Plugin<HttpContext, HttpContext>;
