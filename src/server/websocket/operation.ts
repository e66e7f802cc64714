import { type ExecutionArgs, type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql';
import type { OperationResult, SubscribePayload } from 'graphql-ws';
import type { Context } from '../../context.ts';
import { SerializedData } from '../../graph/answer/serialize.ts';
import { badUserInput, clientError } from '../../graph/errors.ts';
import { onAbort } from '../../lib/abort.ts';
import type { TaskTracker } from '../../lib/task-tracker.ts';
import type { Trace } from '../../lib/trace-context.ts';
import type { Documents } from '../graphql/limits/documents.ts';
import type { RequestMemory, Reservation } from '../graphql/limits/request-memory.ts';
import { type Operations, withRequestId } from '../graphql/plugins/operation-observer.ts';
import type { TrustedDocuments } from '../graphql/trusted-documents.ts';
import type { GraphQLServer } from '../graphql/yoga.ts';
import { traceOf } from '../http/request-id.ts';
import type { SubscribeResult } from '../subscriptions/shared-execution.ts';
import type { AuthenticateConnection } from './authentication.ts';
import type { SocketContext } from './connection.ts';
import { acquireSlot, type OperationSlot } from './operation-slots.ts';
import { SerializedAnswer } from './serialized-answer.ts';
import { SocketSubscription } from './subscription.ts';

/** An operation of a WebSocket's, ready to be run by the pipeline that HTTP uses too. */
export type SocketOperation = ExecutionArgs & {
  /** Null once it runs: who subscribes for hours keeps nothing of what its start needed. */
  start: (() => OperationResult) | null;
};

type Preparation = {
  readonly graphql: GraphQLServer;
  readonly admit: AuthenticateConnection;
  readonly documents: Documents;
  readonly mask: (error: unknown) => GraphQLError;
  readonly operations: Operations;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  /** Queries and mutations, to be finished when the gateway stops. */
  readonly running: TaskTracker;
  /** For what operations came with, until they are answered. */
  readonly requestMemory: RequestMemory;
  readonly socket: SocketContext;
  readonly id: string;
  readonly payload: SubscribePayload;
};

const MAX_OPERATIONS = 100;
const MAX_ID_LENGTH = 256;

/** The operation, or what is wrong with it. Never rejects: an error thrown here would close the whole socket. */
export const prepareOperation = async (
  preparation: Preparation,
): Promise<SocketOperation | readonly GraphQLError[]> => {
  const { mask, operations, socket, id } = preparation;
  const trace = traceOf(socket.extra.traceparent, undefined);
  if (socket.extra.drained !== null) return ignoreWhileDraining(socket, id);
  const slot = acquireSlot(socket, id);
  try {
    return await slot.ifCurrent(() => prepareWithinBudget(preparation, slot, trace));
  } catch (thrown) {
    const errors = thrown instanceof Refused ? thrown.errors : [mask(thrown)];
    operations.refused('websocket', errors, trace);
    return errors.map((error) => withRequestId(error, trace));
  }
};

/** What is wrong with an operation, before it has run. */
class Refused extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('refused');
    this.errors = errors;
  }
}

/** Holds room for the message until the operation is answered, refused or abandoned. */
const prepareWithinBudget = async (
  preparation: Preparation,
  slot: OperationSlot,
  trace: Trace,
): Promise<SocketOperation> => {
  const reservation = preparation.requestMemory.reserve();
  try {
    if (!reservation.grow(preparation.socket.extra.messageWeight))
      throw tooComplex('Too many big operations are under way at once.');
    const operation = await prepare(preparation, slot, trace, reservation);
    // Once it is started, it holds room until it ends, whether anybody waits for it or not.
    onAbort(slot.clientSignal, () => operation.start !== null && reservation.release());
    return operation;
  } catch (error) {
    reservation.release();
    throw error;
  }
};

const prepare = async (
  { graphql, admit, documents, trusted, running, socket, id, payload }: Preparation,
  { ifCurrent, trackExecution, clientSignal, shutdownSignal }: OperationSlot,
  trace: Trace,
  reservation: Reservation,
): Promise<SocketOperation> => {
  const { frameWriter, answers, messageBytes } = socket.extra;
  const { operationName, variables } = payload;
  // graphql-ws has counted this one already.
  if (Object.keys(socket.subscriptions).length > MAX_OPERATIONS)
    throw tooComplex(`Expected at most ${MAX_OPERATIONS} operations at once on a socket.`);
  if (id.length > MAX_ID_LENGTH)
    throw tooComplex(`Expected an id of at most ${MAX_ID_LENGTH} characters, got ${id.length}.`);
  const caller = await admit(socket);
  const text = trusted?.documentOf(payload) ?? payload.query;
  await documents.prepare(text, caller.billingKey, clientSignal);
  const socketMemory = { memory: answers, untilDrained: () => frameWriter.untilDrained() };
  const pipeline = graphql.getEnveloped({
    trace,
    bytes: messageBytes,
    clientSignal,
    shutdownSignal,
    socketMemory,
  });
  const document = pipeline.parse(text);
  const errors = pipeline.validate(pipeline.schema, document);
  if (errors.length > 0) throw new Refused(errors as readonly GraphQLError[]);
  const operation = getOperationAST(document, operationName)?.operation;
  if (operation === undefined)
    throw badUserInput('Expected operationName to name an operation of the document, got none or another.');
  const { schema } = pipeline;
  const contextValue: Context = await pipeline.contextFactory({ caller });
  const args: ExecutionArgs = {
    schema,
    document,
    contextValue,
    operationName: operationName ?? null,
    variableValues: variables ?? null,
  };
  const answer = async (): Promise<ExecutionResult | SerializedAnswer> => {
    await frameWriter.untilDrained();
    const result: ExecutionResult = await pipeline.execute(args);
    const { data } = result;
    return data instanceof SerializedData ? new SerializedAnswer(result, data, frameWriter, id) : result;
  };
  const execute = (): Promise<ExecutionResult | SerializedAnswer> => trackExecution(running.track(answer()));
  const subscribe = async (): Promise<SubscribeResult | SocketSubscription> => {
    const result: SubscribeResult = await pipeline.subscribe(args);
    return result.subscription ? new SocketSubscription(result.subscription, frameWriter, id) : result;
  };
  const run = (): Promise<Awaited<OperationResult>> =>
    operation === 'subscription' ? subscribe() : execute();
  const start = (): OperationResult => ifCurrent(() => run().finally(reservation.release));
  return { schema, document, operationName: args.operationName, contextValue: null, start };
};

/** What comes while the socket is drained is forgotten: its client asks for it again on its next one. */
const ignoreWhileDraining = (socket: SocketContext, id: string): Promise<never> => {
  delete socket.subscriptions[id];
  return new Promise(() => {});
};

const tooComplex = (message: string) => clientError('OPERATION_TOO_COMPLEX', message);

/** Runs the operation, once. */
export const startOperation = (operation: SocketOperation): OperationResult => {
  const { start } = operation;
  if (start === null) throw new TypeError('Expected an operation that has not run yet.');
  operation.start = null;
  return start();
};
