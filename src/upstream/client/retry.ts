import type { Deadline } from '../../lib/deadlines.ts';
import { sleep } from '../../lib/deadlines.ts';
import { type Outcome, outcomeOf, UpstreamError } from './errors.ts';
import type { UpstreamMethod, UpstreamRequest } from './request.ts';

type Rule = {
  readonly outcome: Outcome;
  /** The methods that are retried after it. */
  readonly methods: readonly UpstreamMethod[];
  readonly why: string;
};

const ALL: readonly UpstreamMethod[] = ['GET', 'PATCH', 'POST', 'PUT', 'DELETE'];

/** Idempotent at upstream: an update states the new value, so that sending it twice changes nothing more. POST creates. */
const IDEMPOTENT: readonly UpstreamMethod[] = ['GET', 'PATCH', 'PUT', 'DELETE'];

const NONE: readonly UpstreamMethod[] = [];

/** Which methods are retried after which outcome, and why. Any other outcome is not retried. */
export const RETRY_RULES: readonly Rule[] = [
  { outcome: 'connectFailed', methods: ALL, why: 'Upstream has not seen the request.' },
  { outcome: 'reset', methods: IDEMPOTENT, why: 'Upstream may or may not have processed the request.' },
  {
    outcome: 'discarded',
    methods: IDEMPOTENT,
    why: 'The gateway may have memory for the answer in a moment.',
  },
  { outcome: 429, methods: IDEMPOTENT, why: 'Upstream asks the client to wait, and the client does.' },
  { outcome: 502, methods: IDEMPOTENT, why: 'A proxy before upstream failed for a moment.' },
  { outcome: 503, methods: IDEMPOTENT, why: 'The status itself says that the failure is temporary.' },
  { outcome: 504, methods: IDEMPOTENT, why: 'A proxy before upstream failed for a moment.' },
  { outcome: 402, methods: NONE, why: 'A retry does not restore a quota.' },
  { outcome: 500, methods: NONE, why: 'The same request is likely to cause the same error again.' },
  {
    outcome: 'noResponse',
    methods: NONE,
    why: 'A slow upstream would work on both requests, and get slower.',
  },
  { outcome: 'invalidResponse', methods: NONE, why: 'Upstream has answered, and billed the request.' },
];

const MAX_ATTEMPTS = 3;
const FIRST_BACKOFF_MS = 100;
/** A longer wait is left to the client: its error has `retryAfterMs`. */
export const MAX_WAIT_MS = 2000;

/**
 * Milliseconds until the next attempt; null for no further attempt. The backoff is exponential and has jitter, so that
 * requests which failed together are not retried together. It is never shorter than upstream's Retry-After.
 */
const retryDelay = (
  method: UpstreamMethod,
  error: UpstreamError,
  attempts: number,
  random: () => number = Math.random,
): number | null => {
  const outcome = outcomeOf(error);
  const rule = RETRY_RULES.find((candidate) => candidate.outcome === outcome);
  if (!rule?.methods.includes(method) || attempts >= MAX_ATTEMPTS) return null;
  const ceiling = FIRST_BACKOFF_MS * 2 ** (attempts - 1);
  const delay = Math.max(ceiling * (0.5 + random() / 2), error.retryAfterMs ?? 0);
  return delay > MAX_WAIT_MS ? null : delay;
};

const INITIAL_RETRIES = 5;
const MAX_RETRIES = 20;
/** In the long run retries are at most a tenth of the requests, however many of them fail. */
const EARNED_PER_REQUEST = 0.1;

/** Limits the load that retries add: each retry costs one, and only requests earn them. */
const createRetryBudget = () => {
  let left = INITIAL_RETRIES;
  return {
    /** Called once for each request. */
    earn() {
      left = Math.min(MAX_RETRIES, left + EARNED_PER_REQUEST);
    },
    /** Takes one retry from the budget; false if none is left. */
    spend(): boolean {
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
};

/**
 * Runs `attempt`, and repeats it as often as the rules, the retry budget, the deadline and `mayRetry` allow. `number` starts
 * at 1.
 */
type Retry = <Answer>(
  request: UpstreamRequest,
  deadline: Deadline,
  attempt: (number: number) => Promise<Answer>,
  mayRetry: () => boolean,
) => Promise<Answer>;

/** All requests that are made through it share one retry budget. */
export const createRetry = (): Retry => {
  const budget = createRetryBudget();
  return async ({ method }, deadline, attempt, mayRetry) => {
    budget.earn();
    for (let number = 1; ; number += 1) {
      try {
        return await attempt(number);
      } catch (error) {
        const delayMs = error instanceof UpstreamError ? retryDelay(method, error, number) : null;
        if (delayMs === null || delayMs >= deadline.remainingMs() || !mayRetry() || !budget.spend())
          throw error;
        await sleep(delayMs, deadline.signal);
        // The operation may have spent more meanwhile.
        if (deadline.signal?.aborted || !mayRetry()) throw error;
      }
    }
  };
};
