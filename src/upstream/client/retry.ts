import type { ConnectionFailure, UpstreamError } from './errors.ts';

export type UpstreamMethod = 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';

/** What became of an attempt that failed: the status of its answer, or how there was none, or none that reads. */
export type Outcome = number | ConnectionFailure | 'invalidResponse';

type Rule = {
  readonly outcome: Outcome;
  /** Those that are tried again. */
  readonly methods: readonly UpstreamMethod[];
  readonly why: string;
};

const ALL: readonly UpstreamMethod[] = ['GET', 'PATCH', 'POST', 'PUT', 'DELETE'];

/** The service's updates say what shall be, not what to add to it: twice is as good as once. A creation is not. */
const REPEATABLE: readonly UpstreamMethod[] = ['GET', 'PATCH', 'PUT', 'DELETE'];

const NONE: readonly UpstreamMethod[] = [];

/** Which method is tried again after which outcome, and why. What is not listed is not tried again. */
export const RETRY_RULES: readonly Rule[] = [
  { outcome: 'connectFailed', methods: ALL, why: 'The service never saw the request.' },
  { outcome: 'reset', methods: REPEATABLE, why: 'It may have been carried out, or not.' },
  { outcome: 429, methods: REPEATABLE, why: 'The service asks the client to wait, and the client does.' },
  { outcome: 502, methods: REPEATABLE, why: 'Something between here and the service hiccuped.' },
  { outcome: 503, methods: REPEATABLE, why: 'It says itself that this will pass.' },
  { outcome: 504, methods: REPEATABLE, why: 'Something between here and the service hiccuped.' },
  { outcome: 402, methods: NONE, why: 'A quota does not come back by asking again.' },
  { outcome: 500, methods: NONE, why: 'What a request broke once, the same request breaks again.' },
  { outcome: 'noResponse', methods: NONE, why: 'A slow service would work on both, and be slower.' },
  { outcome: 'invalidResponse', methods: NONE, why: 'It was answered, and billed.' },
];

const MAX_ATTEMPTS = 3;
const FIRST_BACKOFF_MS = 100;
/** A longer wait is left to the client, who gets to know it as `retryAfterMs`. */
export const MAX_WAIT_MS = 2000;

/** Null when the request never left. */
export const outcomeOf = ({ status, connection, failure }: UpstreamError): Outcome | null =>
  status ?? connection ?? (failure === 'invalidResponse' ? failure : null);

/**
 * Milliseconds to wait before the attempt that follows the failed one; null when there shall be none. Jittered, so that
 * those who failed together do not come back together; never sooner than the service's own Retry-After.
 */
export const retryDelay = (
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
