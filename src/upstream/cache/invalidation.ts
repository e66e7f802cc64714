/** A cached page or a request under way, which a delivery for its address makes outdated. */
type Invalidatable = { invalidated: boolean };

/** Cache invalidation by address. A `cachePartition` never affects another one's entries: see `LoaderParts`. */
export type InvalidationBus = {
  /** Has invalidations of the address mark `target`, until the returned function is called. */
  subscribe(cachePartition: string, address: string, target: Invalidatable): () => void;
  /** Invalidates all subscribed targets of these addresses, which are in lower case. */
  invalidate(cachePartition: string, addresses: readonly string[]): void;
};

export const createInvalidationBus = (): InvalidationBus => {
  const subscriptions = new Map<string, Set<Invalidatable>>();
  return {
    subscribe(cachePartition, address, target) {
      const key = keyOf(cachePartition, address);
      const targets = subscriptions.get(key) ?? new Set();
      subscriptions.set(key, targets.add(target));
      return () => {
        targets.delete(target);
        if (targets.size === 0 && subscriptions.get(key) === targets) subscriptions.delete(key);
      };
    },
    invalidate(cachePartition, addresses) {
      for (const address of addresses) {
        for (const target of subscriptions.get(keyOf(cachePartition, address)) ?? [])
          target.invalidated = true;
      }
    },
  };
};

const keyOf = (cachePartition: string, address: string): string => `${cachePartition} ${address}`;
