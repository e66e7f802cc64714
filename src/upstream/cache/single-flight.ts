import { onAbort } from '../../lib/abort.ts';
import type { Deadline } from '../../lib/deadline.ts';
import { clientGone, deadlineExceeded } from '../client/errors.ts';

/** One request under way, for all who wait for its answer. */
export type SharedRequest<Answer> = {
  /** Whether the last one who waited has gone: the request is aborted, and nobody may join any more. */
  readonly isAbandoned: boolean;
  /** The answer, or UpstreamError `timeout` when the deadline passes before it comes. */
  join(deadline: Deadline): Promise<Answer>;
  /** Lets it come to its end whoever goes. */
  detach(): void;
};

export const startShared = <Answer>(
  start: (signal: AbortSignal) => Promise<Answer>,
): SharedRequest<Answer> => {
  const controller = new AbortController();
  const answer = start(controller.signal);
  // Those who wait are told; a failure that nobody waits for is nobody's.
  answer.catch(() => {});
  let waiters = 0;
  const removeWaiter = () => {
    waiters -= 1;
    if (waiters === 0) controller.abort();
  };

  return {
    get isAbandoned() {
      return controller.signal.aborted;
    },
    join: (deadline) =>
      new Promise((resolve, reject) => {
        waiters += 1;
        const abandon = (error: Error) => {
          settle();
          removeWaiter();
          reject(error);
        };
        const timer = setTimeout(() => abandon(deadlineExceeded()), deadline.remainingMs());
        const stopListening = onAbort(deadline.signal, () => abandon(clientGone()));
        const settle = () => {
          clearTimeout(timer);
          stopListening();
        };
        answer.then(resolve, reject).finally(settle);
      }),
    detach() {
      waiters += 1;
    },
  };
};
