import { MAX_COOLDOWN_MS, UpstreamError, type UpstreamFailure } from '../client/errors.ts';

/**
 * Failures of upstream, for which the cache serves an older page (stale-if-error,
 * https://www.rfc-editor.org/rfc/rfc5861#section-4). A fault of the request or the key is passed on, and an abort as well.
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
