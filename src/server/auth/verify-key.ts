import { onAbort } from '../../lib/abort.ts';
import { UpstreamError } from '../../upstream/client/errors.ts';

/** Asks the service whether it takes a key. Resolves when it does; the signal aborts when nobody waits for that any more. */
type VerifyKey = (signal: AbortSignal) => Promise<void>;

/** Nothing of a log may be lost to a service that is slow to say whose it is. */
const VERIFY_TIMEOUT_MS = 3000;
/** A minute at most, and not all at once who came together. */
const RECHECK_MS = { least: 45_000, more: 15_000 };

/**
 * Whether a caller who stays may be let in: resolves when the service takes the key, or can't say within a few seconds;
 * rejects with its refusal, UpstreamError `unauthenticated`. Where the service could not say, it is asked again each minute
 * until `clientSignal` aborts. `onRefusal` is called with its refusal, if it refuses the key then.
 */
export const verifyKeyFailOpen = async (
  verifyKey: VerifyKey,
  clientSignal: AbortSignal,
  onRefusal: (refusal: unknown) => void,
): Promise<void> => {
  if ((await isVerified(verifyKey, clientSignal)) || clientSignal.aborted) return;
  const again = () => {
    stopListening();
    verifyKeyFailOpen(verifyKey, clientSignal, onRefusal).catch(onRefusal);
  };
  const timer = setTimeout(again, RECHECK_MS.least + Math.random() * RECHECK_MS.more).unref();
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

/** Whether the service has said that it does not know the key: not that it could not say. */
export const isUnknownKey = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure === 'unauthenticated';

/** A key that may not do what it was asked to prove itself by is a key all the same. */
const isForbidden = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure === 'forbidden';
