import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryFilter } from '../log.ts';
import { SegmentSearch } from './segment-search.ts';
import type { Span } from './span.ts';
import { TailSearch } from './tail-search.ts';
import { wantedTerms } from './terms.ts';

/** Finds the deliveries that a filter asks for. */
export class Search {
  readonly #segments: SegmentSearch;
  readonly #tail: TailSearch;

  constructor(database: DatabaseSync) {
    this.#segments = new SegmentSearch(database);
    this.#tail = new TailSearch(database);
  }

  /**
   * In the order of `take`. Looks at no more than the span's sequences: up to `indexed` by index, without reading a
   * delivery. Those after it, of which there are a few thousand at most, may be indexed by now: they are there all the
   * same.
   */
  find(tenant: number, indexed: number, filter: DeliveryFilter, span: Span): number[] {
    const { take, limit } = span;
    const before = { ...span, high: Math.min(span.high, indexed + 1) };
    const behind = { ...span, low: Math.max(span.low, indexed) };
    const inSegments = (most: number) => this.#segments.find(tenant, filter, { ...before, limit: most });
    const inTail = (most: number) => this.#tail.find(tenant, filter, { ...behind, limit: most });
    const [first, second] = take === 'oldest' ? [inSegments, inTail] : [inTail, inSegments];
    const found = first(limit);
    return found.length < limit ? [...found, ...second(limit - found.length)] : found;
  }
}

export const isFiltering = (filter: DeliveryFilter): boolean => wantedTerms(filter).length > 0;
