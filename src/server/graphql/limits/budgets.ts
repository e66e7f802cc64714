import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';

/** The state of a bucket that has less than was asked for. */
export type Shortfall = {
  readonly left: number;
  /** Milliseconds until the bucket has enough; null when it never does, because more than a minute's budget was asked for. */
  readonly retryAfterMs: number | null;
};

/** Rate limit by token bucket: each client's bucket fills at an even rate, and holds at most a minute's budget. */
export type Budgets = {
  readonly isShared: false;
  readonly perMinute: number;
  /** Takes `units` from the client's bucket and returns null. When it has fewer, takes none and returns what is left. */
  take(client: string, units: number): Shortfall | null;
  /** Corrects the charge of an operation from `taken` to what it cost, `spent`. */
  settle(client: string, taken: number, spent: number): void;
};

/** The budgets of clients: of this gateway alone, or over all gateways. */
export type ClientBudgets = {
  /** Whether `take` waits for what other gateways know. */
  readonly isShared: boolean;
  readonly perMinute: number;
  take(client: string, units: number): MaybePromise<Shortfall | null>;
  settle(client: string, taken: number, spent: number): void;
};

/** The least recently seen client is forgotten first. Its bucket counts as full again. */
const MAX_CLIENTS = 100_000;

const MINUTE_MS = 60_000;

export const createBudgets = (perMinute: number, now: () => number = () => performance.now()): Budgets => {
  const buckets = new LRUCache<string, { readonly level: number; readonly at: number }>({ max: MAX_CLIENTS });

  const levelOf = (client: string): number => {
    const bucket = buckets.get(client);
    if (bucket === undefined) return perMinute;
    return Math.min(perMinute, bucket.level + ((now() - bucket.at) * perMinute) / MINUTE_MS);
  };
  const change = (client: string, units: number): void => {
    buckets.set(client, { level: Math.min(perMinute, levelOf(client) + units), at: now() });
  };

  return {
    isShared: false,
    perMinute,
    take(client, units) {
      if (units === 0) return null;
      const level = levelOf(client);
      if (units > level) {
        const retryAfterMs = units > perMinute ? null : Math.ceil(((units - level) * MINUTE_MS) / perMinute);
        return { left: Math.max(0, Math.floor(level)), retryAfterMs };
      }
      change(client, -units);
      return null;
    },
    settle(client, taken, spent) {
      if (taken !== spent) change(client, taken - spent);
    },
  };
};
