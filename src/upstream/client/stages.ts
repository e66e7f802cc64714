import { type Clock, monotonicClock, raceWithTimeout } from '../../lib/deadlines.ts';
import type { ParseBody } from './body.ts';
import { clientGone, deadlineExceeded, type Outcome, outcomeOf, UpstreamError } from './errors.ts';
import { awaitSharedRate, type KeyCooldowns, type RequestLimiter, type SharedRate } from './limits.ts';
import type { AttemptTimer } from './observer.ts';
import type { Bill, RequestScope, UpstreamAnswer, UpstreamRequest } from './request.ts';

/** One attempt of a request on its way through the stages of a pipeline. */
type Attempt<Body> = {
  readonly request: UpstreamRequest;
  /** Its path and query. */
  readonly target: string;
  readonly parse: ParseBody<Body>;
  readonly scope: RequestScope;
  readonly timer: AttemptTimer;
  readonly bill: Bill;
  /** Called when the attempt leaves the queue. It throws what prevents sending. */
  readonly beforeSend: () => void;
};

type Send = <Body>(attempt: Attempt<Body>) => Promise<UpstreamAnswer<Body>>;

/** Passes an attempt on to `next`. It may wait or reject before that, and count, record or repeat after it. */
export type Stage = <Body>(attempt: Attempt<Body>, next: Send) => Promise<UpstreamAnswer<Body>>;

/** The first stage is the outermost; the last one passes the attempt on to `send`. */
export const createPipeline = (stages: readonly Stage[], send: Send): Send =>
  stages.reduceRight<Send>((next, stage) => (attempt) => stage(attempt, next), send);

/** Adds a check that runs before those of the outer stages. */
const withCheck = <Body>(attempt: Attempt<Body>, check: () => void): Attempt<Body> => ({
  ...attempt,
  beforeSend() {
    check();
    attempt.beforeSend();
  },
});

/** Reports the attempt to the observer, even if it is not sent. */
export const observeAttempt: Stage = async (attempt, next) => {
  const { timer, bill } = attempt;
  try {
    const answer = await next(withCheck(attempt, timer.sending));
    timer.ended({ error: null, status: answer.status, computeUnits: bill.computeUnits });
    return answer;
  } catch (error) {
    const failure = error instanceof UpstreamError ? error : null;
    timer.ended({ error: failure, status: failure?.status ?? null, computeUnits: bill.computeUnits });
    throw error;
  }
};

/** Counts the attempt on the operation's usage, unless it is not sent. */
export const countUsage: Stage = async (attempt, next) => {
  const { scope, request, bill } = attempt;
  const reservation = scope.usage.reserve(request.cost);
  try {
    const answer = await next(attempt);
    reservation.settle(bill.computeUnits);
    return answer;
  } catch (error) {
    if (error instanceof UpstreamError && outcomeOf(error) === null) reservation.release();
    else reservation.settle(bill.computeUnits);
    throw error;
  }
};

/** Waits while the key is cooling down, and once more if its cooldown begins while the attempt is in the queue. */
export const awaitCooldown =
  (cooldowns: KeyCooldowns): Stage =>
  async (attempt, next) => {
    const { credential, deadline } = attempt.scope;
    for (;;) {
      await attempt.timer.duringCooldown(cooldowns.wait(credential, deadline));
      try {
        return await next(withCheck(attempt, () => cooldowns.assertReady(credential)));
      } catch (error) {
        if (!(error instanceof UpstreamError) || error.failure !== 'coolingDown') throw error;
      }
    }
  };

/** Rejects while the circuit breaker of the resource is open, and tells it what the attempt shows of the resource's health. */
export const breakCircuit =
  (breakers: CircuitBreakers): Stage =>
  async (attempt, next) => {
    const permit = await breakers.of(attempt.request.resource).admit(attempt.scope.deadline.signal);
    const assertValid = () => {
      if (!permit.isValid()) throw circuitOpen();
    };
    try {
      const answer = await next(withCheck(attempt, assertValid));
      permit.settle('up');
      return answer;
    } catch (error) {
      permit.settle(healthAfter(error instanceof UpstreamError ? outcomeOf(error) : null));
      throw error;
    }
  };

/** Waits for the request limiter, until the client leaves or the deadline passes, and then for other gateways' requests. */
export const limitRequests =
  (limiter: RequestLimiter, sharedRate: SharedRate | null): Stage =>
  (attempt, next) => {
    const { deadline } = attempt.scope;
    return limiter.run(deadline, async () => {
      if (sharedRate) await awaitSharedRate(sharedRate, deadline);
      if (deadline.signal?.aborted) throw clientGone();
      if (deadline.remainingMs() === 0) throw deadlineExceeded();
      attempt.beforeSend();
      return await next(attempt);
    });
  };

/** Records a 429. It belongs inside the request limiter, so that the next request in the queue finds the cooldown. */
export const recordCooldown =
  (cooldowns: KeyCooldowns): Stage =>
  async (attempt, next) => {
    try {
      return await next(attempt);
    } catch (error) {
      cooldowns.record(attempt.scope.credential, error);
      throw error;
    }
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
 * Any answer below 500 shows that upstream is up. An attempt that was not sent (null), was aborted or discarded by the
 * gateway, or was cut short by a deadline shows nothing.
 */
const healthAfter = (outcome: Outcome | null): UpstreamHealth => {
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
