import type { Log } from '../../logger.ts';
import { UpstreamError } from '../../upstream/client/errors.ts';
import { isUnknownKey } from './verify-key.ts';

/**
 * Says in the log what the service thinks of the gateway's own key; never rejects. A key that is refused does not end
 * the process: deliveries still arrive, and the key may be mended at the service. `ask` resolves when the key is taken.
 */
export const reportOnKey = async (
  ask: (signal: AbortSignal) => Promise<void>,
  log: Log,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await ask(signal);
    log.debug('UPSTREAM_API_KEY is taken by the service');
  } catch (error) {
    if (signal.aborted) return;
    if (isUnknownKey(error))
      log.error('UPSTREAM_API_KEY is refused by the service', {
        status: error instanceof UpstreamError ? error.status : undefined,
      });
    else if (knowsKey(error))
      log.debug('UPSTREAM_API_KEY is taken by the service, though it may not list webhooks');
    else log.warn('UPSTREAM_API_KEY could not be checked', { error: messageOf(error) });
  }
};

/** A service that refuses the question alone has taken the key. */
const knowsKey = (error: unknown): boolean =>
  error instanceof UpstreamError && (error.failure === 'forbidden' || error.failure === 'rejected');

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
