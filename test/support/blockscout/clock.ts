import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../src/backend/explorer/client/chain.ts';

type Timer = { readonly at: number; readonly run: () => void };

/** Turns of the event loop in which what is ready to happen happens. */
const TURNS = 5;

/** A clock that stands still until a test, or what waits for it, moves it on. */
export const createStandingClock = (start = Date.UTC(2026, 10, 27, 12)) => {
  let now = start;
  const timers = new Set<Timer>();

  const next = (): Timer | undefined => [...timers].toSorted((one, other) => one.at - other.at)[0];

  const moveTo = (time: number): void => {
    for (let timer = next(); timer !== undefined && timer.at <= time; timer = next()) {
      timers.delete(timer);
      now = Math.max(now, timer.at);
      timer.run();
    }
    now = Math.max(now, time);
  };

  const clock: Clock = {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };

  return {
    ...clock,
    advance: (ms: number): void => moveTo(now + ms),
    /** Resolves as `work` does. Meanwhile, whenever nothing is busy, it goes on to what is to happen next. */
    async until<Result>(work: Promise<Result>, isBusy: () => boolean): Promise<Result> {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      work.then(over, over);
      for (let idle = 0; !isOver; idle = isBusy() ? 0 : idle + 1) {
        if (idle >= TURNS) {
          const timer = next();
          if (timer !== undefined) moveTo(timer.at);
          idle = 0;
        }
        await nextTurn();
      }
      return work;
    },
  };
};
