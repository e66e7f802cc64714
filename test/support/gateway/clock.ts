const TICK_MS = 0.001;

/** A clock for `startGateway`. A test puts it forward; by itself it goes on by a microsecond each time it is read. */
export const createTestClock = () => {
  let nowMs = 1_000_000;
  return {
    now(): number {
      nowMs += TICK_MS;
      return nowMs;
    },
    advance(ms: number): void {
      nowMs += ms;
    },
  };
};
