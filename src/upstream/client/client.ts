import { Agent } from 'undici';
import { type Patience, pause } from '../../lib/deadline.ts';
import { MemoryBudget } from '../../lib/memory-budget.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { type Watched, watchAttempt } from './attempt-timer.ts';
import { createBreaker, takenForDown, type Verdict } from './circuit-breaker.ts';
import { abandoned, overdue, UpstreamError } from './errors.ts';
import { createConnector } from './interim-responses.ts';
import { createRests } from './key-cooldowns.ts';
import { nobody, type UpstreamObserver } from './observer.ts';
import { createTurns } from './request-limiter.ts';
import { type Outcome, outcomeOf, retryDelay } from './retry.ts';
import { createRetryBudget } from './retry-budget.ts';
import { exchange, type UpstreamAnswer, type UpstreamRequest } from './send-request.ts';
import { type Meter, openBill } from './usage.ts';

/** One service over kept-alive connections. Every failure is an UpstreamError. */
export type UpstreamClient = {
  /**
   * The answer, after as many attempts as the table in retry.ts, the retry budget and the patience allow; each is
   * counted on `meter`. Nothing is sent with a key that the service has told to wait, see key-cooldowns.ts. A read is aborted
   * when the patience's signal aborts. An update is not once it is sent: that would leave open what became of it.
   */
  request(request: UpstreamRequest, meter: Meter, patience: Patience): Promise<UpstreamAnswer>;
  /** Whether the service has failed so often that it is left alone for now. */
  isTakenForDown(): boolean;
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
};

/** Of bodies that are being received: as many as fifty pages of the largest size that wallets really have. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** Of large bodies, that wait while another one is received and parsed. */
const MAX_WAITING_BODIES = 8;

export const createUpstreamClient = (options: UpstreamClientOptions): UpstreamClient => {
  const { url, keyHeader, timeoutMs, connections, perSecond, observer = nobody } = options;
  const agent = new Agent({ connections, connect: createConnector(timeoutMs) });
  const room = { memory: new MemoryBudget(MAX_HELD_BYTES), large: new Semaphore(1, MAX_WAITING_BODIES) };
  const target = { agent, base: new URL(url), keyHeader, room };
  const turns = createTurns(connections, perSecond);
  const breaker = createBreaker(observer.turned);
  const budget = createRetryBudget();
  const rests = createRests();

  /** Null when it was not sent: its key came to rest while it waited for its turn. */
  const inTurn = async (
    request: UpstreamRequest,
    patience: Patience,
    onSend: () => void,
  ): Promise<UpstreamAnswer | null> => {
    const pass = await breaker.admit(patience.signal);
    let allowedMs = timeoutMs;
    try {
      const answer = await turns.run(patience, async () => {
        if (patience.signal?.aborted) throw abandoned();
        if (!pass.isValid()) throw takenForDown();
        if (rests.isResting(request.credential)) return null;
        const leftMs = patience.remainingMs();
        if (leftMs === 0) throw overdue();
        allowedMs = Math.min(timeoutMs, leftMs);
        onSend();
        const signal = request.method === 'GET' ? patience.signal : null;
        return await exchange(target, request, allowedMs, signal).catch((error: unknown) => {
          // Before the next one's turn begins.
          rests.learn(request.credential, error);
          throw error;
        });
      });
      pass.settle(answer === null ? 'unknown' : 'up');
      return answer;
    } catch (error) {
      const outcome = error instanceof UpstreamError ? outcomeOf(error) : null;
      // Silence tells of the service only when it had the whole time to speak.
      pass.settle(outcome === 'silent' && allowedMs < timeoutMs ? 'unknown' : verdictOf(outcome));
      throw error;
    }
  };

  const attempt = async (
    request: UpstreamRequest,
    patience: Patience,
    watched: Watched,
  ): Promise<UpstreamAnswer> => {
    await watched.rest(rests.over(request.credential, patience));
    return (await inTurn(request, patience, watched.sending)) ?? attempt(request, patience, watched);
  };

  const billed = async (request: UpstreamRequest, meter: Meter, patience: Patience, number: number) => {
    const watched = watchAttempt(observer, request, number);
    const bill = openBill(meter, request.cost);
    try {
      const answer = await attempt(request, patience, watched);
      bill.settle(answer.computeUnits);
      watched.ended(null, answer.computeUnits);
      return answer;
    } catch (error) {
      watched.ended(error instanceof UpstreamError ? error : null, 0);
      if (error instanceof UpstreamError && outcomeOf(error) === null) bill.cancel();
      else bill.settle(0);
      throw error;
    }
  };

  const persist = async (request: UpstreamRequest, meter: Meter, patience: Patience) => {
    budget.earn();
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await billed(request, meter, patience, attempts);
      } catch (error) {
        const delayMs = error instanceof UpstreamError ? retryDelay(request.method, error, attempts) : null;
        if (delayMs === null || delayMs >= patience.remainingMs() || !budget.spend()) throw error;
        await pause(delayMs, patience.signal);
        if (patience.signal?.aborted) throw error;
      }
    }
  };

  return {
    request(request, meter, patience) {
      // The time in the queue counts: it runs from here on.
      patience.remainingMs();
      return persist(request, meter, patience);
    },
    isTakenForDown: breaker.isOpen,
    close: () => agent.destroy(),
  };
};

/** What a failed attempt tells of the service as a whole: any answer below 500 shows that it is there. */
const verdictOf = (outcome: Outcome | null): Verdict => {
  if (outcome === null || outcome === 'aborted') return 'unknown';
  if (typeof outcome === 'number') return outcome < 500 ? 'up' : 'down';
  return outcome === 'invalidResponse' ? 'up' : 'down';
};
