import type { UpstreamError } from './errors.ts';
import type { UpstreamObserver } from './observer.ts';
import type { UpstreamRequest } from './send-request.ts';

/** Takes the time of one attempt, for whoever observes. */
export type AttemptTimer = {
  /** Resolves or rejects as `over` does. Its key's rest is not the time that it waits for its turn. */
  cooldown(over: Promise<void>): Promise<void>;
  /** It is its turn now. */
  sending(): void;
  /** Called once, however it ended. */
  ended(error: UpstreamError | null, computeUnits: number): void;
};

export const startAttemptTimer = (
  observer: UpstreamObserver,
  { resource, method, trace }: UpstreamRequest,
  number: number,
  now: () => number = () => performance.now(),
): AttemptTimer => {
  const requestedAt = now();
  let cooldownMs = 0;
  let sentAt: number | null = null;
  return {
    async cooldown(over) {
      const since = now();
      try {
        await over;
      } finally {
        cooldownMs += now() - since;
      }
    },
    sending() {
      sentAt = now();
      observer.sending();
    },
    ended(error, computeUnits) {
      const endedAt = now();
      const sent = sentAt !== null;
      const queuedMs = (sentAt ?? endedAt) - requestedAt - cooldownMs;
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
