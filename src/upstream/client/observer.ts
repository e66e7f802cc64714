import { type Clock, monotonicClock } from '../../lib/deadlines.ts';
import { childOf, type Trace } from '../../lib/trace.ts';
import type { UpstreamError } from './errors.ts';
import type { UpstreamMethod, UpstreamRequest } from './request.ts';

/** One attempt of a request. */
type StartedAttempt = {
  /** The name of the upstream resource. */
  readonly resource: string;
  readonly method: UpstreamMethod;
  /** 1 for a request's first attempt. */
  readonly number: number;
  /** Milliseconds in the queue, without the cooldown of the key. */
  readonly queuedMs: number;
  readonly trace: Trace;
};

/** One attempt that has ended, whether or not it was sent. */
type EndedAttempt = StartedAttempt & {
  /** Null when upstream answered by the contract. */
  readonly error: UpstreamError | null;
  readonly sent: boolean;
  /** The HTTP status of the answer; null without one. */
  readonly status: number | null;
  /** Milliseconds from sending to the answer's last byte; 0 when the attempt was not sent. */
  readonly durationMs: number;
  /** As billed, even for a failure. */
  readonly computeUnits: number;
};

/** Callbacks for metrics and log lines. They run on the path of every request, so they must be fast. */
export type UpstreamObserver = {
  /** An attempt is sent; `ended` follows. Returns its own trace, which upstream gets. */
  sending?(attempt: StartedAttempt): Trace | undefined;
  /** Called once for each attempt, even if it was not sent. */
  ended?(attempt: EndedAttempt): void;
  /** The circuit breaker of the resource has opened (`down`) or closed (`up`). */
  circuitChanged?(state: 'down' | 'up', resource: string): void;
};

type AttemptEnd = Pick<EndedAttempt, 'error' | 'status' | 'computeUnits'>;

/** Measures one attempt and reports it to the observer. */
export type AttemptTimer = {
  /** Settles as `cooldown` does. That time does not count as time in the queue. */
  duringCooldown(cooldown: Promise<void>): Promise<void>;
  /** The attempt leaves the queue and is sent. */
  sending(): void;
  /** The trace that is sent with it; that of its request until it is sent. */
  readonly trace: Trace;
  /** Called once. */
  ended(end: AttemptEnd): void;
};

export const startAttemptTimer = (
  observer: UpstreamObserver,
  { resource, method }: UpstreamRequest,
  number: number,
  requestTrace: Trace,
  now: Clock = monotonicClock,
): AttemptTimer => {
  const startedAt = now();
  let cooldownMs = 0;
  let sentAt: number | null = null;
  // No getter: each timer would have a hidden class of its own, which V8 keeps until it collects its whole heap.
  const timer = {
    trace: requestTrace,
    async duringCooldown(cooldown: Promise<void>) {
      const since = now();
      try {
        await cooldown;
      } finally {
        cooldownMs += now() - since;
      }
    },
    sending() {
      sentAt = now();
      const queuedMs = sentAt - startedAt - cooldownMs;
      const { trace } = timer;
      timer.trace = observer.sending?.({ resource, method, number, queuedMs, trace }) ?? childOf(trace);
    },
    ended(end: AttemptEnd) {
      const endedAt = now();
      const sent = sentAt !== null;
      const queuedMs = (sentAt ?? endedAt) - startedAt - cooldownMs;
      const durationMs = endedAt - (sentAt ?? endedAt);
      const { trace } = timer;
      observer.ended?.({ ...end, resource, method, number, sent, queuedMs, durationMs, trace });
    },
  };
  return timer;
};
