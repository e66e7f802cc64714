import { LRUCache } from 'lru-cache';

const MAX_FAILING = 1_000;
/** What has not failed for this time has not been asked for either, and may work again. */
const FORGOTTEN_MS = 600_000;

/** Knows for how long things have failed. */
export const createPatience = (ms: number) => {
  const failing = new LRUCache<string, { readonly since: number; isTold: boolean }>({
    ...{ max: MAX_FAILING, ttl: FORGOTTEN_MS },
  });
  return {
    /** Notes a failure. Returns whether it has lasted too long. */
    isOver(name: string): boolean {
      const state = failing.get(name) ?? { since: Date.now(), isTold: false };
      failing.set(name, state);
      return Date.now() - state.since >= ms;
    },
    /** Whether this is the first question since it began to fail. */
    isNews(name: string): boolean {
      const state = failing.get(name);
      if (state === undefined || state.isTold) return false;
      state.isTold = true;
      return true;
    },
    /** Notes a success. Returns whether `isNews` had been true for it. */
    end(name: string): boolean {
      const wasTold = failing.get(name)?.isTold ?? false;
      failing.delete(name);
      return wasTold;
    },
  };
};
