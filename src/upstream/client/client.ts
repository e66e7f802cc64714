import { Agent } from 'undici';
import { sleep } from '../../lib/abort.ts';
import { type Clock, monotonicClock } from '../../lib/clock.ts';
import type { Deadline } from '../../lib/deadline.ts';
import { createMemoryBudget } from '../../lib/memory-budget.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { type AttemptTimer, startAttemptTimer } from './attempt-timer.ts';
import { circuitOpen, createCircuitBreaker, type ServiceState } from './circuit-breaker.ts';
import { clientGone, deadlineExceeded, UpstreamError } from './errors.ts';
import { createConnector } from './interim-responses.ts';
import { createKeyCooldowns } from './key-cooldowns.ts';
import { noopObserver, type UpstreamObserver } from './observer.ts';
import { createRequestLimiter } from './request-limiter.ts';
import { type Outcome, outcomeOf, retryDelay } from './retry.ts';
import { createRetryBudget } from './retry-budget.ts';
import { sendRequest, type UpstreamAnswer, type UpstreamRequest } from './send-request.ts';
import { reserveUsage, type Usage } from './usage.ts';

/** One service over kept-alive connections. Every failure is an UpstreamError. */
export type UpstreamClient = {
  /**
   * The answer, after as many attempts as the table in retry.ts, the retry budget and the deadline allow; each is
   * counted on `usage`. Nothing is sent with a key that the service has told to wait, see key-cooldowns.ts. A read is aborted
   * when the deadline's signal aborts. An update is not once it is sent: that would leave open what became of it.
   */
  request(request: UpstreamRequest, usage: Usage, deadline: Deadline): Promise<UpstreamAnswer>;
  /** Whether the service has failed so often that it is left alone for now. */
  isCircuitOpen(): boolean;
  close(): Promise<void>;
};

export type UpstreamClientOptions = {
  /** The service's base url, without a trailing slash. */
  readonly url: string;
  readonly keyHeader: string;
  /** Milliseconds for one attempt, from its start to its body's last byte. */
  readonly timeoutMs: number;
  /** Requests under way at most, each on a socket of its own. */
  readonly connections: number;
  /** Requests a second at most; null for as many as come. */
  readonly perSecond: number | null;
  /** Default: nobody. */
  readonly observer?: UpstreamObserver | undefined;
  /** Default: the clock of this process. */
  readonly now?: Clock | undefined;
};

/** Of bodies that are being received: as many as fifty pages of the largest size that wallets really have. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** Of large bodies, that wait while another one is received and parsed. */
const MAX_WAITING_BODIES = 8;

export const createUpstreamClient = (options: UpstreamClientOptions): UpstreamClient => {
  const { url, keyHeader, timeoutMs, connections, perSecond } = options;
  const { observer = noopObserver, now = monotonicClock } = options;
  const agent = new Agent({ connections, connect: createConnector(timeoutMs) });
  const bodyLimits = {
    memory: createMemoryBudget(MAX_HELD_BYTES),
    large: new Semaphore(1, MAX_WAITING_BODIES),
  };
  const target = { agent, base: new URL(url), keyHeader, bodyLimits };
  const limiter = createRequestLimiter(connections, perSecond, now);
  const breaker = createCircuitBreaker(observer.circuitChanged, now);
  const budget = createRetryBudget();
  const cooldowns = createKeyCooldowns(now);

  /** Null when it was not sent: its key came to rest while it waited for its turn. */
  const withLimiter = async (
    request: UpstreamRequest,
    deadline: Deadline,
    onSend: () => void,
  ): Promise<UpstreamAnswer | null> => {
    const permit = await breaker.admit(deadline.signal);
    let allowedMs = timeoutMs;
    try {
      const answer = await limiter.run(deadline, async () => {
        if (deadline.signal?.aborted) throw clientGone();
        if (!permit.isValid()) throw circuitOpen();
        if (cooldowns.isCoolingDown(request.credential)) return null;
        const leftMs = deadline.remainingMs();
        if (leftMs === 0) throw deadlineExceeded();
        allowedMs = Math.min(timeoutMs, leftMs);
        onSend();
        const signal = request.method === 'GET' ? deadline.signal : null;
        return await sendRequest(target, request, allowedMs, signal).catch((error: unknown) => {
          // Before the next one's turn begins.
          cooldowns.record(request.credential, error);
          throw error;
        });
      });
      permit.settle(answer === null ? 'unknown' : 'up');
      return answer;
    } catch (error) {
      const outcome = error instanceof UpstreamError ? outcomeOf(error) : null;
      // Silence tells of the service only when it had the whole time to speak.
      permit.settle(outcome === 'noResponse' && allowedMs < timeoutMs ? 'unknown' : verdictOf(outcome));
      throw error;
    }
  };

  const attempt = async (
    request: UpstreamRequest,
    deadline: Deadline,
    timer: AttemptTimer,
  ): Promise<UpstreamAnswer> => {
    await timer.cooldown(cooldowns.wait(request.credential, deadline));
    return (await withLimiter(request, deadline, timer.sending)) ?? attempt(request, deadline, timer);
  };

  const withUsage = async (request: UpstreamRequest, usage: Usage, deadline: Deadline, number: number) => {
    const timer = startAttemptTimer(observer, request, number, now);
    const reservation = reserveUsage(usage, request.cost);
    try {
      const answer = await attempt(request, deadline, timer);
      reservation.settle(answer.computeUnits);
      timer.ended(null, answer.computeUnits);
      return answer;
    } catch (error) {
      timer.ended(error instanceof UpstreamError ? error : null, 0);
      if (error instanceof UpstreamError && outcomeOf(error) === null) reservation.release();
      else reservation.settle(0);
      throw error;
    }
  };

  const withRetries = async (request: UpstreamRequest, usage: Usage, deadline: Deadline) => {
    budget.earn();
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await withUsage(request, usage, deadline, attempts);
      } catch (error) {
        const delayMs = error instanceof UpstreamError ? retryDelay(request.method, error, attempts) : null;
        if (delayMs === null || delayMs >= deadline.remainingMs() || !budget.spend()) throw error;
        await sleep(delayMs, deadline.signal);
        if (deadline.signal?.aborted) throw error;
      }
    }
  };

  return {
    request(request, usage, deadline) {
      // The time in the queue counts: it runs from here on.
      deadline.remainingMs();
      return withRetries(request, usage, deadline);
    },
    isCircuitOpen: breaker.isOpen,
    close: () => agent.destroy(),
  };
};

/** What a failed attempt tells of the service as a whole: any answer below 500 shows that it is there. */
const verdictOf = (outcome: Outcome | null): ServiceState => {
  if (outcome === null || outcome === 'aborted') return 'unknown';
  if (typeof outcome === 'number') return outcome < 500 ? 'up' : 'down';
  return outcome === 'invalidResponse' ? 'up' : 'down';
};
