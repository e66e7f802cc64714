import { LRUCache } from 'lru-cache';
import type { Deadline } from '../lib/deadline.ts';
import { type SharedRequest, startShared } from '../upstream/cache/single-flight.ts';

/** Who has shown the service a key that it takes, so that it is not asked each time. */
export type VerifiedKeys = {
  /**
   * Resolves at once when `ask` has resolved for the same holder within the last hour, else when it does now, for all who
   * come meanwhile. Rejects as `ask` does, which is not remembered, or with UpstreamError `timeout` when the deadline
   * ends. `holder` stands for the key, and is not the key; the signal aborts when nobody waits any more.
   */
  verify(holder: string, deadline: Deadline, ask: (signal: AbortSignal) => Promise<void>): Promise<void>;
};

const VERIFIED_MS = 3_600_000;

/** Who was not seen for longest has to show the key again. */
const MAX_HOLDERS = 10_000;

export const createVerifiedKeys = (now: () => number = () => performance.now()): VerifiedKeys => {
  const verifiedAt = new LRUCache<string, number>({ max: MAX_HOLDERS });
  const underWay = new Map<string, SharedRequest<void>>();

  const isVerified = (holder: string): boolean => {
    const at = verifiedAt.get(holder);
    return at !== undefined && now() - at < VERIFIED_MS;
  };

  const start = (holder: string, ask: (signal: AbortSignal) => Promise<void>): SharedRequest<void> => {
    const sharedRequest = startShared((signal) =>
      ask(signal)
        .then(() => void verifiedAt.set(holder, now()))
        .finally(() => {
          if (underWay.get(holder) === sharedRequest) underWay.delete(holder);
        }),
    );
    underWay.set(holder, sharedRequest);
    return sharedRequest;
  };

  return {
    async verify(holder, deadline, ask) {
      if (isVerified(holder)) return;
      const known = underWay.get(holder);
      await (known && !known.isAbandoned ? known : start(holder, ask)).join(deadline);
    },
  };
};
