import { raceWithTimeout } from '../../lib/abort.ts';
import type { Deadline } from '../../lib/deadline.ts';
import { clientGone, deadlineExceeded } from '../client/errors.ts';

/** Single-flight (request coalescing): one request under way, whose answer all waiting callers share. */
export type SharedRequest<Answer> = {
  /** Whether the last waiting caller has left. The request is aborted then, and must not be joined any more. */
  readonly isAbandoned: boolean;
  /**
   * Starts the caller's deadline and waits for the answer. Rejects with the request's failure, with UpstreamError `timeout`
   * when the deadline passes first, or with `aborted` when its signal aborts.
   */
  join(deadline: Deadline): Promise<Answer>;
  /** Lets the request run to its end, even if no caller waits for it. */
  detach(): void;
};

/** The signal of `start` aborts when the last waiting caller has left. */
export const startShared = <Answer>(
  start: (signal: AbortSignal) => Promise<Answer>,
): SharedRequest<Answer> => {
  const controller = new AbortController();
  const answer = start(controller.signal);
  // Callers get the failure by `join`. Without any caller it must not be an unhandled rejection.
  answer.catch(() => {});
  let waiting = 0;

  return {
    get isAbandoned() {
      return controller.signal.aborted;
    },
    async join(deadline) {
      waiting += 1;
      deadline.start();
      const end = await raceWithTimeout(answer, deadline.remainingMs(), deadline.signal);
      if (end === 'settled') return answer;
      waiting -= 1;
      if (waiting === 0) controller.abort();
      throw end === 'timeout' ? deadlineExceeded() : clientGone();
    },
    detach() {
      waiting += 1;
    },
  };
};
