import type { ExecutionResult } from 'graphql';
import { jsonParts, type SerializedData } from '../../graph/answer/serialize.ts';
import type { EventReader } from '../../lib/event-source.ts';
import { settlesWithin } from '../../lib/tasks.ts';
import type { Frame } from '../subscriptions/frame.ts';
import type { Subscription } from '../subscriptions/shared-execution.ts';
import { type Connection, close, type OperationTable, type SocketContext } from './connection.ts';
import type { FrameWriter } from './frame-writer.ts';

type Step = IteratorResult<never, undefined>;

const END: Promise<Step> = Promise.resolve({ done: true, value: undefined });

/**
 * What graphql-ws iterates for an operation. It yields no values: the operation writes its messages to the socket by
 * itself. graphql-ws sees only its end, and reports that to the client as `complete` or `error`.
 */
abstract class OperationStream implements AsyncIterableIterator<never, undefined> {
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Resolves when the operation has ended, and rejects with the error that ended it. */
  abstract next(): Promise<Step>;

  /** graphql-ws calls it when the client completes the operation, or its socket closes. */
  return(): Promise<Step> {
    this.cancel();
    return END;
  }

  protected abstract cancel(): void;
}

/** The text of a `next` message in front of its payload. */
export const nextPrefix = (id: string): string => `{"id":${JSON.stringify(id)},"type":"next","payload":`;

/** The answer to a query or a mutation whose data is JSON already: graphql-ws would serialise it a second time. */
export class SerializedAnswer extends OperationStream {
  /** Null after it is sent. */
  #payload: readonly Buffer[] | null;
  readonly #data: SerializedData;
  readonly #frameWriter: FrameWriter;
  readonly #id: string;

  constructor(
    { errors, ...result }: ExecutionResult,
    data: SerializedData,
    frameWriter: FrameWriter,
    id: string,
  ) {
    super();
    // `errors` comes last, as in the answers that graphql-ws writes.
    this.#payload = jsonParts({ ...result, ...(errors && { errors }) }, data);
    this.#data = data;
    this.#frameWriter = frameWriter;
    this.#id = id;
  }

  next(): Promise<Step> {
    const payload = this.#payload;
    this.#payload = null;
    if (payload) this.#frameWriter.sendAnswer(nextPrefix(this.#id), payload, '}', this.#release);
    return END;
  }

  protected cancel(): void {
    if (this.#payload) this.#release();
    this.#payload = null;
  }

  readonly #release = (): void => this.#data.lease?.release();
}

/** The events that a subscription sends in a row before other work has its turn. */
const BURST = 64;

/** Tells the client of an operation by which error it has ended. */
export type SendError = (connection: Connection, id: string, error: unknown) => void;

/**
 * A subscription. Backpressure: it reads its next event once the socket accepts another frame. The frames are shared by
 * all subscribers of an event.
 *
 * graphql-ws ends the operation before its first event, and `open` gives it its id back. So an idle subscription keeps
 * neither its message in memory nor the promises by which graphql-ws would wait for events.
 */
export class SocketSubscription extends OperationStream {
  /** Null after it is opened, so that nothing of the operation's start stays in memory. */
  #subscription: Subscription | null;
  readonly #connection: Connection;
  readonly #frameWriter: FrameWriter;
  readonly #id: string;
  readonly #prefix: string;
  readonly #sendError: SendError;
  #reader: EventReader<Frame> | null = null;
  /** Whether there may be more events than were sent. */
  #isBehind = false;

  constructor(subscription: Subscription, connection: Connection, id: string, sendError: SendError) {
    super();
    this.#subscription = subscription;
    this.#connection = connection;
    this.#frameWriter = connection.frameWriter;
    this.#id = id;
    this.#prefix = nextPrefix(id);
    this.#sendError = sendError;
  }

  /** Ends the operation for graphql-ws, which sends no `complete` for an id that is no longer in use. */
  next(): Promise<Step> {
    delete this.#connection.operations[this.#id];
    return END;
  }

  /**
   * Begins to send events, unless it was cancelled. Called once graphql-ws has handled the message, in the same turn of the
   * event loop: no other message can take the id meanwhile.
   */
  open(): void {
    const { isDisconnected, drained } = this.#connection;
    if (isDisconnected || drained !== null) this.cancel();
    if (this.#subscription === null) return;
    this.#connection.operations[this.#id] = this;
    this.#reader = this.#subscription.open(null, this.#flush);
    this.#subscription = null;
    this.#flush();
  }

  protected cancel(): void {
    this.#subscription = null;
    this.#reader?.close();
  }

  readonly #flush = (): void => {
    try {
      this.#isBehind = !this.#sendBurst();
      if (!this.#isBehind) return;
      if (this.#frameWriter.isReady) setImmediate(this.#flush);
      else this.#frameWriter.onDrain(this.#flush);
    } catch (error) {
      this.#reader?.close();
      const { operations } = this.#connection;
      if (operations[this.#id] !== this) return;
      delete operations[this.#id];
      this.#sendError(this.#connection, this.#id, error);
    }
  };

  /** Returns whether it has sent all events that there are. */
  #sendBurst(): boolean {
    try {
      for (let sent = 0; sent < BURST && this.#frameWriter.isReady; sent += 1) {
        const frame = this.#reader?.take();
        if (!frame) return true;
        // Most events come alone, and are written without a batch.
        if (sent === 1 || this.#isBehind) this.#frameWriter.batch();
        this.#frameWriter.sendRepeated(this.#prefix, frame.parts, '}');
      }
      return false;
    } finally {
      this.#frameWriter.flush();
    }
  }
}

/** An id of a socket while one operation has it. */
export type OperationSlot = {
  /** Runs `step` and settles as it does. Once another operation has the id, or none, the promise never settles. */
  readonly ifCurrent: <Result>(step: () => Promise<Result>) => Promise<Result>;
  /** Returns the result of a query or a mutation that has begun. `closeGracefully` waits for it. */
  readonly trackExecution: <Result>(result: Promise<Result>) => Promise<Result>;
  /** Aborts when a graceful close has waited long enough; server/graphql/pipeline.ts answers then. */
  readonly shutdownSignal: AbortSignal;
  /** Aborts when the client completes the operation, or its socket closes, before it is answered. */
  readonly clientSignal: AbortSignal;
};

/**
 * Takes an id for one operation. Its client may complete it and use the id again while the operation still runs:
 * graphql-ws checks only that the id is in use, and would answer both.
 */
export const acquireSlot = (socket: SocketContext, id: string): OperationSlot => {
  const placeholder = new SlotPlaceholder();
  socket.subscriptions[id] = placeholder;
  const isCurrent = () => socket.subscriptions[id] === placeholder;
  return {
    clientSignal: placeholder.client.signal,
    ifCurrent: (step) =>
      new Promise((resolve, reject) => {
        if (!isCurrent()) return;
        step().then(
          (result) => isCurrent() && resolve(result),
          (error) => isCurrent() && reject(error),
        );
      }),
    trackExecution(result) {
      const abortClientSignal = () => placeholder.client.abort();
      const abandon = () => {
        placeholder.shutdown.abort();
        // The client signal must not abort before the result is there: the client has not left.
        result.then(abortClientSignal, abortClientSignal);
      };
      placeholder.running = { ended: result, abandon };
      return result;
    },
    shutdownSignal: placeholder.shutdown.signal,
  };
};

/** A query or a mutation that has begun. */
type RunningOperation = {
  readonly ended: Promise<unknown>;
  /** Ends it now, with an answer if there can be one. It sends no further request upstream. */
  abandon(): void;
};

/** Stands for an operation that is not a stream, or not yet one: graphql-ws calls `return` on the streams in its table. */
class SlotPlaceholder extends OperationStream {
  readonly client = new AbortController();
  readonly shutdown = new AbortController();
  running: RunningOperation | null = null;

  next() {
    return END;
  }

  protected cancel(): void {
    this.client.abort();
  }
}

/** Time for queries and mutations that have begun to be answered. */
const DRAIN_MS = 5000;

/**
 * Closes a connection so that no operation is done twice when its client repeats, on another connection, each operation
 * without a `complete`. No operation begins from now on. Subscriptions end at once, without a `complete`. Queries and
 * mutations that have begun are answered first. After five seconds a mutation gets a timeout in place of upstream's
 * answer, and a query gets none. Resolves when the close frame is sent. Later calls change neither code nor reason.
 * A shutdown passes its own `drainMs`.
 */
export const closeGracefully = (
  connection: Connection,
  code: number,
  reason: string,
  drainMs = DRAIN_MS,
): Promise<void> => {
  connection.drained ??= drain(connection, code, reason, drainMs);
  return connection.drained;
};

const drain = async (
  connection: Connection,
  code: number,
  reason: string,
  drainMs: number,
): Promise<void> => {
  const running = cancelUnstarted(connection.operations);
  if (running.length > 0) {
    await settlesWithin(
      running.map(({ ended }) => ended),
      drainMs,
    );
    for (const operation of running) operation.abandon();
    // graphql-ws sends the answer and `complete` within the turn in which an operation ends.
    await new Promise((resolve) => setImmediate(resolve));
  }
  close(connection, code, reason);
};

/** Cancels all operations except queries and mutations that have begun, and returns those. */
const cancelUnstarted = (operations: OperationTable): readonly RunningOperation[] =>
  Object.entries(operations).flatMap(([id, operation]) => {
    if (operation instanceof SlotPlaceholder && operation.running !== null) return [operation.running];
    delete operations[id];
    void operation?.[Symbol.asyncIterator]().return?.();
    return [];
  });
