/** Orchestrators commonly kill a process ten seconds after SIGTERM. */
export const SHUTDOWN_MS = 9000;

/** A load balancer that polls readiness each second and acts on the first failure notices in this time. */
const NOTICE_MS = 2000;
/** Running operations end by themselves in this time. */
const DRAIN_MS = 5000;
/** Clients read the responses that end the drain, and close their connections, in this time. */
const CLOSE_MS = 1000;
/** The parts above leave this time for the delivery log to close. It may use the time that they don't need as well. */
const LOG_MS = 1000;

/** The one deadline of a graceful shutdown. Each part of the shutdown derives its time from it, in milliseconds. */
export type ShutdownDeadline = {
  /** Starts the time; later calls change nothing. */
  start(): void;
  /** The readiness notice: the gateway is not ready any more, but still accepts connections. */
  noticeMs(): number;
  /** The drain: running operations end by themselves. */
  drainMs(): number;
  /** The close: clients read their final responses. */
  closeMs(): number;
  /** The time until the deadline. */
  remainingMs(): number;
};

export const createShutdownDeadline = (now: () => number = () => performance.now()): ShutdownDeadline => {
  let endsAt: number | null = null;
  const remainingMs = () => (endsAt === null ? SHUTDOWN_MS : Math.max(0, endsAt - now()));
  /** At most `ms`, and no more than leaves `reservedMs` for the parts that follow. */
  const part = (ms: number, reservedMs: number) => Math.max(0, Math.min(ms, remainingMs() - reservedMs));
  return {
    start() {
      endsAt ??= now() + SHUTDOWN_MS;
    },
    noticeMs: () => part(NOTICE_MS, DRAIN_MS + CLOSE_MS + LOG_MS),
    drainMs: () => part(DRAIN_MS, CLOSE_MS + LOG_MS),
    closeMs: () => part(CLOSE_MS, LOG_MS),
    remainingMs,
  };
};
