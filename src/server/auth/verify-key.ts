import { onAbort } from '../../lib/abort.ts';
import { UpstreamError } from '../../upstream/client/errors.ts';

/** Asks upstream whether it accepts a key. Resolves when it does. The signal aborts when the answer is no longer needed. */
type VerifyKey = (signal: AbortSignal) => Promise<void>;

/** After this time a subscriber is admitted unverified: a slow upstream must not keep it from its deliveries. */
const VERIFY_TIMEOUT_MS = 3000;
/** The time until an unverified key is verified again: at most a minute, with jitter so that subscribers don't all ask at once. */
const RECHECK_MS = { least: 45_000, more: 15_000 };

/**
 * Verifies the key of a caller that subscribes, and fails open. Resolves when upstream accepts the key or can't say within
 * three seconds; rejects with UpstreamError `unauthenticated` when upstream rejects it. Where upstream could not say, the
 * key is verified again each minute until `clientSignal` aborts, and `onRejected` is called if upstream rejects it then.
 */
export const verifyKeyFailOpen = async (
  verifyKey: VerifyKey,
  clientSignal: AbortSignal,
  onRejected: (error: unknown) => void,
): Promise<void> => {
  if ((await isVerified(verifyKey, clientSignal)) || clientSignal.aborted) return;
  const recheck = () => {
    stopListening();
    verifyKeyFailOpen(verifyKey, clientSignal, onRejected).catch(onRejected);
  };
  const timer = setTimeout(recheck, RECHECK_MS.least + Math.random() * RECHECK_MS.more).unref();
  const stopListening = onAbort(clientSignal, () => clearTimeout(timer));
};

const isVerified = async (verifyKey: VerifyKey, clientSignal: AbortSignal): Promise<boolean> => {
  const timedOut = new AbortController();
  const timer = setTimeout(() => timedOut.abort(), VERIFY_TIMEOUT_MS);
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

/** Whether upstream said that it does not know the key, rather than failed to say. */
export const isUnknownKey = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure === 'unauthenticated';

/** Whether upstream knows the key but forbids the request that verified it: the key is valid all the same. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure === 'forbidden';
