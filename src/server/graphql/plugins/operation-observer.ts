import type { ServerResponse } from 'node:http';
import { GraphQLError, getOperationAST } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Caller, Context } from '../../../context.ts';
import { type ErrorCode, isErrorCode } from '../../../graph/errors.ts';
import { maskError } from '../../../graph/mask.ts';
import type { Trace } from '../../../lib/trace-context.ts';
import type { Usage } from '../../../upstream/client/usage.ts';
import { traceOf } from '../../http/request-id.ts';
import { onResponseClosed } from '../../http/response-closed.ts';
import type { SubscribeResult } from '../../subscriptions/shared-execution.ts';

/** `none`: it was refused before anybody knew. */
type OperationType = 'query' | 'mutation' | 'subscription' | 'none';

type Transport = 'http' | 'sse' | 'websocket';

/** An operation that was answered; of a subscription: that was begun, or was not. */
export type AnsweredOperation = {
  readonly type: OperationType;
  readonly transport: Transport;
  /** Of its errors, each once, in their order; empty when all went well. */
  readonly codes: readonly ErrorCode[];
  /** Whether its client waited no more: what it met then says nothing of the gateway or the service. */
  readonly abandoned: boolean;
  /** Errors that are in no catalogue: the client was told of them as INTERNAL_SERVER_ERROR. */
  readonly unexpectedErrors: readonly unknown[];
  /** Milliseconds that it ran for; null when it did not. */
  readonly durationMs: number | null;
  /** What it cost so far; null when it did not run. */
  readonly upstream: Readonly<Usage> | null;
  readonly trace: Trace;
};

export type OperationObserver = {
  answered(operation: AnsweredOperation): void;
  /** A subscription's events flow as server-sent events, until the returned function is called. */
  streaming(): () => void;
};

type ServerContext = Context & {
  readonly request?: Request;
  readonly res?: ServerResponse;
  /** Whom a WebSocket acts for; only such a one comes with it. */
  readonly caller?: Caller;
  /** Aborts when a WebSocket's client has completed the operation, or has gone. */
  readonly clientSignal?: AbortSignal;
};

export type Operations = {
  /**
   * Masks what operations met, and tells of each once: of those that ran, whatever they came by, and of those that were
   * refused over HTTP. It must be the first plugin, to hear of operations that a later one stops.
   */
  readonly plugin: Plugin<ServerContext>;
  /** Tells of an operation that was refused before it ran, where no plugin hears of it: over WebSocket. */
  refused(transport: Transport, errors: readonly GraphQLError[], trace: Trace): void;
};

export const createOperations = (observer: OperationObserver): Operations => {
  const reported = new WeakSet<Request>();
  const refused: Operations['refused'] = (transport, errors, trace) =>
    observer.answered({
      type: 'none',
      transport,
      codes: codesOf(errors),
      abandoned: false,
      unexpectedErrors: [],
      durationMs: null,
      upstream: null,
      trace,
    });

  const begin = (context: ServerContext, type: OperationType, transport: Transport) => {
    const startedAt = performance.now();
    return (errors: readonly GraphQLError[] | undefined): GraphQLError[] => {
      if (context.request) reported.add(context.request);
      const unexpectedErrors: unknown[] = [];
      const masked = (errors ?? []).map((error) =>
        maskError(error, (unexpected) => unexpectedErrors.push(unexpected)),
      );
      const { trace, upstream } = context;
      const durationMs = performance.now() - startedAt;
      const abandoned = (context.clientSignal ?? context.request?.signal)?.aborted ?? false;
      const codes = codesOf(masked);
      observer.answered({ type, transport, codes, abandoned, unexpectedErrors, durationMs, upstream, trace });
      return masked.map((error) => (transport === 'websocket' ? withRequestId(error, trace) : error));
    };
  };

  const plugin: Plugin<ServerContext> = {
    onExecute({ args: { contextValue, document, operationName } }) {
      const type = getOperationAST(document, operationName)?.operation ?? 'none';
      const end = begin(contextValue, type, transportOf(contextValue));
      return {
        onExecuteDone({ result, setResult }) {
          if (isAsyncIterable(result)) return;
          const errors = end(result.errors);
          if (errors.length > 0) setResult({ ...result, errors });
        },
      };
    },
    onSubscribe({ args: { contextValue } }) {
      const { res } = contextValue;
      const end = begin(contextValue, 'subscription', res ? 'sse' : transportOf(contextValue));
      return {
        onSubscribeResult({ result, setResult }) {
          if (isAsyncIterable(result)) return;
          if ((result as SubscribeResult).subscription) {
            end([]);
            if (res) onResponseClosed(res, observer.streaming());
          } else setResult({ ...result, errors: end(result.errors) });
        },
      };
    },
    onResultProcess({ request, result, serverContext }) {
      if (reported.has(request) || isAsyncIterable(result) || Array.isArray(result)) return;
      const { res } = serverContext as { readonly res?: ServerResponse };
      refused('http', result.errors ?? [], traceOf(undefined, res));
    },
  };
  return { plugin, refused };
};

const transportOf = ({ caller, request }: ServerContext): Transport => {
  if (caller) return 'websocket';
  return request?.headers.get('accept')?.startsWith('text/event-stream') ? 'sse' : 'http';
};

const codesOf = (errors: readonly GraphQLError[]): ErrorCode[] => [
  ...new Set(errors.map(({ extensions: { code } }) => (isErrorCode(code) ? code : 'INTERNAL_SERVER_ERROR'))),
];

/** Where no header can carry it. */
export const withRequestId = (error: GraphQLError, { requestId }: Trace): GraphQLError =>
  new GraphQLError(error.message, {
    nodes: error.nodes,
    path: error.path,
    extensions: { ...error.extensions, requestId },
  });
