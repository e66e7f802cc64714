import { LRUCache } from 'lru-cache';

/** What is left to a client that may not go on now. */
type Shortfall = {
  readonly left: number;
  /** Milliseconds until it may; null when it never may, because it asks for more than a minute brings. */
  readonly retryAfterMs: number | null;
};

/** What clients may spend: each has a bucket that fills at an even rate, and holds what a minute brings. */
export type Budgets = {
  readonly perMinute: number;
  /** Takes `computeUnits` from the client's, or nothing when there are not as many: then says how many there are. */
  take(client: string, computeUnits: number): Shortfall | null;
  /** Puts right what was `taken` for an operation that turned out to cost `spent`. */
  settle(client: string, taken: number, spent: number): void;
};

/** Who was not seen for longest is forgotten, which is to say that its bucket is full again. */
const MAX_CLIENTS = 100_000;

const MINUTE_MS = 60_000;

export const createBudgets = (perMinute: number, now: () => number = () => performance.now()): Budgets => {
  const buckets = new LRUCache<string, { readonly level: number; readonly at: number }>({ max: MAX_CLIENTS });

  const levelOf = (client: string): number => {
    const bucket = buckets.get(client);
    if (bucket === undefined) return perMinute;
    return Math.min(perMinute, bucket.level + ((now() - bucket.at) * perMinute) / MINUTE_MS);
  };
  const change = (client: string, computeUnits: number): void => {
    buckets.set(client, { level: Math.min(perMinute, levelOf(client) + computeUnits), at: now() });
  };

  return {
    perMinute,
    take(client, computeUnits) {
      if (computeUnits === 0) return null;
      const level = levelOf(client);
      if (computeUnits > level) {
        const retryAfterMs =
          computeUnits > perMinute ? null : Math.ceil(((computeUnits - level) * MINUTE_MS) / perMinute);
        return { left: Math.max(0, Math.floor(level)), retryAfterMs };
      }
      change(client, -computeUnits);
      return null;
    },
    settle(client, taken, spent) {
      if (taken !== spent) change(client, taken - spent);
    },
  };
};
