import type { OperationTable, SocketContext } from './connection.ts';

/** An id while it is one operation's own. */
export type OperationSlot = {
  /** Takes a step of the operation and gives what it comes to; neither, when the id is no longer its own. */
  readonly ifCurrent: <Result>(step: () => Promise<Result>) => Promise<Result>;
  /** Takes what a query or a mutation comes to, which has begun: its socket is closed only after it, see graceful-close.ts. */
  readonly trackExecution: <Result>(result: Promise<Result>) => Promise<Result>;
  /** Aborts when that takes too long; see server/graphql/plugins/shutdown-mutations.ts for what it comes to then. */
  readonly shutdownSignal: AbortSignal;
  /** Aborts when the client completes the operation, or its socket closes, before it is answered. */
  readonly clientSignal: AbortSignal;
};

/**
 * Takes an id for one operation. Its client may complete it, and use the id again while it is still under way:
 * graphql-ws asks only whether the id is in use, and would then answer both.
 */
export const acquireSlot = (socket: SocketContext, id: string): OperationSlot => {
  const mark = new SlotPlaceholder();
  socket.subscriptions[id] = mark;
  const isHeld = () => socket.subscriptions[id] === mark;
  return {
    clientSignal: mark.ended.signal,
    ifCurrent: (step) =>
      new Promise((resolve, reject) => {
        if (!isHeld()) return;
        step().then(
          (result) => isHeld() && resolve(result),
          (error) => isHeld() && reject(error),
        );
      }),
    trackExecution(result) {
      const abortSignal = () => mark.ended.abort();
      const abandon = () => {
        mark.shutdown.abort();
        // Not before: it is no client's leaving that ends it.
        result.then(abortSignal, abortSignal);
      };
      mark.running = { ended: result, abandon };
      return result;
    },
    shutdownSignal: mark.shutdown.signal,
  };
};

/** A query or a mutation that has begun. */
export type RunningOperation = {
  readonly ended: Promise<unknown>;
  /** Brings it to an answer now, where one can be given; what it has not yet asked for is then not asked. */
  abandon(): void;
};

/**
 * Ends all operations as though their client had completed them, but for queries and mutations that have begun: those
 * it gives.
 */
export const cancelUnstarted = (operations: OperationTable): readonly RunningOperation[] =>
  Object.entries(operations).flatMap(([id, operation]) => {
    if (operation instanceof SlotPlaceholder && operation.running !== null) return [operation.running];
    delete operations[id];
    void operation?.[Symbol.asyncIterator]().return?.();
    return [];
  });

const DONE = { done: true, value: undefined } as const;

/** Stands for an operation that is no stream, or none yet: graphql-ws returns streams that nobody listens to any more. */
class SlotPlaceholder implements AsyncIterableIterator<never, undefined> {
  readonly ended = new AbortController();
  readonly shutdown = new AbortController();
  running: RunningOperation | null = null;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<never, undefined>> {
    return Promise.resolve(DONE);
  }

  return(): Promise<IteratorResult<never, undefined>> {
    this.ended.abort();
    return Promise.resolve(DONE);
  }
}
