import type { ParseBody } from './body.ts';
import { type CircuitBreakers, circuitOpen, healthAfter } from './circuit-breaker.ts';
import { clientGone, deadlineExceeded, outcomeOf, UpstreamError } from './errors.ts';
import type { KeyCooldowns } from './limits.ts';
import { awaitSharedRate, type RequestLimiter, type SharedRate } from './limits.ts';
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
