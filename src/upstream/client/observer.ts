import type { Trace } from '../../lib/trace-context.ts';
import type { UpstreamError } from './errors.ts';
import type { UpstreamMethod } from './retry.ts';

/** One attempt that has ended, whether or not it ever left. */
type Attempt = {
  /** Which of the service's resources was asked for: one of a few words. */
  readonly resource: string;
  readonly method: UpstreamMethod;
  /** 1 for a request's first. */
  readonly number: number;
  /** Null when the service answered as it promises. */
  readonly error: UpstreamError | null;
  /** Whether the service was asked at all. */
  readonly sent: boolean;
  /** Milliseconds that it waited for its turn, without those that its key had to rest. */
  readonly queuedMs: number;
  /** Milliseconds from being sent to the answer's last byte; 0 when it was not sent. */
  readonly durationMs: number;
  /** As billed; 0 for what failed. */
  readonly computeUnits: number;
  readonly trace: Trace | null;
};

/** Who wants to know how the service does. Called on the way of every request: what takes long belongs elsewhere. */
export type UpstreamObserver = {
  /** An attempt leaves; `ended` follows for each. */
  sending(): void;
  ended(attempt: Attempt): void;
  /** The service has come to be taken for down, or no longer is. */
  circuitChanged(state: 'down' | 'up'): void;
};

export const noopObserver: UpstreamObserver = { sending() {}, ended() {}, circuitChanged() {} };
