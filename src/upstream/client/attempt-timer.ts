import type { UpstreamError } from './errors.ts';
import type { UpstreamObserver } from './observer.ts';
import type { UpstreamRequest } from './send-request.ts';

/** Takes the time of one attempt, for whoever observes. */
export type Watched = {
  /** Resolves or rejects as `over` does. Its key's rest is not the time that it waits for its turn. */
  rest(over: Promise<void>): Promise<void>;
  /** It is its turn now. */
  sending(): void;
  /** Called once, however it ended. */
  ended(error: UpstreamError | null, computeUnits: number): void;
};

export const watchAttempt = (
  observer: UpstreamObserver,
  { resource, method, trace }: UpstreamRequest,
  number: number,
  now: () => number = () => performance.now(),
): Watched => {
  const askedAt = now();
  let restedMs = 0;
  let sentAt: number | null = null;
  return {
    async rest(over) {
      const since = now();
      try {
        await over;
      } finally {
        restedMs += now() - since;
      }
    },
    sending() {
      sentAt = now();
      observer.sending();
    },
    ended(error, computeUnits) {
      const endedAt = now();
      const sent = sentAt !== null;
      const queuedMs = (sentAt ?? endedAt) - askedAt - restedMs;
      const durationMs = endedAt - (sentAt ?? endedAt);
      observer.ended({
        resource,
        method,
        number,
        error,
        sent,
        queuedMs,
        durationMs,
        computeUnits,
        trace: trace ?? null,
      });
    },
  };
};
