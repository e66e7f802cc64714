import { settlesWithin } from '../../lib/tasks.ts';
import { type Connection, close, type OperationTable, type SocketContext } from './connection.ts';
import { END, OperationStream } from './operation-streams.ts';

/** An id of a socket while one operation has it. */
export type OperationSlot = {
  /** Runs `step` and settles as it does. Once another operation has the id, or none, the promise never settles. */
  readonly ifCurrent: <Result>(step: () => Promise<Result>) => Promise<Result>;
  /** Returns the result of a query or a mutation that has begun. `closeGracefully` waits for it. */
  readonly trackExecution: <Result>(result: Promise<Result>) => Promise<Result>;
  /** Aborts when a graceful close has waited long enough; server/graphql/execution.ts answers then. */
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
