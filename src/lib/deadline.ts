import { type Clock, monotonicClock } from './clock.ts';

/** The time limit of an operation. Its signal ends the operation's waits sooner. */
export type Deadline = {
  /** Aborts when the operation's answer is not needed any more; null for work that is always needed. */
  readonly signal: AbortSignal | null;
  /** Starts the clock, unless it runs already. */
  start(): void;
  /** Milliseconds that are left, 0 when the time is over; the whole limit before `start`. */
  remainingMs(): number;
  /** A deadline with the same limit, another signal and a clock of its own, for work that several operations share. */
  detached(signal: AbortSignal): Deadline;
};

/**
 * The clock runs from the operation's first request on, so that queues and retries count. `signalOf` is called when
 * something waits.
 */
export const createDeadline = (
  limitMs: number,
  signalOf: () => AbortSignal | null,
  now: Clock = monotonicClock,
): Deadline => {
  let expiresAt: number | null = null;
  return {
    get signal() {
      return signalOf();
    },
    start() {
      expiresAt ??= now() + limitMs;
    },
    remainingMs: () => (expiresAt === null ? limitMs : Math.max(0, expiresAt - now())),
    detached: (sharedSignal) => createDeadline(limitMs, () => sharedSignal, now),
  };
};
