import type { DatabaseSync } from 'node:sqlite';
import type { Steps } from '../../../lib/fair-slices.ts';
import { type DeliveryFilter, queryTerms } from '../../log/log.ts';
import { isEmpty, type SequenceRange } from '../../log/page.ts';
import type { ScanBudget, Searcher } from './search.ts';
import { unpackPostings } from './segment-builder.ts';

const SEGMENTS_AT_ONCE = 32;

/** To read this many numbers of a posting list takes about as long as to look up a term. */
const NUMBERS_PER_SCAN = 256;

/** Parameters: the tenant, then the lowest and the highest sequence that a segment must contain. Exported for its test. */
export const segmentsSql = (take: SequenceRange['take']): string => `
  SELECT first, last FROM segment
  WHERE tenant = ?1 AND first <= ?3
    AND first >= ifnull((SELECT max(first) FROM segment WHERE tenant = ?1 AND first <= ?2), 0)
  ORDER BY first ${take === 'oldest' ? 'ASC' : 'DESC'} LIMIT ${SEGMENTS_AT_ONCE}`;

/** Parameters: the tenant, the segment's first sequence, and the terms as a JSON list. Exported for its test. */
export const POSTINGS_SQL = `
  SELECT sequences FROM posting
  WHERE tenant = ? AND segment = ? AND term IN (SELECT value FROM json_each(?))`;

/** Parameters: the tenant, the segment's first sequence, and the term. Most searches are for one address. */
export const POSTING_SQL = 'SELECT sequences FROM posting WHERE tenant = ? AND segment = ? AND term = ?';

type Segment = { readonly first: number; readonly last: number };

/** The deliveries that have one of several terms: a list for each term, as distances from the segment's first sequence. */
type Postings = readonly Uint32Array[];

/** Finds deliveries by the index alone, one segment after the other. */
export class SegmentSearch implements Searcher {
  readonly #segments;
  readonly #posting;
  readonly #postings;

  constructor(database: DatabaseSync) {
    this.#segments = {
      oldest: database.prepare(segmentsSql('oldest')),
      newest: database.prepare(segmentsSql('newest')),
    };
    this.#posting = database.prepare(POSTING_SQL);
    this.#postings = database.prepare(POSTINGS_SQL);
  }

  /** Searches one segment a step. */
  *find(
    tenant: number,
    filter: DeliveryFilter,
    range: SequenceRange,
    budget: ScanBudget,
    found: number[],
  ): Steps<SequenceRange> {
    const { limit, take } = range;
    // The list with the fewest terms is looked up first. If a segment has none of them, the other lists are not needed.
    const lists = queryTerms(filter).sort((one, other) => one.length - other.length);
    let left = range;
    while (!isEmpty(left)) {
      const segments = this.#segmentsOf(tenant, left);
      for (const segment of segments) {
        const { low, high } = left;
        const matches = this.#matchesIn(tenant, segment, lists, budget)
          .filter((sequence) => sequence > low && sequence < high)
          .sort(take === 'oldest' ? (a, b) => a - b : (a, b) => b - a);
        found.push(...matches.slice(0, limit - found.length));
        left =
          take === 'oldest'
            ? { ...left, low: Math.max(low, segment.last) }
            : { ...left, high: Math.min(high, segment.first) };
        if (found.length >= limit || budget.isSpent || isEmpty(left)) return left;
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

  /** Intersects the lists: the shortest one first, then the others narrow it down. */
  #matchesIn(
    tenant: number,
    { first, last }: Segment,
    lists: readonly (readonly string[])[],
    budget: ScanBudget,
  ): number[] {
    const all: Postings[] = [];
    for (const terms of lists) {
      const postings = this.#postingsOf(tenant, first, terms, budget);
      if (postings.length === 0) return [];
      all.push(postings);
    }
    const [shortest = [], ...others] = all.sort((one, other) => lengthOf(one) - lengthOf(other));
    // A delivery may have several addresses of one list.
    let matches = [...new Set(shortest.flatMap((offsets) => [...offsets]))];
    for (const postings of others) {
      const isIn = new Uint8Array(last - first + 1);
      for (const offsets of postings) for (const offset of offsets) isIn[offset] = 1;
      matches = matches.filter((offset) => isIn[offset] === 1);
    }
    // An unfinished, longer segment may have left postings beyond this segment's end.
    return matches.map((offset) => first + offset).filter((sequence) => sequence <= last);
  }

  /** Returns the deliveries that have one of the terms; with several addresses, a delivery may be there for each of them. */
  #postingsOf(tenant: number, first: number, terms: readonly string[], budget: ScanBudget): Postings {
    const [only = ''] = terms;
    const rows =
      terms.length === 1
        ? this.#posting.all(tenant, first, only)
        : this.#postings.all(tenant, first, JSON.stringify(terms));
    const postings = rows.map(({ sequences }) =>
      sequences instanceof Uint8Array ? unpackPostings(sequences) : new Uint32Array(),
    );
    budget.spend(terms.length + Math.ceil(lengthOf(postings) / NUMBERS_PER_SCAN));
    return postings;
  }
}

const lengthOf = (postings: Postings): number => postings.reduce((sum, { length }) => sum + length, 0);
