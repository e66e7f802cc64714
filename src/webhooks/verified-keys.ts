import { LRUCache } from 'lru-cache';
import type { Patience } from '../lib/deadline.ts';
import { type Flight, launch } from '../upstream/cache/single-flight.ts';

/** Who has shown the service a key that it takes, so that it is not asked each time. */
export type KeyProofs = {
  /**
   * Resolves at once when `ask` has resolved for the same holder within the last hour, else when it does now, for all who
   * come meanwhile. Rejects as `ask` does, which is not remembered, or with UpstreamError `timeout` when the patience
   * ends. `holder` stands for the key, and is not the key; the signal aborts when nobody waits any more.
   */
  prove(holder: string, patience: Patience, ask: (signal: AbortSignal) => Promise<void>): Promise<void>;
};

const PROVEN_MS = 3_600_000;

/** Who was not seen for longest has to show the key again. */
const MAX_HOLDERS = 10_000;

export const createKeyProofs = (now: () => number = () => performance.now()): KeyProofs => {
  const provenAt = new LRUCache<string, number>({ max: MAX_HOLDERS });
  const underWay = new Map<string, Flight<void>>();

  const isProven = (holder: string): boolean => {
    const at = provenAt.get(holder);
    return at !== undefined && now() - at < PROVEN_MS;
  };

  const start = (holder: string, ask: (signal: AbortSignal) => Promise<void>): Flight<void> => {
    const flight = launch((signal) =>
      ask(signal)
        .then(() => void provenAt.set(holder, now()))
        .finally(() => {
          if (underWay.get(holder) === flight) underWay.delete(holder);
        }),
    );
    underWay.set(holder, flight);
    return flight;
  };

  return {
    async prove(holder, patience, ask) {
      if (isProven(holder)) return;
      const known = underWay.get(holder);
      await (known && !known.isAbandoned ? known : start(holder, ask)).join(patience);
    },
  };
};
