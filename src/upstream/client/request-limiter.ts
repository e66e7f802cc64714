import { raceWithTimeout, sleep } from '../../lib/abort.ts';
import { type Clock, monotonicClock } from '../../lib/clock.ts';
import type { Deadline } from '../../lib/deadline.ts';
import { clientGone, deadlineExceeded, UpstreamError } from './errors.ts';

/** Limits concurrent requests and requests per second, in the order of arrival (FIFO). */
export type RequestLimiter = {
  /**
   * Starts the deadline, waits for a free slot and runs `task`, which keeps the slot until it settles. Rejects with
   * UpstreamError `timeout` when the deadline passes in the queue, or `aborted` when its signal aborts. Rejects at once
   * with `rateLimited` when the rate limit alone shows that the deadline would pass.
   */
  run<Answer>(deadline: Deadline, task: () => Promise<Answer>): Promise<Answer>;
};

/** A rate limit over several gateways. */
export type SharedRate = {
  /**
   * Reserves the next slot, unless it comes later than in `maxWaitMs`. Resolves with the milliseconds until then; null where
   * other gateways can't be asked.
   */
  reserve(maxWaitMs: number): Promise<{ readonly isReserved: boolean; readonly waitMs: number } | null>;
};

/** Waits for a slot of the shared rate. Rejects as `run` of a limiter does. */
export const awaitSharedRate = async (rate: SharedRate, deadline: Deadline): Promise<void> => {
  const slot = await rate.reserve(Math.floor(deadline.remainingMs()));
  if (slot === null) return;
  if (!slot.isReserved) throw rateLimited(slot.waitMs);
  if (slot.waitMs > 0) await sleep(slot.waitMs, deadline.signal);
};

type Waiter = { readonly start: () => void };

/** A null `perSecond` is no rate limit. */
export const createRequestLimiter = (
  concurrency: number,
  perSecond: number | null,
  now: Clock = monotonicClock,
): RequestLimiter => {
  const queue = new Set<Waiter>();
  const gapMs = perSecond === null ? 0 : 1000 / perSecond;
  let running = 0;
  let nextStartAt = 0;
  let timer: NodeJS.Timeout | null = null;

  const isFree = () => running < concurrency && timer === null && now() >= nextStartAt;
  const takeSlot = () => {
    nextStartAt = now() + gapMs;
    running += 1;
  };
  const advance = () => {
    for (const next of queue) {
      if (!isFree()) return scheduleNext();
      queue.delete(next);
      takeSlot();
      next.start();
    }
  };
  const scheduleNext = () => {
    if (timer !== null || running >= concurrency) return;
    timer = setTimeout(
      () => {
        timer = null;
        advance();
      },
      // The clock may have passed it since it was compared.
      Math.max(0, Math.ceil(nextStartAt - now())),
    );
  };

  const waitForSlot = async (deadline: Deadline): Promise<void> => {
    const started = Promise.withResolvers<void>();
    const waiter: Waiter = { start: started.resolve };
    queue.add(waiter);
    advance();
    const end = await raceWithTimeout(started.promise, deadline.remainingMs(), deadline.signal);
    // The slot may have come at the very moment of the timeout. Then `task` runs, and frees it.
    if (end === 'settled' || !queue.delete(waiter)) return;
    throw end === 'timeout' ? deadlineExceeded() : clientGone();
  };

  return {
    async run(deadline, task) {
      deadline.start();
      const paceMs = nextStartAt - now() + queue.size * gapMs;
      // The margin is for the answer: a slot just before the deadline would be wasted.
      if (paceMs > 0 && paceMs + gapMs > deadline.remainingMs()) throw rateLimited(paceMs);
      if (queue.size === 0 && isFree()) takeSlot();
      else await waitForSlot(deadline);
      try {
        return await task();
      } finally {
        running -= 1;
        advance();
      }
    },
  };
};

const rateLimited = (paceMs: number): UpstreamError =>
  new UpstreamError(
    'rateLimited',
    'The queue of the rate limit is longer than the deadline of the operation.',
    {
      retryAfterMs: Math.ceil(paceMs),
    },
  );
