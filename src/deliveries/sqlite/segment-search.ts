import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryFilter } from '../log.ts';
import { unpackPostings } from './postings.ts';
import { isEmpty, type Span } from './span.ts';
import { wantedTerms } from './terms.ts';

/** Takes the tenant, the lowest and the highest sequence that shall be in one of them. */
export const segmentsSql = (take: Span['take']): string => `
  SELECT first FROM segment
  WHERE tenant = ?1 AND first <= ?3
    AND first >= ifnull((SELECT max(first) FROM segment WHERE tenant = ?1 AND first <= ?2), 0)
  ORDER BY first ${take === 'oldest' ? 'ASC' : 'DESC'}`;

/** Takes the tenant, the segment, and its terms as JSON. */
export const POSTINGS_SQL = `
  SELECT sequences FROM posting
  WHERE tenant = ? AND segment = ? AND term IN (SELECT value FROM json_each(?))`;

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

  /** In the order of `take`. */
  find(tenant: number, filter: DeliveryFilter, span: Span): number[] {
    if (isEmpty(span)) return [];
    const { low, high, limit, take } = span;
    const wanted = wantedTerms(filter);
    const found: number[] = [];
    for (const { first } of this.#segments[take].iterate(tenant, low + 1, high - 1)) {
      const within = this.#inSegment(tenant, Number(first), wanted).filter(
        (sequence) => sequence > low && sequence < high,
      );
      found.push(...within.sort(take === 'oldest' ? (a, b) => a - b : (a, b) => b - a).slice(0, limit));
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  #inSegment(tenant: number, first: number, wanted: readonly (readonly string[])[]): number[] {
    const [leading = [], ...others] = wanted;
    let found = this.#withAny(tenant, first, leading);
    for (const terms of others) {
      if (found.length === 0) break;
      const those = new Set(this.#withAny(tenant, first, terms));
      found = found.filter((sequence) => those.has(sequence));
    }
    return found;
  }

  /** The terms are of one kind, of which a delivery has one: or it is a single term. So none comes twice. */
  #withAny(tenant: number, first: number, terms: readonly string[]): number[] {
    return this.#postings
      .all(tenant, first, JSON.stringify(terms))
      .flatMap(({ sequences }) => (sequences instanceof Uint8Array ? unpackPostings(sequences, first) : []));
  }
}
