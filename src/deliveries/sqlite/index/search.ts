import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Steps } from '../../../lib/fair-slices.ts';
import type { DeliveryFilter } from '../../log/log.ts';
import { type Found, isEmpty, type SequenceRange } from '../../log/page.ts';

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
