import type { Clock } from '../lib/clock.ts';
import type { UpstreamClient } from '../upstream/client/client.ts';
import { createRequestLimiter } from '../upstream/client/request-limiter.ts';
import type { Credential } from '../upstream/client/request-scope.ts';
import { createBackgroundScope } from './background-scope.ts';
import { createWebhookClient } from './client.ts';
import type { FetchAddress } from './subscribed-addresses.ts';
import { isRejected } from './unsupported-operation.ts';

/** Longer than a delivery waits, so that a late answer serves the next delivery. */
const TIMEOUT_MS = 5000;

/** The most reads at once, so that deliveries with made-up webhook ids do not hold up operations. */
const CONCURRENCY = 8;

/** Reads a webhook's only address with the gateway's own key, outside of any operation. It costs no compute units. */
export const createAddressLookup = (
  client: UpstreamClient,
  credential: Credential,
  now: Clock,
): FetchAddress => {
  const limiter = createRequestLimiter(CONCURRENCY, null, now);
  return (webhookId) => {
    const scope = createBackgroundScope(credential, TIMEOUT_MS, now);
    return limiter.run(scope.deadline, async () => {
      try {
        return await createWebhookClient({ client, scope }).soleAddress(webhookId);
      } catch (error) {
        // The webhook does not exist, or this deployment does not list addresses.
        if (isRejected(error)) return undefined;
        throw error;
      }
    });
  };
};
