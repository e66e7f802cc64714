import type { Hex } from '../types.ts';

type Entry = readonly [address: Hex, sequence: number];

/** A webhook's addresses, each once, in the order in which they were added. */
export type AddressList = {
  values(): Iterable<Hex>;
  /** Adds addresses. An address that is in the list already keeps its position. */
  add(addresses: readonly Hex[]): void;
  remove(addresses: readonly Hex[]): void;
  /** At most `limit` addresses after the one with the number `after`; 0 starts at the first. */
  page(after: number, limit: number): readonly Entry[];
};

/** The index of the first entry whose number is greater than `after`, by binary search. */
const firstBeyond = (entries: readonly Entry[], after: number): number => {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const number = entries[middle]?.[1] ?? 0;
    if (number > after) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** Creates an empty list. Numbers are never reused, so a walk through the pages survives additions and removals. */
export const createAddressList = (): AddressList => {
  const numbers = new Map<Hex, number>();
  let last = 0;
  // A cached array, so that paging through 100,000 addresses does not copy them for each page.
  let ordered: readonly Entry[] | null = null;

  return {
    values: () => numbers.keys(),
    add(addresses) {
      ordered = null;
      for (const address of addresses) {
        if (!numbers.has(address)) numbers.set(address, ++last);
      }
    },
    remove(addresses) {
      ordered = null;
      for (const address of addresses) numbers.delete(address);
    },
    page(after, limit) {
      ordered ??= [...numbers];
      const start = firstBeyond(ordered, after);
      return ordered.slice(start, start + limit);
    },
  };
};
