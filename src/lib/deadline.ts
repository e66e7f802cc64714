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

/** Runs `then` when `signal` aborts, soon when it has; the returned function calls off what has not begun. */
export const onAbort = (signal: AbortSignal | null, then: () => void): (() => void) => {
  if (signal === null) return () => {};
  if (signal.aborted) queueMicrotask(then);
  else signal.addEventListener('abort', then, { once: true });
  return () => signal.removeEventListener('abort', then);
};

/** Resolves after so long, or when `signal` aborts. */
export const sleep = (ms: number, signal: AbortSignal | null): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stopListening();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const stopListening = onAbort(signal, done);
  });
