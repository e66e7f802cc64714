/** A cached page or a request under way, which a delivery for its address makes outdated. */
type Invalidatable = { invalidated: boolean };

/** Cache invalidation by address. A `cachePartition` never affects another one's entries: see `LoaderParts`. */
export type InvalidationBus = {
  /** Has invalidations of the address mark `target`, until the returned function is called. */
  subscribe(cachePartition: string, address: string, target: Invalidatable): () => void;
  /** Invalidates all subscribed targets of these addresses, which are in lower case. */
  invalidate(cachePartition: string, addresses: readonly string[]): void;
  /** Invalidates all targets: invalidations may have been missed. */
  invalidateAll(): void;
  /** Has `listener` called with the addresses of each `invalidate`, before it. */
  listen(listener: (cachePartition: string, addresses: readonly string[]) => void): void;
};

export const createInvalidationBus = (): InvalidationBus => {
  /** The targets of each address, by partition. A key of both in one would cost each delivery a new string an address. */
  const partitions = new Map<string, Map<string, Set<Invalidatable>>>();
  const listeners: ((cachePartition: string, addresses: readonly string[]) => void)[] = [];
  return {
    listen: (listener) => void listeners.push(listener),
    subscribe(cachePartition, address, target) {
      const partition = partitions.get(cachePartition) ?? new Map<string, Set<Invalidatable>>();
      partitions.set(cachePartition, partition);
      const targets = partition.get(address) ?? new Set();
      partition.set(address, targets.add(target));
      return () => {
        targets.delete(target);
        if (targets.size === 0 && partition.get(address) === targets) partition.delete(address);
        if (partition.size === 0 && partitions.get(cachePartition) === partition)
          partitions.delete(cachePartition);
      };
    },
    invalidate(cachePartition, addresses) {
      for (const listener of listeners) listener(cachePartition, addresses);
      const partition = partitions.get(cachePartition);
      if (partition === undefined) return;
      for (const address of addresses) {
        for (const target of partition.get(address) ?? []) target.invalidated = true;
      }
    },
    invalidateAll() {
      for (const partition of partitions.values())
        for (const targets of partition.values()) for (const target of targets) target.invalidated = true;
    },
  };
};
