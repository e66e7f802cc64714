import { CombinedGraphQLErrors } from '@apollo/client';
import { ErrorLink } from '@apollo/client/link/error';
import { switchMap, timer } from 'rxjs';

/** Longer waits are shown instead. */
const MAX_WAIT_MS = 5000;

/** Sends an operation once more after the gateway's `retryAfterMs`: RATE_LIMITED and COMPUTE_BUDGET_EXCEEDED have one. */
export const retryOnce = new ErrorLink(({ error, operation, forward }) => {
  const { isRetry } = operation.getContext();
  if (!CombinedGraphQLErrors.is(error) || isRetry) return;
  const { retryAfterMs: wait } = error.errors[0]?.extensions ?? {};
  if (typeof wait !== 'number' || wait > MAX_WAIT_MS) return;
  operation.setContext({ isRetry: true });
  return timer(wait).pipe(switchMap(() => forward(operation)));
});
