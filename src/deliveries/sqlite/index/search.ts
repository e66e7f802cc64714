import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryFilter } from '../../log/log.ts';
import { queryTerms } from './index-terms.ts';
import type { ScanBudget } from './scan-budget.ts';
import { SegmentSearch } from './segment-search.ts';
import { isEmpty, type SequenceRange } from './sequence-range.ts';
import { TailSearch } from './tail-search.ts';

/** What a search has found, in the order of `take`. `cutAt` is where it ended early, null when it looked at all. */
export type Found = { readonly sequences: readonly number[]; readonly cutAt: number | null };

/** Finds the deliveries that a filter asks for. */
export class Search {
  readonly #segments: SegmentSearch;
  readonly #tail: TailSearch;

  constructor(database: DatabaseSync) {
    this.#segments = new SegmentSearch(database);
    this.#tail = new TailSearch(database);
  }

  /**
   * Searches the span, and ends early once `scanBudget` are spent. Up to `indexed` it uses the index alone. The deliveries after
   * it, a few thousand at most, are looked at one by one, also those that were indexed meanwhile.
   */
  *find(
    tenant: number,
    indexed: number,
    filter: DeliveryFilter,
    span: SequenceRange,
    scanBudget: ScanBudget,
  ): Generator<void, Found> {
    const { take, limit, low, high } = span;
    const middle = Math.min(Math.max(indexed, low), high - 1);
    const before = { ...span, high: middle + 1 };
    const behind = { ...span, low: middle };
    const inSegments = { search: this.#segments, part: before };
    const inTail = { search: this.#tail, part: behind };
    const sequences: number[] = [];
    for (const { search, part } of take === 'oldest' ? [inSegments, inTail] : [inTail, inSegments]) {
      const left = isEmpty(part) ? part : yield* search.find(tenant, filter, part, scanBudget, sequences);
      if (sequences.length >= limit) break;
      const cutAt = take === 'oldest' ? left.low : left.high;
      const isWhole = take === 'oldest' ? cutAt >= high - 1 : cutAt <= low + 1;
      if (scanBudget.isSpent && !isWhole) return { sequences, cutAt };
    }
    return { sequences, cutAt: null };
  }
}

export const isFiltering = (filter: DeliveryFilter): boolean => queryTerms(filter).length > 0;
