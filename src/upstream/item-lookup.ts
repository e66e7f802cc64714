import type { AnyList, PageRef } from './list-loader.ts';
import { type ListDefinition, lookupOf, type OperationLookups } from './list-lookup.ts';
import type { Details } from './page.ts';
import { type ChainLookup, MalformedFieldError } from './parse/fields.ts';
import { createItemParser } from './parse/page-parser.ts';
import type { RecordTable } from './parse/record.ts';

/** What one lookup of the service is whose answer is one thing, such as what is known of a token. */
type ItemDefinition<Key extends AnyList, Value> = Pick<
  ListDefinition<Key, RecordTable, string>,
  'name' | 'path' | 'timesHead' | 'supportedAs'
> & {
  /** All parameters of the request. One that is undefined is not sent. */
  readonly query: (key: Key, details: ReadonlySet<string>) => Readonly<Record<string, string | undefined>>;
  /** Compute units of one request. */
  readonly price: number;
  /**
   * Reads the body of an answer. Returns null for one that says that there is no such thing, as the null does that stands
   * for a 404. Throws MalformedFieldError.
   */
  readonly read: (body: unknown) => Value | null;
};

/** What is known of such a lookup without its types. */
export type AnyItemLookup = {
  readonly name: string;
  readonly timesHead?: number;
  readonly supportedAs?: ChainLookup;
  readonly price: number;
};

/** One lookup whose answer is one thing. Answers are kept and shared as the pages of lists are. */
export type ItemLookup<Key extends AnyList, Value> = AnyItemLookup & {
  /** Resolves with null where there is no such thing. Reads of one operation that differ only in details become one request. */
  read(operation: OperationLookups, key: Key, details: Details): Promise<Value | null>;
};

const ANSWER: PageRef = { offset: null, follows: null, freshness: 'head' };

export const itemLookup = <Key extends AnyList, Value>(
  definition: ItemDefinition<Key, Value>,
): ItemLookup<Key, Value> => {
  const { price, query, read } = definition;
  const lookup = lookupOf(
    {
      ...definition,
      query: (key: Key, details) => ({ limit: undefined, ...query(key, details) }),
      price: { perRequest: price },
      pageSizes: { newest: 1, older: 1 },
      bodyOfAbsent: 'null',
    },
    createItemParser<Value>((body) => (body === null ? null : read(body))),
  );
  return {
    ...definition,
    async read(operation, key, details) {
      const { items } = await lookup.read(operation, key, details)(ANSWER);
      const value = items.length === 0 ? null : items.value(0);
      if (value instanceof MalformedFieldError) throw value;
      return value;
    },
  };
};
