import { z } from 'zod';
import type { Fault } from './errors.ts';
import type { ListOperation, Query } from './operations.ts';
import { type Cursor, isInOrder } from './order.ts';

export type Page<Row> = {
  /** In the explorer's order, without rows that are repeated or in no block yet. A page without items need not be the last. */
  readonly items: readonly Row[];
  /** Null at the end of the list. */
  readonly next: Cursor | null;
  /** Whether the explorer says that rows are missing, which it has not processed yet, or which can't be reached. */
  readonly isIncomplete: boolean;
};

/**
 * How an explorer pages, by its version. In 11 `items_count` is a running count, part of the cursor; since 12 it is the size of the
 * page that a request asks for. Null while it is not known.
 */
export type Dialect = 11 | 12 | null;

/** The most rows that version 12 gives on a page, unless its operator has set another limit. */
const MAX_ITEMS = 100;

/** The rows that can be reached by numbered pages. */
const MAX_REACHED = 10_000;

/** The dialect that a cursor shows. */
export const dialectOf = (next: Cursor): Dialect => ('items_count' in next ? 11 : 12);

/** All parameters of the request for a page: own parameters go with each page, since no dialect keeps all of them in its cursors. */
export const queryOf = (own: Query, cursor: Cursor | null, dialect: Dialect, limit: number): Query => ({
  ...Object.fromEntries(
    Object.entries(cursor ?? {}).flatMap(([name, value]) =>
      value === null || (name === 'items_count' && dialect !== 11) ? [] : [[name, String(value)]],
    ),
  ),
  ...own,
  ...(dialect === 12 && { items_count: String(Math.max(1, Math.min(MAX_ITEMS, limit))) }),
});

const cursor = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

const keysetBody = z.object({
  items: z.array(z.unknown()),
  next_page_params: cursor.nullable(),
  /** Of internal transactions since version 12. */
  meta: z.object({ status: z.number() }).optional().catch(undefined),
});

const numberedBody = z.object({ result: z.array(z.unknown()) });

/** What a reader throws for an answer that is not what it must be. */
export class MalformedError extends Error {
  readonly fault: Fault;

  constructor(where: string) {
    super(`unexpected at ${where}`);
    this.fault = { kind: 'malformed', where };
  }
}

/** Checks a value. `place` is where it is in the answer. */
export const parseAt = <Value>(schema: z.ZodType<Value>, value: unknown, place: string): Value => {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [first] = error.issues;
  // Keys of cursors are the explorer's own words.
  const path = place === '' ? (first?.path ?? []).slice(0, 1) : (first?.path ?? []);
  throw new MalformedError([place, ...path].filter((part) => part !== '').join('.') || 'the body');
};

/** Reads the page that was asked for by `sent`. Throws MalformedError. */
export const readPage = <Parameters, Row>(
  operation: ListOperation<Parameters, Row>,
  body: unknown,
  sent: { readonly cursor: Cursor | null; readonly query: Query },
): Page<Row> =>
  operation.style === 'etherscan' ? readNumbered(operation, body, sent) : readKeyset(operation, body, sent);

const readKeyset = <Parameters, Row>(
  operation: ListOperation<Parameters, Row>,
  body: unknown,
  sent: { readonly cursor: Cursor | null },
): Page<Row> => {
  const { items, next_page_params: next, meta } = parseAt(keysetBody, body, '');
  // It would be the same page again and again.
  if (next !== null && placeOf(next) === placeOf(sent.cursor ?? {}))
    throw new MalformedError('next_page_params');
  // A cursor is that of the last row.
  if (next !== null && items.length === 0) throw new MalformedError('items');
  const rows = readRows(operation, items);
  const { order, isNamed = () => false } = operation;
  const isRepeated = rows.some((row) => sent.cursor !== null && isNamed(row, sent.cursor));
  // Who goes on from the last of them would pass over some, or never come to an end.
  if (isRepeated || (order !== undefined && !isInOrder(order, rows, sent.cursor)))
    throw new MalformedError('the order of items');
  return { items: rows, next, isIncomplete: meta?.status === 2 };
};

/** What of a cursor says where it is. */
const placeOf = (cursor: Cursor): string =>
  JSON.stringify(
    Object.entries(cursor)
      .filter(([name, value]) => name !== 'items_count' && value !== null)
      .map(([name, value]) => [name, String(value)])
      .toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)),
  );

/** The page of the route in the style of Etherscan. Its cursor is the number of the page, and the end an empty one. */
const readNumbered = <Parameters, Row>(
  operation: ListOperation<Parameters, Row>,
  body: unknown,
  { query }: { readonly query: Query },
): Page<Row> => {
  const { result } = parseAt(numberedBody, body, '');
  const page = Number(query.page ?? 1);
  const isReachable = (page + 1) * Number(query.offset) <= MAX_REACHED;
  const rows = readRows(operation, result);
  if (operation.order !== undefined && !isInOrder(operation.order, rows, null))
    throw new MalformedError('the order of result');
  return {
    items: rows,
    next: result.length > 0 && isReachable ? { page: page + 1 } : null,
    isIncomplete: result.length > 0 && !isReachable,
  };
};

const readRows = <Parameters, Row>(
  { row, identity, hasPending = false }: ListOperation<Parameters, Row>,
  items: readonly unknown[],
): readonly Row[] => {
  const rows = new Map<string, Row>();
  items.forEach((item, at) => {
    if (hasPending && isPending(item)) return;
    const read = parseAt(row, item, `items.${at}`);
    if (!rows.has(identity(read))) rows.set(identity(read), read);
  });
  return [...rows.values()];
};

const pending = z.object({ block_number: z.null(), timestamp: z.null() });

/** Whether a row is of a transaction that is in no block yet. */
export const isPending = (item: unknown): boolean => pending.safeParse(item).success;
