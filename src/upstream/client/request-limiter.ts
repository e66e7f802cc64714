import { onAbort } from '../../lib/abort.ts';
import type { Deadline } from '../../lib/deadline.ts';
import { clientGone, deadlineExceeded, UpstreamError } from './errors.ts';

/** Who may ask the service now: first come, first served, so many at a time and so many a second. */
export type RequestLimiter = {
  /**
   * Runs `task` when it is its turn, which lasts as long as the task does. Rejects with UpstreamError `timeout` when the
   * deadline passes before, or `rateLimited` when the pace alone shows that it will.
   */
  run<Answer>(deadline: Deadline, task: () => Promise<Answer>): Promise<Answer>;
};

type Waiter = { readonly start: () => void };

export const createRequestLimiter = (
  concurrency: number,
  perSecond: number | null,
  now: () => number = () => performance.now(),
): RequestLimiter => {
  const queue = new Set<Waiter>();
  const gapMs = perSecond === null ? 0 : 1000 / perSecond;
  let busy = 0;
  let nextStartAt = 0;
  let timer: NodeJS.Timeout | null = null;

  const isFree = () => busy < concurrency && timer === null && now() >= nextStartAt;
  const begin = () => {
    nextStartAt = now() + gapMs;
    busy += 1;
  };
  const advance = () => {
    for (const next of queue) {
      if (!isFree()) return scheduleNext();
      queue.delete(next);
      begin();
      next.start();
    }
  };
  const scheduleNext = () => {
    if (timer !== null || busy >= concurrency) return;
    timer = setTimeout(
      () => {
        timer = null;
        advance();
      },
      Math.ceil(nextStartAt - now()),
    );
  };

  const wait = (deadline: Deadline): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timeout);
        stopListening();
      };
      const waiter: Waiter = {
        start() {
          settle();
          resolve();
        },
      };
      const abandon = (error: UpstreamError) => {
        settle();
        if (queue.delete(waiter)) reject(error);
      };
      const timeout = setTimeout(() => abandon(deadlineExceeded()), deadline.remainingMs());
      const stopListening = onAbort(deadline.signal, () => abandon(clientGone()));
      queue.add(waiter);
      advance();
    });

  return {
    async run(deadline, task) {
      const paceMs = nextStartAt - now() + queue.size * gapMs;
      // With room for an answer: a turn that comes when nobody waits any more would be wasted.
      if (paceMs > 0 && paceMs + gapMs > deadline.remainingMs()) throw tooMany(paceMs);
      if (queue.size === 0 && isFree()) begin();
      else await wait(deadline);
      try {
        return await task();
      } finally {
        busy -= 1;
        advance();
      }
    },
  };
};

const tooMany = (paceMs: number): UpstreamError =>
  new UpstreamError('rateLimited', 'More requests wait than may be made in the time that an operation has.', {
    retryAfterMs: Math.ceil(paceMs),
  });
