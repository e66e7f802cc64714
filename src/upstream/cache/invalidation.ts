/** What can be overtaken by news. */
type Invalidatable = { invalidated: boolean };

/**
 * Who wants to know that something happened to an address. `cachePartition` keeps apart what one key's clients may see: see
 * `LoaderParts`.
 */
export type InvalidationBus = {
  /** Marks `target` as outdated when there is news of the address, until the returned function is called. */
  subscribe(cachePartition: string, address: string, target: Invalidatable): () => void;
  /** Outdates all that is followed of these addresses, in lower case. */
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
