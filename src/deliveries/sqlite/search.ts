import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { DeliveryFilter } from '../log.ts';
import { keyOf } from './address-key.ts';

/** The sequences above `low` and below `high`, of which at most `limit` are wanted, from the end that `take` names. */
export type Span = {
  readonly low: number;
  readonly high: number;
  readonly limit: number;
  readonly take: 'oldest' | 'newest';
};

type Condition = { readonly sql: string; readonly value: string | Uint8Array; readonly index: string | null };

/** Finds the deliveries that a filter asks for, without reading one. */
export class Search {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** In the order of `take`. Looks at no more than the span's sequences. */
  find(tenant: number, filter: DeliveryFilter, { low, high, limit, take }: Span): number[] {
    const { sql, values } = searchStatement(filter, take);
    const rows = this.#prepare(sql).all(tenant, low, high, ...values, limit);
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

/** Takes the tenant, `low` and `high`, then `values`, then the limit. For a filter that asks for something. */
export function searchStatement(
  filter: DeliveryFilter,
  take: Span['take'],
): { readonly sql: string; readonly values: readonly (string | Uint8Array)[] } {
  const conditions = conditionsOf(filter);
  return { sql: searchSql(conditions, take), values: conditions.map(({ value }) => value) };
}

export const isFiltering = (filter: DeliveryFilter): boolean => conditionsOf(filter).length > 0;

/** The most selective first: its index leads, the others are tested on what it finds. */
function conditionsOf({ address, webhookIds, chainIds, types }: DeliveryFilter): Condition[] {
  const within = (column: string, values: readonly (string | number)[] | undefined): Condition[] => {
    if (values === undefined) return [];
    const sql = `d.${column} IN (SELECT value FROM json_each(?))`;
    return [{ sql, value: JSON.stringify(values), index: `delivery_by_${column}` }];
  };
  return [
    ...(address === undefined ? [] : [{ sql: 'a.address = ?', value: keyOf(address), index: null }]),
    ...within('webhook', webhookIds),
    ...within('chain', chainIds),
    ...within('type', types),
  ];
}

function searchSql(conditions: readonly Condition[], take: Span['take']): string {
  const [leading, ...others] = conditions;
  const rows = leading?.index ? `delivery AS d INDEXED BY ${leading.index}` : 'address AS a';
  // A cross join is SQLite's way to fix the order: first the address's sequences, then their deliveries.
  const joined = 'CROSS JOIN delivery AS d ON d.tenant = a.tenant AND d.sequence = a.sequence';
  const at = leading?.index ? 'd' : 'a';
  return `SELECT ${at}.sequence AS sequence FROM ${rows} ${at === 'a' && others.length > 0 ? joined : ''}
    WHERE ${at}.tenant = ? AND ${at}.sequence > ? AND ${at}.sequence < ?
    AND ${conditions.map(({ sql }) => sql).join(' AND ')}
    ORDER BY ${at}.sequence ${take === 'oldest' ? 'ASC' : 'DESC'} LIMIT ?`;
}
