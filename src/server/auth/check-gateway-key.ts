import { messageOf } from '../../lib/error-text.ts';
import type { Log } from '../../logger.ts';
import { UpstreamError } from '../../upstream/client/errors.ts';
import { isForbidden, isUnknownKey } from './verify-key.ts';

/**
 * Logs whether upstream accepts the gateway's own key; never rejects. A rejected key does not end the process: deliveries
 * still arrive, and upstream may accept the key later. `verify` resolves when upstream accepts the key.
 */
export const reportOnKey = async (
  verify: (signal: AbortSignal) => Promise<void>,
  log: Log,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await verify(signal);
    log.debug('UPSTREAM_API_KEY is accepted by upstream');
  } catch (error) {
    if (signal.aborted) return;
    if (isUnknownKey(error))
      log.error('UPSTREAM_API_KEY is rejected by upstream', {
        status: error instanceof UpstreamError ? error.status : undefined,
      });
    else if (isForbidden(error))
      log.debug('UPSTREAM_API_KEY is accepted by upstream, but may not list webhooks');
    else log.warn('UPSTREAM_API_KEY could not be verified', { error: messageOf(error) });
  }
};
