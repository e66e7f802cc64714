import { type Clock, monotonicClock, raceWithTimeout } from '../../lib/deadlines.ts';
import type { ParseBody } from './body.ts';
import { clientGone, deadlineExceeded, outcomeOf, UpstreamError } from './errors.ts';
import { awaitSharedRate, type KeyCooldowns, type RequestLimiter, type SharedRate } from './limits.ts';
import type { AttemptTimer } from './observer.ts';
import type { Bill, RequestScope, UpstreamAnswer, UpstreamRequest } from './request.ts';

/** One attempt of a request. */
export type Attempt<Body> = {
  readonly request: UpstreamRequest;
  /** Its path and query. */
  readonly target: string;
  readonly parse: ParseBody<Body>;
  readonly scope: RequestScope;
  readonly timer: AttemptTimer;
  readonly bill: Bill;
};

type Send = <Body>(attempt: Attempt<Body>) => Promise<UpstreamAnswer<Body>>;

/** What an attempt waits for before it is sent. */
type Gates = {
  readonly cooldowns: KeyCooldowns;
  readonly breakers: CircuitBreakers;
  readonly limiter: RequestLimiter;
  /** Null where no other gateway sends with the same key. */
  readonly sharedRate: SharedRate | null;
};

/** Counts each attempt on the usage of its operation, reports it, and sends it by `send` once all gates are open. */
export const createSendAttempt = ({ cooldowns, breakers, limiter, sharedRate }: Gates, send: Send): Send => {
  /** In a slot of the limiter. A 429 is recorded there, so that the next request in the queue finds the cooldown. */
  const sendNow = async <Body>(attempt: Attempt<Body>, permit: Permit): Promise<UpstreamAnswer<Body>> => {
    const { credential, deadline } = attempt.scope;
    if (sharedRate) await awaitSharedRate(sharedRate, deadline);
    if (deadline.signal?.aborted) throw clientGone();
    if (deadline.remainingMs() === 0) throw deadlineExceeded();
    if (!permit.isValid()) throw circuitOpen();
    cooldowns.assertReady(credential);
    attempt.timer.sending();
    try {
      return await send(attempt);
    } catch (error) {
      cooldowns.record(credential, error);
      throw error;
    }
  };

  /** Waits while the key is cooling down, and once more if its cooldown begins while the attempt is in the queue. */
  const sendWhenReady = async <Body>(attempt: Attempt<Body>): Promise<UpstreamAnswer<Body>> => {
    const { credential, deadline } = attempt.scope;
    for (;;) {
      const cooldown = cooldowns.wait(credential, deadline);
      if (cooldown) await attempt.timer.duringCooldown(cooldown);
      const breaker = breakers.of(attempt.request.resource);
      const permit = breaker.admitAtOnce() ?? (await breaker.admit(deadline.signal));
      try {
        const answer = await limiter.run(deadline, () => sendNow(attempt, permit));
        permit.settle('up');
        return answer;
      } catch (error) {
        permit.settle(error instanceof UpstreamError ? healthAfter(error) : 'unknown');
        if (!(error instanceof UpstreamError) || error.failure !== 'coolingDown') throw error;
      }
    }
  };

  return async (attempt) => {
    const { scope, request, timer, bill } = attempt;
    const reservation = scope.usage.reserve(request.cost);
    try {
      const answer = await sendWhenReady(attempt);
      timer.ended({ error: null, status: answer.status, computeUnits: bill.computeUnits });
      reservation.settle(bill.computeUnits);
      return answer;
    } catch (error) {
      const failure = error instanceof UpstreamError ? error : null;
      timer.ended({ error: failure, status: failure?.status ?? null, computeUnits: bill.computeUnits });
      // An attempt that was not sent is not counted.
      if (failure && outcomeOf(failure) === null) reservation.release();
      else reservation.settle(bill.computeUnits);
      throw error;
    }
  };
};

/** What an attempt shows about the resource. */
type UpstreamHealth = 'up' | 'down' | 'unknown';

/** Permission for one attempt. Its owner settles it exactly once. */
type Permit = {
  /** False when the circuit has opened since the permit was granted. A probe's permit stays valid. */
  isValid(): boolean;
  settle(health: UpstreamHealth): void;
};

/** A circuit breaker: keeps requests away from a resource that is down, so that they fail at once instead of waiting. */
type CircuitBreaker = {
  /** Grants a permit for one attempt while the circuit is closed; null while it is open. */
  admitAtOnce(): Permit | null;
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
    admitAtOnce: () => (isOpen() ? null : permit(null)),
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
type CircuitBreakers = {
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
 * Any answer below 500 shows that upstream is up, as does one that is about a chain. An attempt that was not sent (null), was aborted or discarded by the
 * gateway, or was cut short by a deadline shows nothing.
 */
const healthAfter = (error: UpstreamError): UpstreamHealth => {
  const outcome = outcomeOf(error);
  if (error.ofChain) return 'up';
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

const circuitOpen = (): UpstreamError =>
  new UpstreamError(
    'unavailable',
    'Upstream has failed too often in a row. The gateway sends it no requests for a moment.',
  );
