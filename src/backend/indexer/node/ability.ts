const FIRST_PAUSE_MS = 60_000;
const LAST_PAUSE_MS = 3_600_000;

/**
 * Something that not all nodes can do. What failed is tried again after a minute, two minutes, four, and so on up to an hour:
 * a balancer may have asked another node, and nodes are upgraded.
 */
export type Ability = {
  /** Whether it is worth trying now. */
  isTried(): boolean;
  worked(): void;
  /** Begins a pause. Attempts that began before it and fail within it do not make it longer. */
  failed(): void;
};

export const createAbility = (): Ability => {
  let pauseMs = FIRST_PAUSE_MS;
  let pausedUntil = 0;
  const isTried = (): boolean => Date.now() >= pausedUntil;
  return {
    isTried,
    worked() {
      pauseMs = FIRST_PAUSE_MS;
    },
    failed() {
      if (!isTried()) return;
      pausedUntil = Date.now() + pauseMs;
      pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2);
    },
  };
};
