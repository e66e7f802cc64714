import { type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql';
import { makeServer, type OperationResult, type SubscribePayload } from 'graphql-ws';
import { SerializedData } from '../../graph/answer/serialize.ts';
import { clientError } from '../../graph/errors.ts';
import { onAbort } from '../../lib/deadlines.ts';
import type { MemoryBudget } from '../../lib/memory-budget.ts';
import type { TaskTracker } from '../../lib/tasks.ts';
import type { Trace } from '../../lib/trace.ts';
import { namesInLowerCase } from '../auth/authenticate.ts';
import type { Attribute } from '../graphql/attribution.ts';
import type { MaskError } from '../graphql/errors.ts';
import type { GraphQLServer } from '../graphql/graphql.ts';
import { type Documents, InvalidDocument } from '../graphql/limits/documents.ts';
import {
  estimatedBytesOfText,
  type RequestMemory,
  type RequestReservation,
} from '../graphql/limits/request-memory.ts';
import type { Operations } from '../graphql/observe.ts';
import type { OperationArgs, SocketMemory } from '../graphql/operation-plugin.ts';
import type { PartWriter } from '../graphql/part-writer.ts';
import { namedDocument, type PersistedQueries } from '../graphql/persisted-queries.ts';
import type { TrustedDocuments } from '../graphql/trusted-documents.ts';
import { createTrace } from '../http/exchange.ts';
import { toFormattedError } from '../subscriptions/frame.ts';
import type { SubscribeResult } from '../subscriptions/shared-execution.ts';
import { type AuthenticateConnection, closeUnlessAuthenticated } from './authentication.ts';
import {
  type Connection,
  close,
  type Message,
  type SocketContext,
  type SocketObserver,
} from './connection.ts';
import type { FrameWriter } from './frame-writer.ts';
import {
  acquireSlot,
  nextPrefix,
  type OperationSlot,
  type SendError,
  SerializedAnswer,
  SocketSubscription,
} from './operation-streams.ts';

/** Parsed, a message may take some twenty times as much. HTTP accepts as many bytes in headers before authentication. */
const MAX_UNAUTHENTICATED_MESSAGE_BYTES = 16 * 1024;
const NO_STATUS = 1005;
const BAD_REQUEST = 4400;
const INIT_TIMEOUT = 4408;
const INTERNAL_ERROR = 4500;

/** The times that a client has, in milliseconds. */
export type SocketTimes = {
  /** From the upgrade to its connection_init. */
  readonly initMs: number;
  /** From there to a valid credential. */
  readonly authenticationMs: number;
};

export const SOCKET_TIMES: SocketTimes = { initMs: 3000, authenticationMs: 10_000 };

/** Speaks graphql-transport-ws on a connection until that is disconnected. */
type Protocol = (connection: Connection) => void;

export const createProtocol = (
  pipeline: OperationPipeline,
  { initMs, authenticationMs } = SOCKET_TIMES,
): Protocol => {
  const { attribute, authenticate, mask } = pipeline;
  /** Of the connections that have not sent connection_init. */
  const initTimers = new Map<Connection, NodeJS.Timeout>();
  const sendError: SendError = ({ frameWriter, traceparent }, id, error) => {
    const payload = [toFormattedError(mask(error, createTrace(traceparent)))];
    frameWriter.send(JSON.stringify({ id, type: 'error', payload }), [], '');
  };
  const started = { ...pipeline, sendError };
  const server = makeServer<Record<string, unknown> | undefined, Connection>({
    // It would keep its timer in memory for as long as the connection lasts.
    connectionInitWaitTimeout: 0,
    // A connection that is not authenticated is acknowledged too: each of its operations gets the error.
    onConnect(socket) {
      clearTimeout(initTimers.get(socket.extra));
      initTimers.delete(socket.extra);
      socket.extra.operations = socket.subscriptions;
      socket.extra.client =
        attribute.clientIn(namesInLowerCase(socket.connectionParams)) ?? socket.extra.client;
      return authenticate(socket).then(
        () => {},
        () => closeUnlessAuthenticated(socket.extra, authenticationMs),
      );
    },
    onSubscribe: (socket, id, payload) => prepareOperation(started, { socket, id, payload }),
    execute: (args) => startOperation(args as SocketOperation),
    subscribe: (args) => startOperation(args as SocketOperation),
    // graphql-ws wraps the error that ends a stream; the wrapper has no code.
    onError({ extra: { traceparent } }, _id, _payload, errors) {
      const trace = createTrace(traceparent);
      return errors.map((error) =>
        toFormattedError(mask(error.cause instanceof GraphQLError ? error.cause : error, trace)),
      );
    },
  });

  return (connection) => {
    const closeUninitialised = () => close(connection, INIT_TIMEOUT, 'Connection initialisation timeout');
    initTimers.set(connection, setTimeout(closeUninitialised, initMs));
    const closed = server.opened(new ProtocolSocket(connection), connection);
    connection.onDisconnected(() => {
      clearTimeout(initTimers.get(connection));
      initTimers.delete(connection);
      void closed(NO_STATUS, '');
    });
  };
};

/** A connection as graphql-ws sees it: a class, since an object literal has functions of its own for each connection. */
class ProtocolSocket {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get protocol(): string {
    return this.#connection.webSocket.protocol;
  }

  send(data: string): void {
    this.#connection.frameWriter.sendWhole(data);
  }

  close(code = NO_STATUS, reason = ''): void {
    close(this.#connection, code, reason);
  }

  onMessage(handle: (text: string) => Promise<void>): void {
    const connection = this.#connection;
    const { webSocket } = connection;
    webSocket.on('message', (data) => {
      // Messages that the peer sent before it read the close frame are ignored.
      if (webSocket.readyState !== webSocket.OPEN) return;
      const text = String(data);
      const bytes = Buffer.byteLength(text);
      if (connection.caller === null && bytes > MAX_UNAUTHENTICATED_MESSAGE_BYTES)
        return close(connection, BAD_REQUEST, 'Expected at most 16 KB before a valid credential');
      const message: Message = { bytes, weight: estimatedBytesOfText(text), handled: null };
      connection.message = message;
      handle(text).then(
        () => {
          message.handled?.();
          message.handled = null;
        },
        () => close(connection, INTERNAL_ERROR, 'Internal server error'),
      );
      connection.frameWriter.pauseReadsWhileBlocked();
    });
  }
}

/** An operation of a WebSocket that is ready to run through the pipeline that HTTP uses too. */
type SocketOperation = ExecutionArgs & {
  /** Null after it is called: a subscription of many hours keeps nothing of its start in memory. */
  start: (() => OperationResult) | null;
};

/** What the operations of all sockets share. */
type OperationPipeline = {
  readonly graphql: GraphQLServer;
  readonly attribute: Attribute;
  readonly authenticate: AuthenticateConnection;
  readonly documents: Documents;
  readonly mask: MaskError;
  readonly operations: Operations;
  readonly observer: SocketObserver;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  readonly persisted: PersistedQueries;
  /** Queries and mutations in progress: a graceful shutdown waits for them. */
  readonly running: TaskTracker;
  /** The memory of messages until their operations are answered. */
  readonly requestMemory: RequestMemory;
};

type SocketPipeline = OperationPipeline & { readonly sendError: SendError };

type Subscribe = {
  readonly socket: SocketContext;
  readonly id: string;
  readonly payload: SubscribePayload;
};

const MAX_OPERATIONS = 100;
const MAX_ID_LENGTH = 256;

/**
 * Resolves with an operation that may start, or with the errors for its client. Never rejects: graphql-ws would close the
 * whole socket.
 */
const prepareOperation = async (
  pipeline: SocketPipeline,
  message: Subscribe,
): Promise<SocketOperation | readonly GraphQLError[]> => {
  const { socket, id } = message;
  if (socket.extra.drained !== null) return ignoreWhileDraining(socket, id);
  const slot = acquireSlot(socket, id);
  const client = createTrace(socket.extra.traceparent);
  const trace = pipeline.observer.received?.(client, slot.clientSignal) ?? client;
  try {
    return await slot.ifCurrent(() => prepareWithinBudget(pipeline, message, slot, trace));
  } catch (error) {
    const errors = error instanceof InvalidDocument ? error.errors : [error];
    const rejection = pipeline.operations.rejected('websocket', errors, trace, socket.extra.client);
    pipeline.observer.ended?.(trace);
    return rejection;
  }
};

/** The client repeats the operation on its next connection. */
const ignoreWhileDraining = (socket: SocketContext, id: string): Promise<never> => {
  delete socket.subscriptions[id];
  return new Promise(() => {});
};

/** Reserves memory for the message until its operation is answered, refused or completed by the client. */
const prepareWithinBudget = async (
  pipeline: SocketPipeline,
  message: Subscribe,
  slot: OperationSlot,
  trace: Trace,
): Promise<SocketOperation> => {
  const { caller, address = 'unknown' } = message.socket.extra;
  const reservation = pipeline.requestMemory.reserve(caller?.billingKey ?? address);
  try {
    if (!reservation.growTo(message.socket.extra.message.weight))
      throw tooComplex('Expected fewer large operations in progress at once; a later attempt may succeed.');
    const operation = await prepare(pipeline, message, slot, trace, reservation);
    // An operation that has started keeps its memory until it ends, even if its client has left.
    onAbort(slot.clientSignal, () => operation.start !== null && reservation.release());
    return operation;
  } catch (error) {
    reservation.release();
    throw error;
  }
};

const prepare = async (
  { graphql, authenticate, documents, trusted, persisted, running, observer, sendError }: SocketPipeline,
  { socket, id, payload }: Subscribe,
  { ifCurrent, trackExecution, clientSignal, shutdownSignal }: OperationSlot,
  trace: Trace,
  reservation: RequestReservation,
): Promise<SocketOperation> => {
  const { frameWriter } = socket.extra;
  const { variables } = payload;
  // Some clients send an empty name where an operation has none.
  const operationName = payload.operationName || null;
  const { message } = socket.extra;
  // graphql-ws has added this operation already.
  if (Object.keys(socket.subscriptions).length > MAX_OPERATIONS)
    throw tooComplex(`Expected at most ${MAX_OPERATIONS} operations at once on a socket.`);
  if (id.length > MAX_ID_LENGTH)
    throw tooComplex(`Expected an id of at most ${MAX_ID_LENGTH} characters, got ${id.length}.`);
  const caller = await authenticate(socket);
  const named =
    trusted === null
      ? namedDocument(payload.query, payload.extensions)
      : { query: trusted.documentOf(payload), hash: null };
  const text = named.query === null ? persisted.find(named.hash, caller) : named.query;
  const { billingKey } = caller;
  const { document, type } =
    documents.known(text, operationName) ??
    (await documents.read(text, operationName, { billingKey, clientSignal, trace }));
  if (named.query !== null && named.hash !== null) persisted.keep(named.hash, text, caller);
  const contextValue = graphql.contextOf({
    transport: 'websocket',
    caller,
    client: socket.extra.client,
    trace,
    messageBytes: message.bytes,
    clientSignal,
    shutdownSignal,
    socketMemory: new ConnectionMemory(socket.extra),
    partWriter: createPartWriter(frameWriter, id, clientSignal),
  });
  const { schema, pipeline } = graphql;
  const args: OperationArgs = {
    schema,
    document,
    contextValue,
    operationName,
    variableValues: variables ?? null,
  };
  const answer = async (): Promise<ExecutionResult | SerializedAnswer> => {
    await frameWriter.untilDrained();
    const result = await pipeline.execute(args);
    const lastPart = contextValue.parts?.finish(result);
    if (lastPart) return lastPart;
    const { data } = result;
    return data instanceof SerializedData ? new SerializedAnswer(result, data, frameWriter, id) : result;
  };
  const execute = (): Promise<ExecutionResult | SerializedAnswer> => trackExecution(running.track(answer()));
  const subscribe = async (): Promise<SubscribeResult | SocketSubscription> => {
    const result = await pipeline.subscribe(args);
    if (!result.subscription) return result;
    const subscription = new SocketSubscription(result.subscription, socket.extra, id, sendError);
    message.handled = () => subscription.open();
    return subscription;
  };
  const run = (): Promise<Awaited<OperationResult>> => (type === 'subscription' ? subscribe() : execute());
  const end = (): void => {
    reservation.release();
    observer.ended?.(trace);
  };
  const start = (): OperationResult => ifCurrent(() => run().finally(end));
  return { schema, document, operationName: args.operationName, contextValue: null, start };
};

/**
 * The memory of a connection for answers, which is made when one is heavy. A class: an object literal with a getter has a
 * hidden class of its own, which V8 keeps until it collects its whole heap.
 */
class ConnectionMemory implements SocketMemory {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get memory(): MemoryBudget {
    return this.#connection.answers;
  }

  untilDrained(): Promise<void> {
    return this.#connection.frameWriter.untilDrained();
  }
}

const tooComplex = (message: string) => clientError('OPERATION_TOO_COMPLEX', message);

/** Runs the operation, once. */
const startOperation = (operation: SocketOperation): OperationResult => {
  const { start } = operation;
  if (start === null) throw new TypeError('Expected an operation that has not run yet.');
  operation.start = null;
  return start();
};

/**
 * Writes the parts of an answer as `next` messages, until the client has completed the operation. graphql-ws sends the last
 * one, which is the operation's result, and `complete`.
 */
const createPartWriter = (frameWriter: FrameWriter, id: string, clientSignal: AbortSignal): PartWriter => ({
  format: '20220824',
  write(json, onWritten) {
    if (clientSignal.aborted) onWritten();
    else frameWriter.sendAnswer(nextPrefix(id), json, '}', onWritten);
  },
});
