import { type Deadline, raceWithTimeout } from '../../lib/deadlines.ts';
import {
  clientGone,
  deadlineExceeded,
  MAX_COOLDOWN_MS,
  UpstreamError,
  type UpstreamFailure,
} from '../client/errors.ts';

/** Single-flight (request coalescing): one request under way, whose answer all waiting callers share. */
export type SharedRequest<Answer> = {
  /** Whether the last waiting caller has left. The request is then aborted and must no longer be joined. */
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
  // Callers get the failure from `join`. Without callers, it must not become an unhandled rejection.
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

/**
 * Failures of upstream, for which the cache serves an older page (stale-if-error,
 * https://www.rfc-editor.org/rfc/rfc5861#section-4). Faults of the request or the key, and aborts, are passed on.
 */
const STALE_IF_ERROR: ReadonlySet<UpstreamFailure> = new Set([
  'unavailable',
  'timeout',
  'quota',
  'rateLimited',
  'coolingDown',
  'invalidResponse',
]);

export const allowsStale = (error: unknown): boolean =>
  error instanceof UpstreamError && STALE_IF_ERROR.has(error.failure);

/** After a 429 or 402 without Retry-After, the same page is not requested again for this time. */
const MIN_COOLDOWN_MS = 500;

/** Milliseconds for which the page that failed is not requested again while the cache has an older one; at most a minute. */
export const cooldownMsFor = (error: unknown): number => {
  if (!(error instanceof UpstreamError)) return 0;
  const { failure, retryAfterMs } = error;
  const leastMs = failure === 'rateLimited' || failure === 'quota' ? MIN_COOLDOWN_MS : 0;
  return Math.min(Math.max(retryAfterMs ?? 0, leastMs), MAX_COOLDOWN_MS);
};
