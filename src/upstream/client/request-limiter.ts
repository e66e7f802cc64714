import { onAbort, type Patience } from '../../lib/deadline.ts';
import { abandoned, overdue, UpstreamError } from './errors.ts';

/** Who may ask the service now: first come, first served, so many at a time and so many a second. */
export type Turns = {
  /**
   * Runs `task` when it is its turn, which lasts as long as the task does. Rejects with UpstreamError `timeout` when the
   * patience ends before, or `rateLimited` when the pace alone shows that it will.
   */
  run<Answer>(patience: Patience, task: () => Promise<Answer>): Promise<Answer>;
};

type Waiting = { readonly start: () => void };

export const createTurns = (
  atATime: number,
  perSecond: number | null,
  now: () => number = () => performance.now(),
): Turns => {
  const queue = new Set<Waiting>();
  const gapMs = perSecond === null ? 0 : 1000 / perSecond;
  let busy = 0;
  let nextStartAt = 0;
  let timer: NodeJS.Timeout | null = null;

  const isFree = () => busy < atATime && timer === null && now() >= nextStartAt;
  const begin = () => {
    nextStartAt = now() + gapMs;
    busy += 1;
  };
  const advance = () => {
    for (const next of queue) {
      if (!isFree()) return wakeUpInTime();
      queue.delete(next);
      begin();
      next.start();
    }
  };
  const wakeUpInTime = () => {
    if (timer !== null || busy >= atATime) return;
    timer = setTimeout(
      () => {
        timer = null;
        advance();
      },
      Math.ceil(nextStartAt - now()),
    );
  };

  const wait = (patience: Patience): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timeout);
        stopListening();
      };
      const waiting: Waiting = {
        start() {
          settle();
          resolve();
        },
      };
      const giveUp = (error: UpstreamError) => {
        settle();
        if (queue.delete(waiting)) reject(error);
      };
      const timeout = setTimeout(() => giveUp(overdue()), patience.remainingMs());
      const stopListening = onAbort(patience.signal, () => giveUp(abandoned()));
      queue.add(waiting);
      advance();
    });

  return {
    async run(patience, task) {
      const paceMs = nextStartAt - now() + queue.size * gapMs;
      // With room for an answer: a turn that comes when nobody waits any more would be wasted.
      if (paceMs > 0 && paceMs + gapMs > patience.remainingMs()) throw tooMany(paceMs);
      if (queue.size === 0 && isFree()) begin();
      else await wait(patience);
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
