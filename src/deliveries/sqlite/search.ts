import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Steps } from '../../lib/time-slices.ts';
import { type DeliveryFilter, queryTerms } from '../log/log.ts';
import { type Found, isEmpty, type SequenceRange } from '../log/page.ts';
import { unpackPostings } from './segment-builder.ts';

/** Counts the index entries and deliveries that one search reads, against its limit. */
class ScanBudget {
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

/** One of the two ways to search: by the segments of the index, or by reading deliveries. */
type Searcher = {
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
export class SqliteSearch {
  readonly #segments: Searcher;
  readonly #tail: Searcher;

  /** `segments` searches the deliveries that are in segments, `tail` those after them. */
  constructor(segments: Searcher, tail: Searcher) {
    this.#segments = segments;
    this.#tail = tail;
  }

  /**
   * Searches the range, and ends early once about `maxScanned` were read. Up to sequence `indexed` it reads the index alone. After it
   * there are a few thousand deliveries at most: it reads each, also those that were indexed since the search began.
   */
  *find(
    tenant: number,
    indexed: number,
    filter: DeliveryFilter,
    range: SequenceRange,
    maxScanned: number,
  ): Steps<Found> {
    const { take, limit, low, high } = range;
    const budget = new ScanBudget(maxScanned);
    const middle = Math.min(Math.max(indexed, low), high - 1);
    const inSegments = { searcher: this.#segments, part: { ...range, high: middle + 1 } };
    const inTail = { searcher: this.#tail, part: { ...range, low: middle } };
    const sequences: number[] = [];
    for (const { searcher, part } of take === 'oldest' ? [inSegments, inTail] : [inTail, inSegments]) {
      const left = isEmpty(part) ? part : yield* searcher.find(tenant, filter, part, budget, sequences);
      if (sequences.length >= limit) break;
      const cutAt = take === 'oldest' ? left.low : left.high;
      const isComplete = take === 'oldest' ? cutAt >= high - 1 : cutAt <= low + 1;
      if (budget.isSpent && !isComplete) return { sequences, cutAt, scanned: budget.spent };
    }
    return { sequences, cutAt: null, scanned: budget.spent };
  }
}

type Condition = { readonly sql: string; readonly value: string };

/** How many deliveries one step reads. A step that takes long halves it, since a row may have megabytes of addresses. */
const FIRST_WINDOW = 16;
const MAX_WINDOW = 128;
const LONG_MS = 1;

/** Finds deliveries that are in no segment yet, by reading each delivery of the range. */
export class TailSearch implements Searcher {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Reads one window of deliveries a step. */
  *find(
    tenant: number,
    filter: DeliveryFilter,
    range: SequenceRange,
    budget: ScanBudget,
    found: number[],
  ): Steps<SequenceRange> {
    const { sql, values } = tailStatement(filter, range.take);
    const statement = this.#prepare(sql);
    const oldest = range.take === 'oldest';
    let left = range;
    let window = FIRST_WINDOW;
    while (!isEmpty(left)) {
      const { low, high, limit } = left;
      const [from, to] = oldest
        ? [low, Math.min(high, low + window + 1)]
        : [Math.max(low, high - window - 1), high];
      const startedAt = performance.now();
      const rows = statement.all(tenant, from, tenant, to, ...values, limit - found.length);
      for (const { sequence } of rows) found.push(Number(sequence));
      budget.spend(to - from - 1);
      const tookLong = performance.now() - startedAt > LONG_MS;
      window = tookLong ? Math.max(1, window >> 1) : Math.min(MAX_WINDOW, window << 1);
      left = oldest ? { ...left, low: to - 1 } : { ...left, high: from + 1 };
      if (found.length >= limit || budget.isSpent) return left;
      yield;
    }
    return left;
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Parameters: the tenant, `low`, the tenant again, `high`, then `values`, then the limit. Exported for its test. */
export const tailStatement = (
  filter: DeliveryFilter,
  take: SequenceRange['take'],
): { readonly sql: string; readonly values: readonly string[] } => {
  const conditions = conditionsOf(filter);
  const sql = `
    SELECT sequence FROM delivery
    WHERE id > (? << 40 | ?) AND id < (? << 40 | ?) ${conditions.map(({ sql }) => `AND ${sql}`).join(' ')}
    ORDER BY id ${take === 'oldest' ? 'ASC' : 'DESC'} LIMIT ?`;
  return { sql, values: conditions.map(({ value }) => value) };
};

const conditionsOf = ({ addresses = [], webhookIds, chainIds, types }: DeliveryFilter): Condition[] => {
  const oneOf = (column: string, values: readonly (string | number)[] | undefined): Condition[] =>
    values === undefined
      ? []
      : [{ sql: `${column} IN (SELECT value FROM json_each(?))`, value: JSON.stringify(values) }];
  return [
    ...oneOf('webhook', webhookIds),
    ...oneOf('chain', chainIds),
    ...oneOf('type', types),
    // All addresses have the same length, and "0x" occurs only at an address's start: a text that contains it has it.
    ...addresses.map((list) => ({
      sql: 'EXISTS (SELECT 1 FROM json_each(?) WHERE instr(addresses, value))',
      value: JSON.stringify(list),
    })),
  ];
};

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
