import { onAbort } from '../../lib/abort.ts';
import { UpstreamError } from '../../upstream/client/errors.ts';

/** Asks upstream whether it accepts a key. Resolves when it does. The signal aborts when the answer is no longer needed. */
type VerifyKey = (signal: AbortSignal) => Promise<void>;

/** Times in milliseconds. */
export type KeyVerificationTimes = {
  /** After this time a subscriber is admitted unverified: a slow upstream must not keep it from its deliveries. */
  readonly timeoutMs: number;
  /** At most this time later, and at least three quarters of it, an unverified key is verified again. */
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

/** Whether upstream said that it does not know the key, rather than failed to say. */
export const isUnknownKey = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure === 'unauthenticated';

/** Whether upstream knows the key but forbids the request that verified it: the key is valid all the same. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure === 'forbidden';
