import { LRUCache } from 'lru-cache';

/** Compute units of requests that upstream bills by chain. */
export type ChainPricing = {
  /** The cost of one request to a resource with this chain filter; null is upstream's default filter. */
  priceOf(resource: string, chains: string | null): number;
  /** Records what upstream billed for one request. */
  record(resource: string, chains: string | null, computeUnits: number): void;
};

/** The prices of so many filters are remembered, since clients can make up any number of them. */
const MAX_FILTERS = 1000;

/**
 * A chain id costs one unit. Only upstream knows how many chains a tag has: a tag counts as `defaultChainCount` chains
 * until upstream has billed a request to the same resource with the same filter.
 */
export const createChainPricing = (defaultChainCount: number): ChainPricing => {
  const billed = new LRUCache<string, number>({ max: MAX_FILTERS });

  return {
    priceOf(resource, chains) {
      const parts = chains === null ? ['default'] : chains.split(',');
      const tags = parts.filter((part) => !isChainId(part)).length;
      const counted = parts.length - tags + tags * defaultChainCount;
      return tags === 0 ? counted : (billed.get(nameOf(resource, chains)) ?? counted);
    },
    record(resource, chains, computeUnits) {
      // A free request does not show what the next one will cost.
      if (computeUnits > 0) billed.set(nameOf(resource, chains), computeUnits);
    },
  };
};

const isChainId = (part: string): boolean => /^\d+$/.test(part);

/** Upstream's default filter is the tag `default`. */
const nameOf = (resource: string, chains: string | null): string => `${resource} ${chains ?? 'default'}`;
