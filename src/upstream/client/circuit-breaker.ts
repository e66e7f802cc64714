import { type Clock, monotonicClock, raceWithTimeout } from '../../lib/deadlines.ts';
import { type Outcome, UpstreamError } from './errors.ts';

/** What an attempt shows about the resource. */
export type UpstreamHealth = 'up' | 'down' | 'unknown';

/** Permission for one attempt. Its owner settles it exactly once. */
type Permit = {
  /** False when the circuit has opened since the permit was granted. A probe's permit stays valid. */
  isValid(): boolean;
  settle(health: UpstreamHealth): void;
};

/** A circuit breaker: keeps requests away from a resource that is down, so that they fail at once instead of waiting. */
type CircuitBreaker = {
  /**
   * Grants a permit for one attempt. While the circuit is open, one attempt every half second is let through as a probe;
   * others wait for its result, half a second at most. Rejects with UpstreamError `unavailable` when it stays open.
   */
  admit(signal: AbortSignal | null): Promise<Permit>;
  isOpen(): boolean;
};

/** Consecutive failures that open the circuit. */
const FAILURES = 10;
/** The gateway must serve again within a second once upstream is back. This is half of that. */
const PROBE_EVERY_MS = 500;

type Probe = { readonly startedAt: number; readonly ended: PromiseWithResolvers<void> };

/** `onStateChange` is called when the circuit opens (`down`) and when it closes (`up`). */
const createCircuitBreaker = (onStateChange: (state: 'down' | 'up') => void, now: Clock): CircuitBreaker => {
  let failures = 0;
  let probe: Probe | null = null;
  const isOpen = () => failures >= FAILURES;

  const permit = (own: Probe | null): Permit => ({
    isValid: () => own !== null || !isOpen(),
    settle(health) {
      const wasOpen = isOpen();
      if (health === 'up') failures = 0;
      if (health === 'down') failures += 1;
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
      await raceWithTimeout(probe.ended.promise, PROBE_EVERY_MS, signal);
      if (isOpen()) throw circuitOpen();
      return permit(null);
    },
  };
};

/**
 * The circuit breakers of upstream's resources. Each resource has its own, so one that is down neither hides behind the
 * answers of another nor blocks its requests. If the service refuses every connection, each of them opens on its own.
 */
export type CircuitBreakers = {
  of(resource: string): CircuitBreaker;
  /** The resources whose circuit is open. */
  open(): readonly string[];
};

export const createCircuitBreakers = (
  onStateChange?: (state: 'down' | 'up', resource: string) => void,
  now: Clock = monotonicClock,
): CircuitBreakers => {
  const breakers = new Map<string, CircuitBreaker>();
  return {
    of(resource) {
      const known = breakers.get(resource);
      if (known !== undefined) return known;
      const breaker = createCircuitBreaker((state) => onStateChange?.(state, resource), now);
      breakers.set(resource, breaker);
      return breaker;
    },
    open: () => [...breakers].filter(([, breaker]) => breaker.isOpen()).map(([resource]) => resource),
  };
};

/**
 * Any answer below 500 shows that upstream is up. An attempt that was not sent (null), was aborted or discarded by the
 * gateway, or was cut short by a deadline shows nothing.
 */
export const healthAfter = (outcome: Outcome | null): UpstreamHealth => {
  if (typeof outcome === 'number') return outcome < 500 ? 'up' : 'down';
  switch (outcome) {
    case 'invalidResponse':
      return 'up';
    case 'connectFailed':
    case 'reset':
    case 'noResponse':
      return 'down';
    default:
      return 'unknown';
  }
};

export const circuitOpen = (): UpstreamError =>
  new UpstreamError(
    'unavailable',
    'Upstream has failed too often in a row. The gateway sends it no requests for a moment.',
  );
