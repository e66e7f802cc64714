import { type Clock, monotonicClock } from './clock.ts';

/** The time limit of an operation, and the signal of the client that waits for it. */
export type Deadline = {
  /** Aborts when the client or the subscriber has disconnected; null for work without a client. */
  readonly signal: AbortSignal | null;
  /** Starts the clock, unless it runs already. */
  start(): void;
  /** Milliseconds that are left, 0 when the time is over; the whole limit before `start`. */
  remainingMs(): number;
  /** A deadline with the same limit, another signal and a clock of its own, for work that several operations share. */
  detached(signal: AbortSignal): Deadline;
};

/** The clock runs from the operation's first request on, so that queues and retries count. */
export const createDeadline = (
  limitMs: number,
  signal: AbortSignal | null,
  now: Clock = monotonicClock,
): Deadline => {
  let expiresAt: number | null = null;
  return {
    signal,
    start() {
      expiresAt ??= now() + limitMs;
    },
    remainingMs: () => (expiresAt === null ? limitMs : Math.max(0, expiresAt - now())),
    detached: (sharedSignal) => createDeadline(limitMs, sharedSignal, now),
  };
};
