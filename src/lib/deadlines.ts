/**
 * Calls `then` once when `signal` aborts, or soon if it has aborted already. The returned function removes the listener;
 * `then` is not called after that. A null signal never aborts.
 */
export const onAbort = (signal: AbortSignal | null, then: () => void): (() => void) => {
  if (signal === null) return () => {};
  let isListening = true;
  const call = () => {
    if (isListening) then();
  };
  if (signal.aborted) queueMicrotask(call);
  else signal.addEventListener('abort', call, { once: true });
  return () => {
    isListening = false;
    signal.removeEventListener('abort', call);
  };
};

/** How a wait ended: the promise resolved or rejected, the time was over, or the signal aborted. */
export type WaitEnd = 'settled' | 'timeout' | 'aborted';

/**
 * Resolves with what comes first: `promise` settles, `ms` milliseconds pass, or `signal` aborts. It never rejects: after
 * `settled` the caller awaits the promise itself. Neither timer nor listener outlives the wait.
 */
export const raceWithTimeout = (
  promise: Promise<unknown>,
  ms: number,
  signal: AbortSignal | null,
): Promise<WaitEnd> =>
  new Promise((resolve) => {
    const end = (how: WaitEnd) => () => {
      clearTimeout(timer);
      stopListening();
      resolve(how);
    };
    const timer = setTimeout(end('timeout'), ms);
    const stopListening = onAbort(signal, end('aborted'));
    promise.then(end('settled'), end('settled'));
  });

/** Resolves after `ms` milliseconds, or when `signal` aborts. */
export const sleep = async (ms: number, signal: AbortSignal | null): Promise<void> => {
  await raceWithTimeout(new Promise(() => {}), ms, signal);
};

/** The time limit of an operation. Its signal ends the operation's waits sooner. */
export type Deadline = {
  /** Aborts when the operation's answer is no longer needed; null for work that is always needed. */
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
): Deadline => new OperationDeadline(limitMs, signalOf, now);

/** A class: an object literal with a getter has a hidden class of its own, which V8 keeps until it collects its whole heap. */
class OperationDeadline implements Deadline {
  readonly #limitMs: number;
  readonly #signalOf: () => AbortSignal | null;
  readonly #now: Clock;
  #expiresAt: number | null = null;

  constructor(limitMs: number, signalOf: () => AbortSignal | null, now: Clock) {
    this.#limitMs = limitMs;
    this.#signalOf = signalOf;
    this.#now = now;
  }

  get signal(): AbortSignal | null {
    return this.#signalOf();
  }

  start(): void {
    this.#expiresAt ??= this.#now() + this.#limitMs;
  }

  remainingMs(): number {
    return this.#expiresAt === null ? this.#limitMs : Math.max(0, this.#expiresAt - this.#now());
  }

  detached(sharedSignal: AbortSignal): Deadline {
    return new OperationDeadline(this.#limitMs, () => sharedSignal, this.#now);
  }
}

/** Reads a monotonic clock: milliseconds since a fixed moment, which never go back. */
export type Clock = () => number;

/** The clock of this process. */
export const monotonicClock: Clock = () => performance.now();

/** How long the first parts of a graceful shutdown take at most, in milliseconds. */
export type ShutdownTimes = {
  /** The readiness notice: the gateway is no longer ready, but still accepts connections. */
  readonly noticeMs: number;
  /** The drain: running operations may finish. */
  readonly drainMs: number;
};

/**
 * A load balancer that polls readiness each second and acts on the first failure notices in two seconds. Together with the
 * parts below, both leave a second of the ten after which orchestrators commonly kill a process.
 */
export const SHUTDOWN_TIMES: ShutdownTimes = { noticeMs: 2000, drainMs: 5000 };

/** Clients read the responses that end the drain, and close their connections, in this time. */
const CLOSE_MS = 1000;
/** The parts above leave this time for the delivery log to close. It may use the time that they don't need as well. */
const LOG_MS = 1000;

/** The longest that a graceful shutdown takes, in milliseconds. */
export const shutdownMs = ({ noticeMs, drainMs }: ShutdownTimes): number =>
  noticeMs + drainMs + CLOSE_MS + LOG_MS;

/** The one deadline of a graceful shutdown. Each part of the shutdown derives its time from it, in milliseconds. */
export type ShutdownDeadline = {
  /** Starts the time; later calls change nothing. */
  start(): void;
  /** The readiness notice. */
  noticeMs(): number;
  /** The drain. */
  drainMs(): number;
  /** The close: clients read their final responses. */
  closeMs(): number;
  /** The time until the deadline. */
  remainingMs(): number;
};

export const createShutdownDeadline = (
  times: ShutdownTimes = SHUTDOWN_TIMES,
  now: Clock = monotonicClock,
): ShutdownDeadline => {
  let endsAt: number | null = null;
  const remainingMs = () => (endsAt === null ? shutdownMs(times) : Math.max(0, endsAt - now()));
  /** At most `ms`, and no more than leaves `reservedMs` for the parts that follow. */
  const part = (ms: number, reservedMs: number) => Math.max(0, Math.min(ms, remainingMs() - reservedMs));
  return {
    start() {
      endsAt ??= now() + shutdownMs(times);
    },
    noticeMs: () => part(times.noticeMs, times.drainMs + CLOSE_MS + LOG_MS),
    drainMs: () => part(times.drainMs, CLOSE_MS + LOG_MS),
    closeMs: () => part(CLOSE_MS, LOG_MS),
    remainingMs,
  };
};
