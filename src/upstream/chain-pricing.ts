import { LRUCache } from 'lru-cache';

/** Compute units of requests that the service bills by chain. */
export type ChainPricing = {
  /** What one request costs under this filter; null is the service's default. */
  priceOf(chains: string | null): number;
  /** Takes in what the service billed for one. */
  record(chains: string | null, computeUnits: number): void;
};

/** Filters are the clients' to make up: so many are remembered. */
const MAX_FILTERS = 1000;

/**
 * A chain named by its id counts one. How many chains a tag has, only the service knows: `defaultChainCount` until
 * it has billed a request under the same filter.
 */
export const createChainPricing = (defaultChainCount: number): ChainPricing => {
  const billed = new LRUCache<string, number>({ max: MAX_FILTERS });

  return {
    priceOf(chains) {
      const parts = chains === null ? ['default'] : chains.split(',');
      const tags = parts.filter((part) => !isChainId(part)).length;
      const counted = parts.length - tags + tags * defaultChainCount;
      return tags === 0 ? counted : (billed.get(nameOf(chains)) ?? counted);
    },
    record(chains, computeUnits) {
      // What was free this time teaches nothing of the next.
      if (computeUnits > 0) billed.set(nameOf(chains), computeUnits);
    },
  };
};

const isChainId = (part: string): boolean => /^\d+$/.test(part);

/** The default is a tag as well. */
const nameOf = (chains: string | null): string => chains ?? 'default';
