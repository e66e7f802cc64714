import type { Hex } from '../types.ts';

type Entry = readonly [address: Hex, sequence: number];

/** A webhook's addresses: each once, in the order in which they came. */
export type AddressList = {
  values(): Iterable<Hex>;
  /** One that is there already keeps its place. */
  add(addresses: readonly Hex[]): void;
  remove(addresses: readonly Hex[]): void;
  /** At most `limit` addresses that came after the one numbered `after` (0: from the first). */
  page(after: number, limit: number): readonly Entry[];
};

/** The index of the first entry whose number is beyond `after`. */
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

/** Numbers are never given twice, so a walk through the pages outlives additions and removals. */
export const createAddressList = (): AddressList => {
  const numbers = new Map<Hex, number>();
  let last = 0;
  // Paging 100,000 addresses must not copy them once a page.
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
