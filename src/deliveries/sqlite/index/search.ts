import type { Steps } from '../../../lib/scheduling/round-robin-scheduler.ts';
import type { DeliveryFilter } from '../../log/log.ts';

/** The sequences above `low` and below `high`. A search wants at most `limit` of them, from the end that `take` names. */
export type SequenceRange = {
  readonly low: number;
  readonly high: number;
  readonly limit: number;
  readonly take: 'oldest' | 'newest';
};

export const isEmpty = ({ low, high }: SequenceRange): boolean => high - low < 2;

/** Counts the index entries and deliveries that one search reads, against its limit. */
export class ScanBudget {
  readonly #limit: number;
  #spent = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get spent(): number {
    return this.#spent;
  }

  get isSpent(): boolean {
    return this.#spent >= this.#limit;
  }

  /** Is called after the read, so that every search makes progress, whatever its limit. */
  spend(count: number): void {
    this.#spent += count;
  }
}

/** The matches in the order of `take`. `cutAt` is the sequence where the search ended early; null if it read the range. */
export type Found = { readonly sequences: readonly number[]; readonly cutAt: number | null };

/** One of the two ways to search: by the segments of the index, or by reading deliveries. */
export type Searcher = {
  /**
   * Adds matches to `found` until it has `range.limit`, in the order of `take`. Returns the part of the range that it has
   * not searched.
   */
  find(
    tenant: number,
    filter: DeliveryFilter,
    range: SequenceRange,
    budget: ScanBudget,
    found: number[],
  ): Steps<SequenceRange>;
};

/** Finds the deliveries of a tenant that match a filter. */
export class Search {
  readonly #segments: Searcher;
  readonly #tail: Searcher;

  /** `segments` searches the deliveries that are in segments, `tail` those after them. */
  constructor(segments: Searcher, tail: Searcher) {
    this.#segments = segments;
    this.#tail = tail;
  }

  /**
   * Searches the range, and ends early once the budget is spent. Up to sequence `indexed` it reads the index alone. After it
   * there are a few thousand deliveries at most: it reads each, also those that were indexed since the search began.
   */
  *find(
    tenant: number,
    indexed: number,
    filter: DeliveryFilter,
    range: SequenceRange,
    budget: ScanBudget,
  ): Steps<Found> {
    const { take, limit, low, high } = range;
    const middle = Math.min(Math.max(indexed, low), high - 1);
    const inSegments = { searcher: this.#segments, part: { ...range, high: middle + 1 } };
    const inTail = { searcher: this.#tail, part: { ...range, low: middle } };
    const sequences: number[] = [];
    for (const { searcher, part } of take === 'oldest' ? [inSegments, inTail] : [inTail, inSegments]) {
      const left = isEmpty(part) ? part : yield* searcher.find(tenant, filter, part, budget, sequences);
      if (sequences.length >= limit) break;
      const cutAt = take === 'oldest' ? left.low : left.high;
      const isComplete = take === 'oldest' ? cutAt >= high - 1 : cutAt <= low + 1;
      if (budget.isSpent && !isComplete) return { sequences, cutAt };
    }
    return { sequences, cutAt: null };
  }
}
