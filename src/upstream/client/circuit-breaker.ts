import { onAbort } from '../../lib/abort.ts';
import { UpstreamError } from './errors.ts';

/** What an attempt tells of the service. */
export type ServiceState = 'up' | 'down' | 'unknown';

/** Leave to make one attempt. Whoever gets one says how it ended, exactly once. */
type Permit = {
  /** False when the service has come to be taken for down since. */
  isValid(): boolean;
  settle(verdict: ServiceState): void;
};

/** Spares a service that is down, and those who would wait for it. */
export type CircuitBreaker = {
  /**
   * Leave to make an attempt. When the service is taken for down, one attempt goes through every so often, and those
   * who come meanwhile wait for it, not for long. Rejects with UpstreamError `unavailable`.
   */
  admit(signal: AbortSignal | null): Promise<Permit>;
  /** Whether the service is taken for down. */
  isOpen(): boolean;
};

/** Failures in a row after which a service is taken for down. */
const FAILURES = 10;
/** Half of the second within which the gateway must be back. */
const PROBE_EVERY_MS = 500;

type Probe = { readonly startedAt: number; readonly ended: PromiseWithResolvers<void> };

/** `onStateChange` is told when the service comes to be taken for down, and when it no longer is. */
export const createCircuitBreaker = (
  onStateChange: (state: 'down' | 'up') => void = () => {},
  now: () => number = () => performance.now(),
): CircuitBreaker => {
  let failures = 0;
  let probe: Probe | null = null;
  const isOpen = () => failures >= FAILURES;

  const permit = (own: Probe | null): Permit => ({
    isValid: () => own !== null || !isOpen(),
    settle(verdict) {
      const wasOpen = isOpen();
      if (verdict === 'up') failures = 0;
      if (verdict === 'down') failures += 1;
      own?.ended.resolve();
      if (!isOpen()) probe = null;
      if (isOpen() !== wasOpen) onStateChange(wasOpen ? 'up' : 'down');
    },
  });

  return {
    isOpen,
    async admit(signal) {
      if (!isOpen()) return permit(null);
      if (probe === null || now() - probe.startedAt >= PROBE_EVERY_MS) {
        probe = { startedAt: now(), ended: Promise.withResolvers() };
        return permit(probe);
      }
      await firstOf(probe.ended.promise, PROBE_EVERY_MS, signal);
      if (isOpen()) throw circuitOpen();
      return permit(null);
    },
  };
};

const firstOf = (ended: Promise<void>, ms: number, signal: AbortSignal | null): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stopListening();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const stopListening = onAbort(signal, done);
    ended.then(done);
  });

export const circuitOpen = (): UpstreamError =>
  new UpstreamError(
    'unavailable',
    'The service has failed too often in a row, and is left alone for a moment.',
  );
