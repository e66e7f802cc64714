import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryFilter } from '../../log/log.ts';
import { queryTerms } from './index-terms.ts';
import { unpackPostings } from './postings.ts';
import type { ScanBudget } from './scan-budget.ts';
import { isEmpty, type SequenceRange } from './sequence-range.ts';

const SEGMENTS_AT_ONCE = 32;

/** Reading so many numbers of a posting list takes no longer than looking a term up. */
const NUMBERS_PER_SCAN = 256;

/** Takes the tenant, the lowest and the highest sequence that shall be in one of them. */
export const segmentsSql = (take: SequenceRange['take']): string => `
  SELECT first, last FROM segment
  WHERE tenant = ?1 AND first <= ?3
    AND first >= ifnull((SELECT max(first) FROM segment WHERE tenant = ?1 AND first <= ?2), 0)
  ORDER BY first ${take === 'oldest' ? 'ASC' : 'DESC'} LIMIT ${SEGMENTS_AT_ONCE}`;

/** Takes the tenant, the segment, and its terms as JSON. */
export const POSTINGS_SQL = `
  SELECT sequences FROM posting
  WHERE tenant = ? AND segment = ? AND term IN (SELECT value FROM json_each(?))`;

type Segment = { readonly first: number; readonly last: number };

/** Deliveries with one of several terms, a list for each term: as distances from their segment's first. */
type Postings = readonly Uint32Array[];

/** Finds deliveries by the index alone: a segment after the other. */
export class SegmentSearch {
  readonly #segments;
  readonly #postings;

  constructor(database: DatabaseSync) {
    this.#segments = {
      oldest: database.prepare(segmentsSql('oldest')),
      newest: database.prepare(segmentsSql('newest')),
    };
    this.#postings = database.prepare(POSTINGS_SQL);
  }

  /**
   * Adds to `found` until it has `limit`, in the order of `take`, one segment a step. Returns the part of the span that it
   * has not looked at.
   */
  *find(
    tenant: number,
    filter: DeliveryFilter,
    span: SequenceRange,
    scanBudget: ScanBudget,
    found: number[],
  ): Generator<void, SequenceRange> {
    const { limit, take } = span;
    // The list with the fewest terms first: where a segment has none of them, the others are not looked up.
    const wanted = queryTerms(filter).sort((one, other) => one.length - other.length);
    let left = span;
    while (!isEmpty(left)) {
      const segments = this.#segmentsOf(tenant, left);
      for (const segment of segments) {
        const { low, high } = left;
        const within = this.#inSegment(tenant, segment, wanted, scanBudget)
          .filter((sequence) => sequence > low && sequence < high)
          .sort(take === 'oldest' ? (a, b) => a - b : (a, b) => b - a);
        found.push(...within.slice(0, limit - found.length));
        left =
          take === 'oldest'
            ? { ...left, low: Math.max(low, segment.last) }
            : { ...left, high: Math.min(high, segment.first) };
        if (found.length >= limit || scanBudget.isSpent || isEmpty(left)) return left;
        yield;
      }
      if (segments.length < SEGMENTS_AT_ONCE) break;
    }
    return take === 'oldest' ? { ...left, low: left.high - 1 } : { ...left, high: left.low + 1 };
  }

  #segmentsOf(tenant: number, { low, high, take }: SequenceRange): Segment[] {
    const rows = this.#segments[take].all(tenant, low + 1, high - 1);
    return rows.map(({ first, last }) => ({ first: Number(first), last: Number(last) }));
  }

  /** The deliveries that have a term of each list. The rarest list comes first, the others narrow it down. */
  #inSegment(
    tenant: number,
    { first, last }: Segment,
    wanted: readonly (readonly string[])[],
    scanBudget: ScanBudget,
  ): number[] {
    const lists: Postings[] = [];
    for (const terms of wanted) {
      const list = this.#withAny(tenant, first, terms, scanBudget);
      if (list.length === 0) return [];
      lists.push(list);
    }
    const [shortest = [], ...others] = lists.sort((one, other) => lengthOf(one) - lengthOf(other));
    let found = shortest.flatMap((offsets) => [...offsets]);
    for (const list of others) {
      const isIn = new Uint8Array(last - first + 1);
      for (const offsets of list) for (const offset of offsets) isIn[offset] = 1;
      found = found.filter((offset) => isIn[offset] === 1);
    }
    // Entries that an unfinished, longer segment left behind may lie beyond the end.
    return found.map((offset) => first + offset).filter((sequence) => sequence <= last);
  }

  /** The terms are of one kind, of which a delivery has one: or it is a single term. So none comes twice. */
  #withAny(tenant: number, first: number, terms: readonly string[], scanBudget: ScanBudget): Postings {
    const list = this.#postings
      .all(tenant, first, JSON.stringify(terms))
      .map(({ sequences }) =>
        sequences instanceof Uint8Array ? unpackPostings(sequences) : new Uint32Array(),
      );
    scanBudget.take(terms.length + Math.ceil(lengthOf(list) / NUMBERS_PER_SCAN));
    return list;
  }
}

const lengthOf = (list: Postings): number => list.reduce((sum, { length }) => sum + length, 0);
