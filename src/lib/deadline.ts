/** How long an operation waits for the service, and whether anybody still waits for the operation. */
export type Deadline = {
  /** Aborts when the client or the subscriber has gone away. */
  readonly signal: AbortSignal | null;
  /** Milliseconds until the operation gives up; they run from its first request on, retries and queues included. */
  remainingMs(): number;
};

export const createDeadline = (
  limitMs: number,
  signal: AbortSignal | null,
  now: () => number = () => performance.now(),
): Deadline => {
  let until: number | null = null;
  return {
    signal,
    remainingMs() {
      until ??= now() + limitMs;
      return Math.max(0, until - now());
    },
  };
};
