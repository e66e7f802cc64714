import { onAbort } from '../../lib/deadlines.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { UpstreamError } from '../../upstream/client/errors.ts';

/** Asks upstream whether it accepts a key. Resolves when it does. The signal aborts when the answer is no longer needed. */
type VerifyKey = (signal: AbortSignal) => Promise<void>;

/** Times in milliseconds. */
export type KeyVerificationTimes = {
  /** After this time a subscriber is admitted unverified: a slow upstream must not keep it from its deliveries. */
  readonly timeoutMs: number;
  /** An unverified key is verified again after three quarters of this time to all of it. */
  readonly recheckMs: number;
};

export const KEY_VERIFICATION_TIMES: KeyVerificationTimes = { timeoutMs: 3000, recheckMs: 60_000 };

/**
 * Verifies the key of a caller that subscribes, and fails open. Resolves when upstream accepts the key or can't say within
 * three seconds; rejects with UpstreamError `unauthenticated` when upstream rejects it. Where upstream could not say, the
 * key is verified again each minute until `clientSignal` aborts, and `onRejected` is called if upstream rejects it then.
 */
export type VerifyKeyFailOpen = (
  verifyKey: VerifyKey,
  clientSignal: AbortSignal,
  onRejected: (error: unknown) => void,
) => Promise<void>;

export const createVerifyKeyFailOpen = ({
  timeoutMs,
  recheckMs,
} = KEY_VERIFICATION_TIMES): VerifyKeyFailOpen => {
  const verifyFailOpen: VerifyKeyFailOpen = async (verifyKey, clientSignal, onRejected) => {
    if ((await isVerified(verifyKey, clientSignal, timeoutMs)) || clientSignal.aborted) return;
    const recheck = () => {
      stopListening();
      verifyFailOpen(verifyKey, clientSignal, onRejected).catch(onRejected);
    };
    // With jitter, so that subscribers don't all ask at once.
    const timer = setTimeout(recheck, recheckMs * (1 - Math.random() / 4)).unref();
    const stopListening = onAbort(clientSignal, () => clearTimeout(timer));
  };
  return verifyFailOpen;
};

const isVerified = async (
  verifyKey: VerifyKey,
  clientSignal: AbortSignal,
  timeoutMs: number,
): Promise<boolean> => {
  const timedOut = new AbortController();
  const timer = setTimeout(() => timedOut.abort(), timeoutMs);
  const stopListening = onAbort(clientSignal, () => timedOut.abort());
  try {
    await verifyKey(timedOut.signal);
    return true;
  } catch (error) {
    if (isUnknownKey(error)) throw error;
    return isForbidden(error);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
};

/** Whether upstream said that it does not know the key, rather than failing to answer. */
export const isUnknownKey = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure === 'unauthenticated';

/** Whether upstream knows the key but forbids the request that verified it: the key is still valid. */
const isForbidden = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure === 'forbidden';

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
