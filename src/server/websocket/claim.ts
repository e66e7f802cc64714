import type { SocketContext } from './connection.ts';

/** Gives what a step of an operation comes to; never, when the id is no longer the operation's own. */
export type Claimed = <Result>(step: Promise<Result>) => Promise<Result>;

/**
 * Takes an id for one operation. Its client may complete it, and use the id again while it is still being prepared:
 * graphql-ws asks only whether the id is in use, and would then run both.
 */
export const claimId = (socket: SocketContext, id: string): Claimed => {
  const mark = noEvents();
  socket.subscriptions[id] = mark;
  const isHeld = () => socket.subscriptions[id] === mark;
  return (step) =>
    new Promise((resolve, reject) => {
      step.then(
        (result) => isHeld() && resolve(result),
        (error) => isHeld() && reject(error),
      );
    });
};

const noEvents = (): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
});
