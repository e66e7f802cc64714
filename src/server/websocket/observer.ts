import type { Trace } from '../../lib/trace-context.ts';

/** Reports sockets and their operations. */
export type SocketObserver = {
  /** Called when a WebSocket opens; the returned function is called when it has closed. */
  opened(): () => void;
  /** Called when an upgrade is rejected, with its HTTP status. */
  refused(status: number): void;
  /**
   * A socket's client asks for an operation, with the trace that it has sent. Returns the trace of what it causes. `ended`
   * follows when it is answered or has begun to send events, or else the client's signal aborts.
   */
  received(trace: Trace, clientSignal: AbortSignal): Trace;
  ended(trace: Trace): void;
};
