import type { SocketContext } from './connection.ts';

/** An id while it is one operation's own. */
export type Claim = {
  /** Gives what a step of the operation comes to; never, when the id is no longer its own. */
  readonly claimed: <Result>(step: Promise<Result>) => Promise<Result>;
  /** Aborts when the client completes the operation, or its socket closes, before it is answered. */
  readonly gone: AbortSignal;
};

/**
 * Takes an id for one operation. Its client may complete it, and use the id again while it is still under way:
 * graphql-ws asks only whether the id is in use, and would then answer both.
 */
export const claimId = (socket: SocketContext, id: string): Claim => {
  const mark = new Mark();
  socket.subscriptions[id] = mark;
  const isHeld = () => socket.subscriptions[id] === mark;
  return {
    gone: mark.gone.signal,
    claimed: (step) =>
      new Promise((resolve, reject) => {
        step.then(
          (result) => isHeld() && resolve(result),
          (error) => isHeld() && reject(error),
        );
      }),
  };
};

const DONE = { done: true, value: undefined } as const;

/** Stands for an operation that is no stream, or none yet: graphql-ws returns streams that nobody listens to any more. */
class Mark implements AsyncIterableIterator<never, undefined> {
  readonly gone = new AbortController();

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<never, undefined>> {
    return Promise.resolve(DONE);
  }

  return(): Promise<IteratorResult<never, undefined>> {
    this.gone.abort();
    return Promise.resolve(DONE);
  }
}
