import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { DeliveryFilter } from '../../log/log.ts';
import type { ScanBudget } from './scan-budget.ts';
import { isEmpty, type SequenceRange } from './sequence-range.ts';

type Condition = { readonly sql: string; readonly value: string };

/** How many deliveries one step looks at: fewer when a step takes long, since each may have megabytes of addresses. */
const FIRST_WINDOW = 16;
const MAX_WINDOW = 128;
const LONG_MS = 1;

/** Finds deliveries that are in no segment yet, by looking at each of the span. */
export class TailSearch {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** As `SegmentSearch.find`. */
  *find(
    tenant: number,
    filter: DeliveryFilter,
    span: SequenceRange,
    scanBudget: ScanBudget,
    found: number[],
  ): Generator<void, SequenceRange> {
    const { sql, values } = tailStatement(filter, span.take);
    const statement = this.#prepare(sql);
    const oldest = span.take === 'oldest';
    let left = span;
    let window = FIRST_WINDOW;
    while (!isEmpty(left)) {
      const { low, high, limit } = left;
      const [from, to] = oldest
        ? [low, Math.min(high, low + window + 1)]
        : [Math.max(low, high - window - 1), high];
      const begunAt = performance.now();
      const rows = statement.all(tenant, from, tenant, to, ...values, limit - found.length);
      for (const { sequence } of rows) found.push(Number(sequence));
      scanBudget.take(to - from - 1);
      const tookLong = performance.now() - begunAt > LONG_MS;
      window = tookLong ? Math.max(1, window >> 1) : Math.min(MAX_WINDOW, window << 1);
      left = oldest ? { ...left, low: to - 1 } : { ...left, high: from + 1 };
      if (found.length >= limit || scanBudget.isSpent) return left;
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

/** Takes the tenant, `low`, the tenant again and `high`, then `values`, then the limit. */
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

const conditionsOf = ({ address, webhookIds, chainIds, types }: DeliveryFilter): Condition[] => {
  const within = (column: string, values: readonly (string | number)[] | undefined): Condition[] =>
    values === undefined
      ? []
      : [{ sql: `${column} IN (SELECT value FROM json_each(?))`, value: JSON.stringify(values) }];
  return [
    ...within('webhook', webhookIds),
    ...within('chain', chainIds),
    ...within('type', types),
    // All are equally long and begin with what is not within one: so what contains it has it.
    ...(address === undefined ? [] : [{ sql: 'instr(addresses, ?)', value: address }]),
  ];
};
