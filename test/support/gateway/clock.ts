import { monotonicClock } from '../../../src/lib/clock.ts';

/** A clock for `startGateway`: it runs as the process's own, and a test puts it forward. */
export const createTestClock = () => {
  let aheadMs = 0;
  return {
    now: () => monotonicClock() + aheadMs,
    advance(ms: number): void {
      aheadMs += ms;
    },
  };
};
