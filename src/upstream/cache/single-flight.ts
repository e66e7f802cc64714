import { onAbort, type Patience } from '../../lib/deadline.ts';
import { abandoned, overdue } from '../client/errors.ts';

/** One request under way, for all who wait for its answer. */
export type Flight<Answer> = {
  /** Whether the last one who waited has gone: the request is aborted, and nobody may join any more. */
  readonly isAbandoned: boolean;
  /** The answer, or UpstreamError `timeout` when the patience ends before it comes. */
  join(patience: Patience): Promise<Answer>;
  /** Lets it come to its end whoever goes. */
  keepGoing(): void;
};

export const launch = <Answer>(start: (signal: AbortSignal) => Promise<Answer>): Flight<Answer> => {
  const controller = new AbortController();
  const answer = start(controller.signal);
  // Those who wait are told; a failure that nobody waits for is nobody's.
  answer.catch(() => {});
  let waiting = 0;
  const leave = () => {
    waiting -= 1;
    if (waiting === 0) controller.abort();
  };

  return {
    get isAbandoned() {
      return controller.signal.aborted;
    },
    join: (patience) =>
      new Promise((resolve, reject) => {
        waiting += 1;
        const giveUp = (error: Error) => {
          settle();
          leave();
          reject(error);
        };
        const timer = setTimeout(() => giveUp(overdue()), patience.remainingMs());
        const stopListening = onAbort(patience.signal, () => giveUp(abandoned()));
        const settle = () => {
          clearTimeout(timer);
          stopListening();
        };
        answer.then(resolve, reject).finally(settle);
      }),
    keepGoing() {
      waiting += 1;
    },
  };
};
