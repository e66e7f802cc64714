const FIRST_PAUSE_MS = 60_000;
const LAST_PAUSE_MS = 3_600_000;

/**
 * Something that may not work now, such as a method that not all nodes have, or requests to a service that had too many. What
 * failed is tried again after a minute, two minutes, four, and so on up to an hour: a balancer may have asked another node, and
 * nodes are upgraded.
 */
export type Ability = {
  /** Whether it is worth trying now. */
  isTried(): boolean;
  /** Notes a success. One within a pause began before it, and says nothing of it. */
  worked(): void;
  /**
   * Begins a pause, of `leastMs` milliseconds or more. Attempts that began before it and fail within it do not make it longer.
   * Returns when it ends, in milliseconds since 1970.
   */
  failed(leastMs?: number): number;
};

type Options = {
  /** The first pause. Default: a minute. */
  readonly firstMs?: number;
  /** Default: that of the system. */
  readonly now?: () => number;
};

export const createAbility = ({ firstMs = FIRST_PAUSE_MS, now = Date.now }: Options = {}): Ability => {
  let pauseMs = firstMs;
  let pausedUntil = 0;
  const isTried = (): boolean => now() >= pausedUntil;
  return {
    isTried,
    worked() {
      if (isTried()) pauseMs = firstMs;
    },
    failed(leastMs = 0) {
      if (!isTried()) return pausedUntil;
      const lastsMs = Math.min(LAST_PAUSE_MS, Math.max(pauseMs, leastMs));
      pausedUntil = now() + lastsMs;
      pauseMs = Math.min(LAST_PAUSE_MS, lastsMs * 2);
      return pausedUntil;
    },
  };
};
