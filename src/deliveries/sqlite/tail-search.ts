import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { DeliveryFilter } from '../log.ts';
import { isEmpty, type Span } from './span.ts';

type Condition = { readonly sql: string; readonly value: string };

/** Finds deliveries that are in no index yet: by looking at each of the span. */
export class TailSearch {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** In the order of `take`. */
  find(tenant: number, filter: DeliveryFilter, span: Span): number[] {
    if (isEmpty(span)) return [];
    const { sql, values } = tailStatement(filter, span.take);
    const rows = this.#prepare(sql).all(tenant, span.low, tenant, span.high, ...values, span.limit);
    return rows.map((row) => Number(row.sequence));
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
export function tailStatement(
  filter: DeliveryFilter,
  take: Span['take'],
): { readonly sql: string; readonly values: readonly string[] } {
  const conditions = conditionsOf(filter);
  const sql = `
    SELECT sequence FROM delivery
    WHERE id > (? << 40 | ?) AND id < (? << 40 | ?) ${conditions.map(({ sql }) => `AND ${sql}`).join(' ')}
    ORDER BY id ${take === 'oldest' ? 'ASC' : 'DESC'} LIMIT ?`;
  return { sql, values: conditions.map(({ value }) => value) };
}

function conditionsOf({ address, webhookIds, chainIds, types }: DeliveryFilter): Condition[] {
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
}
