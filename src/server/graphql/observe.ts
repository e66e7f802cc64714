import { type DocumentNode, type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql';
import { type ErrorCode, isErrorCode } from '../../graph/errors.ts';
import type { Trace } from '../../lib/trace.ts';
import { Usage } from '../../upstream/client/request.ts';
import { createTrace, onResponseClosed, traceOf } from '../http/exchange.ts';
import type { SubscribeResult } from '../subscriptions/shared-execution.ts';
import { type Attribute, type Attributed, type ClientName, OTHER_CLIENT } from './attribution.ts';
import { maskErrors, withRequestId } from './errors.ts';
import type {
  OperationArgs,
  OperationContext,
  OperationPlugin,
  ServerContext,
  Transport,
  Unchanged,
} from './operation-plugin.ts';
import { acceptedBy } from './over-http/accept.ts';

/** `none`: the operation was rejected before its type was known. */
type OperationType = 'query' | 'mutation' | 'subscription' | 'none';

/** An operation that is about to run. */
type StartedOperation = {
  readonly attributed: Attributed;
  readonly type: OperationType;
  readonly transport: Transport;
  readonly name: string | null;
  readonly document: DocumentNode;
  readonly trace: Trace;
};

/** A query or mutation that was answered, or a subscription that was started or rejected. */
type AnsweredOperation = {
  readonly attributed: Attributed;
  readonly type: OperationType;
  readonly transport: Transport;
  /** The distinct codes of its errors in their order; empty on success. */
  readonly codes: readonly ErrorCode[];
  /** Whether the client had disconnected or completed the operation: its errors then say nothing of the gateway or upstream. */
  readonly abandoned: boolean;
  /** The errors outside the catalogue. The client gets INTERNAL_SERVER_ERROR for each. */
  readonly unexpectedErrors: readonly unknown[];
  /** How long the operation ran, in milliseconds; null when it did not run. */
  readonly durationMs: number | null;
  /** What the operation has cost so far; null when it did not run. */
  readonly upstream: Readonly<Usage> | null;
  /** The compute units that it was estimated to cost at most; null when it was rejected before that. */
  readonly estimate: number | null;
  /** Why no data was sent, if the client has it already; null if data was sent. */
  readonly unchanged: Unchanged | null;
  readonly trace: Trace;
};

export type OperationObserver = {
  /** An operation begins to run; `answered` follows. Returns the trace of what it causes. */
  started?(operation: StartedOperation): Trace | undefined;
  answered?(operation: AnsweredOperation): void;
  /** The response with a subscription's events is open until the returned function is called. */
  streaming?(trace: Trace): (() => void) | undefined;
};

export type Operations = {
  /**
   * Masks the errors of each operation and reports the operation once: every operation that ran, and every one that was
   * rejected over HTTP. It must be the first plugin, so that it sees operations that a later plugin stops.
   */
  readonly plugin: OperationPlugin;
  /**
   * Masks the errors of an operation that was rejected before it ran, reports the operation, and returns the masked
   * errors. The plugin does this itself over HTTP; it doesn't see such operations of WebSockets.
   */
  rejected(
    transport: Transport,
    errors: readonly unknown[],
    trace: Trace,
    client: ClientName,
  ): readonly GraphQLError[];
};

export const createOperations = (observer: OperationObserver, attribute: Attribute): Operations => {
  const clientOf = ({ req, client }: ServerContext): ClientName =>
    client ?? (req && attribute.clientIn(req.headers)) ?? OTHER_CLIENT;

  const rejected: Operations['rejected'] = (transport, thrown, trace, client) => {
    const { errors, unexpectedErrors } = maskErrors(thrown);
    observer.answered?.({
      attributed: {
        attribution: attribute.of(client, null, null),
        clientVersion: client.version,
        tenant: null,
      },
      type: 'none',
      transport,
      codes: codesOf(errors),
      abandoned: false,
      unexpectedErrors,
      durationMs: null,
      upstream: null,
      estimate: null,
      unchanged: null,
      trace,
    });
    return withIds(errors, transport, trace);
  };

  /** Returns the function that ends the operation: it masks and reports the operation's errors. */
  const start = (
    { contextValue: context, document, operationName }: OperationArgs,
    transport = transportOf(context),
  ) => {
    const startedAt = performance.now();
    const operation = getOperationAST(document, operationName);
    const type = operation?.operation ?? 'none';
    const name = operation?.name?.value ?? null;
    const client = clientOf(context);
    const attributed: Attributed = {
      attribution: attribute.of(client, document, operationName),
      clientVersion: client.version,
      tenant: attribute.tenantOf(context.tenant),
    };
    context.attributed = attributed;
    context.trace =
      observer.started?.({ attributed, type, transport, name, document, trace: context.trace }) ??
      context.trace;
    return (thrown: readonly GraphQLError[] | undefined): readonly GraphQLError[] => {
      context.isReported = true;
      const { errors, unexpectedErrors } = maskErrors(thrown ?? []);
      const { trace, upstream } = context;
      const durationMs = performance.now() - startedAt;
      const abandoned = context.clientSignal?.aborted ?? false;
      observer.answered?.({
        attributed,
        type,
        transport,
        codes: codesOf(errors),
        abandoned,
        unexpectedErrors,
        durationMs,
        upstream,
        estimate: context.answer.estimate?.computeUnits ?? null,
        unchanged: context.unchanged ?? null,
        trace,
      });
      return withIds(errors, transport, trace);
    };
  };

  const plugin: OperationPlugin = {
    onExecute({ args }) {
      const end = start(args);
      return (result) => {
        const errors = end(result.errors);
        return errors.length > 0 ? { ...result, errors } : result;
      };
    },
    onSubscribe({ args }) {
      const { req, res } = args.contextValue;
      const end = start(args, req && (acceptedBy(req).events === 'multipart/mixed' ? 'multipart' : 'sse'));
      return (result: SubscribeResult) => {
        if (!result.subscription) return { ...result, errors: end(result.errors) };
        end([]);
        const onClosed = res && observer.streaming?.(traceOf(res));
        if (res && onClosed) onResponseClosed(res, onClosed);
        return result;
      };
    },
    onHttpResult(result, context) {
      const { isReported, res } = context;
      const { errors: thrown = [] } = result;
      // What a later hook throws after the operation was reported is masked and reported as well.
      if (isReported && maskErrors(thrown).unexpectedErrors.length === 0) return result;
      const errors = rejected('http', thrown, res ? traceOf(res) : createTrace(), clientOf(context));
      return errors.length > 0 ? { ...result, errors } : result;
    },
  };
  return { plugin, rejected };
};

const transportOf = ({ transport, req }: OperationContext): Transport =>
  transport ?? (req && acceptedBy(req).prefersEvents ? 'sse' : 'http');

const codesOf = (errors: readonly GraphQLError[]): readonly ErrorCode[] =>
  errors.length === 0
    ? NO_CODES
    : [...new Set(errors.map(({ extensions: { code } }) => (isErrorCode(code) ? code : UNEXPECTED)))];

const NO_CODES: readonly ErrorCode[] = [];
const UNEXPECTED: ErrorCode = 'INTERNAL_SERVER_ERROR';

const withIds = (
  errors: readonly GraphQLError[],
  transport: Transport,
  trace: Trace,
): readonly GraphQLError[] =>
  transport === 'websocket' || transport === 'mcp'
    ? errors.map((error) => withRequestId(error, trace))
    : errors;

/**
 * Adds `extensions.upstream`, the operation's cost, to every response. Each event of a subscription has its own, see
 * subscriptions/.
 */
export const useUpstreamExtension = (): OperationPlugin => ({
  onExecute:
    ({ args: { contextValue } }) =>
    (result) =>
      withCost(result, contextValue.upstream),
  // A subscription that starts has no result yet. A rejection over WebSocket is not processed further, so it is completed here.
  onSubscribe:
    ({ args: { contextValue } }) =>
    (result) =>
      result.errors ? withCost(result, contextValue.upstream) : result,
  // An operation that was rejected before it ran made no upstream request.
  onHttpResult: (result) => (result.extensions?.upstream ? result : withCost(result, new Usage())),
});

const withCost = (result: ExecutionResult, upstream: Usage): ExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, upstream: upstream.summary() },
});
