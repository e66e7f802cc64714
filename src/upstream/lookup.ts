import type { Clock } from '../lib/deadlines.ts';
import type { RawObject } from '../lib/json/exact-json.ts';
import type { CacheBudget, InvalidationBus } from './cache/entries.ts';
import { createPageCache, type PageObserver } from './cache/page-cache.ts';
import type { SharedPages } from './cache/single-flight.ts';
import type { UpstreamClient } from './client/client.ts';
import type { ChainPricing, RequestScope } from './client/request.ts';
import type { IndexedList } from './kernel/compile-list.ts';
import type { PageKernel } from './kernel/page-kernel.ts';
import {
  type AnyList,
  createListLoader,
  type Freshness,
  type ListLoader,
  type ListResource,
  NEWEST,
  type PageRead,
  type ReadPage,
  type ToldLists,
  type WatchedLists,
} from './list-loader.ts';
import { type Details, namesIn } from './page.ts';
import { sizeOfPage } from './page-sizes.ts';
import type { AskedChains, ChainIdOf } from './parse/asked-chains.ts';
import { type ChainLookup, MalformedFieldError } from './parse/fields.ts';
import { type ListOrder, UNORDERED } from './parse/list-order.ts';
import { createItemParser, createPageParser, type PageParser } from './parse/page-parser.ts';
import { type ListedRecord, type RecordTable, type RecordValue, readListed } from './parse/record.ts';

/** What a request costs, whatever its page holds: for each request, or for each chain that it asks for. */
type Price = { readonly perRequest: number } | { readonly perChain: number };

/** What one list of the service is. Everything that concerns all lists is made of this: see `src/lookups/registry.ts`. */
type ListDefinition<List extends AnyList, Table extends RecordTable, Subject extends string> = {
  /** One word, for prices, cursors, cache keys, metrics, spans, log lines and variables. */
  readonly name: string;
  readonly path: (list: List) => readonly string[];
  /** Parameters beside `limit`, `chain_ids` and `offset`. One that is undefined is not sent. */
  readonly query?: (list: List, details: ReadonlySet<string>) => Readonly<Record<string, string | undefined>>;
  /** The details that upstream adds on request, each with the fields that need it: selecting one anywhere below asks for it. */
  readonly details: Readonly<Record<string, readonly string[]>>;
  /**
   * As `details`, for those that are in each page of most services, and cost others so much that they leave them out of a request
   * that says `name=false`. Default: none.
   */
  readonly optional?: Readonly<Record<string, readonly string[]>>;
  readonly price: Price;
  /** Upstream's largest pages: see `sizeOfPage`. */
  readonly pageSizes: { readonly newest: number; readonly older: number };
  /** The largest `first` of a client. */
  readonly maxItems: number;
  /**
   * How many times CACHE_HEAD_MS its newest page is fresh, unless CACHE_NEWEST_MS names it. Default: CACHE_HEAD_MS itself,
   * whatever CACHE_NEWEST_MS says.
   */
  readonly timesHead?: number;
  /**
   * The name of the lookup whose freshness this one shares: its newest page stays fresh as long as that one's. Default: this one.
   */
  readonly freshAs?: string;
  /**
   * The types of webhooks whose deliveries together tell each change of the list. Default: none, and pages expire by age alone,
   * unless the service itself tells of changes.
   */
  readonly watchedBy?: readonly ('TRANSACTIONS' | 'ACTIVITIES' | 'BALANCES')[];
  /** What changes of a list name. Default: its address. */
  readonly subjectOf?: (list: List) => string;
  /** What the service calls it where it lists which chains it supports. Default: it supports all. */
  readonly supportedAs?: ChainLookup;
  /** Whether one answer holds all items, so that a filter never asks for more pages. Default: false. */
  readonly isWhole?: boolean;
  /** The member of a page that has the items. */
  readonly itemsField: string;
  /** How one item is read. */
  readonly table: Table;
  /**
   * Reads an item that no table describes: the table then says what this returns, and pages are read from parsed JSON. Throws
   * MalformedFieldError. Default: the table is how an item is read.
   */
  readonly read?: (raw: RawObject, subject: string) => ListedRecord<Table, Subject>;
  /** With `read`: the member of a page that says more than its items, such as their sum. It becomes `Page.more`. */
  readonly moreField?: string;
  /** The property of an item that repeats the subject of its list, the address of the wallet. It is not in the table. */
  readonly subject: Subject;
  /** The required properties that identify an item on whichever page it is. Four at most. */
  readonly identity: readonly (keyof RecordValue<Table> & string)[];
  /**
   * For a list in which different items have equal `identity`, such as those of one transaction, and follow each other: what
   * tells most of them apart. Equal ones are counted. Each may be null. Default: `identity` is of one item.
   */
  readonly content?: readonly (keyof RecordValue<Table> & string)[];
  /** The order that upstream promises. */
  readonly order: ListOrder<keyof RecordValue<Table> & string>;
  /** Another name of a member of an item, by its own name, which some deployments send instead. */
  readonly otherNames?: Readonly<Record<string, string>>;
  /** The body in place of a 404, where that means that the list does not exist. Default: a 404 is an error. */
  readonly bodyOfAbsent?: string;
};

/** What requests the pages of a lookup. */
type RequestDefinition<List extends AnyList> = Pick<
  ListDefinition<List, RecordTable, string>,
  'name' | 'path' | 'query' | 'optional' | 'price' | 'pageSizes' | 'freshAs' | 'watchedBy' | 'subjectOf'
> & {
  readonly isWhole?: boolean;
  readonly order?: ListOrder;
  readonly bodyOfAbsent?: string | null;
};

/** What is known of a lookup without its types. */
export type AnyLookup = IndexedList & {
  readonly name: string;
  readonly details: Readonly<Record<string, readonly string[]>>;
  readonly optional?: Readonly<Record<string, readonly string[]>>;
  readonly price: Price;
  readonly pageSizes: { readonly newest: number; readonly older: number };
  readonly maxItems: number;
  readonly timesHead?: number;
  readonly watchedBy?: readonly string[];
  readonly supportedAs?: ChainLookup;
  readonly isWhole?: boolean;
  readonly parser: PageParser<object>;
  /**
   * Compute units of the requests for a list's first items when upstream fills its pages. `most` is the most items of a page. Default:
   * as many as are asked for.
   */
  priceOf(
    items: number,
    chains: string | null,
    pricing: Pick<ChainPricing, 'priceOf'>,
    most?: number,
  ): number;
};

/** One list of the service, as a value. It keeps its own state of each gateway and of each operation. */
export type ListLookup<List extends AnyList, Value> = AnyLookup & {
  readonly parser: PageParser<Value>;
  /** Reads the pages of a list. Reads of one operation that differ only in limit or details become one request. */
  read(operation: OperationLookups, list: List, details: Details): ReadPage<Value>;
  /** Whether a read of the newest page would cause no request: it is fresh in this gateway's memory, or on its way. */
  isAtHand(operation: OperationLookups, list: List, details: Details): boolean;
};

/**
 * The optional details that the service leaves out of requests that say so, with the most items of a page that has them; null for as
 * many as without them.
 */
export type LeftOut = ReadonlyMap<string, number | null>;

/** What the lookups of one gateway share. */
export type LookupParts = {
  readonly client: UpstreamClient;
  /** Null where the plain parser reads all pages. */
  readonly kernel: PageKernel | null;
  readonly pricing: ChainPricing;
  readonly cacheBudget: CacheBudget;
  readonly invalidation: InvalidationBus;
  /** Null where no other gateway has pages. */
  readonly sharedPages: SharedPages | null;
  /** Null where the gateway can't know what is delivered to it. */
  readonly watched: WatchedLists | null;
  readonly told: ToldLists;
  readonly freshnessOf: (lookup: string) => Freshness;
  readonly chainIdOf: ChainIdOf;
  readonly leavesOut: () => LeftOut;
  /** Whether the service says that its requests cost nothing. */
  readonly isFree: () => boolean;
  readonly observerOf: (lookup: string) => PageObserver;
  readonly now: Clock;
};

/** What the lookups of one operation share. */
export type OperationLookups = {
  readonly gateway: LookupParts;
  readonly scope: RequestScope;
  /** The group of clients that share pages: all of them under the gateway's key, else those with the same key. */
  readonly cachePartition: string;
  /** The reads of the operation that have got their pages. */
  readonly reads: PageRead[];
  /** Its loaders: see `oncePerOperation`. */
  readonly loaders: Map<unknown, unknown>;
};

/**
 * Returns a function that creates something once per operation, such as its loader of one list. The operation itself keeps
 * it: V8 frees an entry of a long-lived weak map only when it collects its whole heap, and with it what the value refers to.
 */
export const oncePerOperation = <Rest extends readonly unknown[], Result>(
  create: (operation: OperationLookups, ...rest: Rest) => Result,
): ((operation: OperationLookups, ...rest: Rest) => Result) => {
  const get = (operation: OperationLookups, ...rest: Rest): Result => {
    const { loaders } = operation;
    if (!loaders.has(get)) loaders.set(get, create(operation, ...rest));
    return loaders.get(get) as Result;
  };
  return get;
};

export const listLookup = <
  List extends AnyList,
  const Table extends RecordTable,
  const Subject extends string,
>(
  definition: ListDefinition<List, Table, Subject>,
): ListLookup<List, ListedRecord<Table, Subject>> => {
  type Value = ListedRecord<Table, Subject>;
  const { table, subject, otherNames = {}, read: own } = definition;
  const read = own ?? withOtherNames(otherNames, readListed(table, subject));
  const parser = createPageParser<Value>(definition, { ...definition, read });
  if (own === undefined) return lookupOf(definition, parser);
  return lookupOf(definition, {
    ...parser,
    parseBody: (body, limit) => parser.parseBody(body, limit, null),
  });
};

const withOtherNames = <Value>(
  names: Readonly<Record<string, string>>,
  read: (raw: RawObject, subject: string) => Value,
): typeof read => {
  const entries = Object.entries(names);
  if (entries.length === 0) return read;
  return (raw, subject) => {
    const own = entries.flatMap(([name, other]) => (raw[name] == null ? [[name, raw[other]]] : []));
    return read({ ...raw, ...Object.fromEntries(own) }, subject);
  };
};

/** As `listLookup`, for a lookup whose answers have a parser of their own. */
const lookupOf = <List extends AnyList, Value, Definition extends RequestDefinition<List>>(
  definition: Definition & RequestDefinition<List>,
  parser: PageParser<Value>,
) => {
  const {
    name,
    path,
    query,
    optional = {},
    pageSizes,
    price,
    freshAs = name,
    watchedBy = null,
    subjectOf = ({ address }) => address,
    bodyOfAbsent = null,
    isWhole = false,
    order = UNORDERED,
  } = definition;
  // A service that can't be sure of the greatest items sorts those of a page.
  const isDivisible = !isWhole && order.kind !== 'descendingBy';
  const resources = new WeakMap<LookupParts, ListResource<List, Value>>();

  const priceOfRequest = (chains: string | null, pricing: Pick<ChainPricing, 'priceOf'>): number =>
    'perChain' in price ? pricing.priceOf(name, chains, price.perChain) : price.perRequest;

  const resourceOf = (gateway: LookupParts): ListResource<List, Value> => {
    const known = resources.get(gateway);
    if (known) return known;
    const { pricing, cacheBudget, invalidation, observerOf, now, sharedPages } = gateway;
    const sharesPages = sharedPages !== null;
    const resource: ListResource<List, Value> = {
      ...gateway,
      name,
      parser,
      bodyOfAbsent,
      store: createPageCache<Value>(cacheBudget, invalidation, observerOf(name), now, sharesPages),
      freshness: gateway.freshnessOf(freshAs),
      watchedBy: gateway.watched === null ? null : watchedBy,
      subjectOf,
      pageSize({ offset, items }) {
        const largest = offset === null ? pageSizes.newest : pageSizes.older;
        return isDivisible && gateway.isFree() ? sizeOfPage(items, largest) : largest;
      },
      cost: ({ chains = null }) => priceOfRequest(chains, pricing),
      request(list, { offset, limit, details }) {
        const { chains = null } = list;
        const wanted = new Set(namesIn(details));
        const left = gateway.leavesOut();
        const unwanted = Object.keys(optional).filter((detail) => left.has(detail) && !wanted.has(detail));
        const parameters: Readonly<Record<string, string | null | undefined>> = {
          limit: String(limit),
          chain_ids: chains,
          offset,
          ...query?.(list, wanted),
          ...Object.fromEntries(unwanted.map((detail) => [detail, 'false'])),
        };
        const sent = new URLSearchParams();
        for (const key in parameters) if (parameters[key] != null) sent.append(key, parameters[key]);
        return { path: path(list), query: sent };
      },
      onBilled({ chains = null }, computeUnits) {
        if ('perChain' in price) pricing.record(name, chains, computeUnits);
      },
    };
    resources.set(gateway, resource);
    return resource;
  };

  const loaderOf = oncePerOperation((operation): ListLoader<List, Value> => {
    const { gateway, scope, cachePartition, reads } = operation;
    return createListLoader(resourceOf(gateway), { scope, cachePartition, reads });
  });

  return {
    ...definition,
    parser,
    priceOf(
      items: number,
      chains: string | null,
      pricing: Pick<ChainPricing, 'priceOf'>,
      most = Number.POSITIVE_INFINITY,
    ): number {
      const [newest, older] = [Math.min(most, pageSizes.newest), Math.min(most, pageSizes.older)];
      const requests = Math.min(1, items) + Math.ceil(Math.max(0, items - newest) / older);
      return requests * priceOfRequest(chains, pricing);
    },
    read: (operation: OperationLookups, list: List, details: Details) =>
      loaderOf(operation).read(list, details),
    isAtHand: (operation: OperationLookups, list: List, details: Details) =>
      loaderOf(operation).isAtHand(list, details),
  };
};

/** What one lookup of the service is whose answer is one thing, such as what is known of a token. */
type ItemDefinition<Key extends AnyList, Value> = Pick<
  ListDefinition<Key, RecordTable, string>,
  'name' | 'path' | 'timesHead' | 'subjectOf' | 'supportedAs' | 'optional'
> & {
  /** The body in place of a 404; null where a 404 is an error. Default: `null`, which says that there is no such thing. */
  readonly bodyOfAbsent?: string | null;
  /** All parameters of the request. One that is undefined is not sent. */
  readonly query: (key: Key, details: ReadonlySet<string>) => Readonly<Record<string, string | undefined>>;
  /** Compute units of one request. */
  readonly price: number;
  /**
   * Reads the body of an answer, for these chains; null for any. Returns null for one that says that there is no such thing,
   * as `bodyOfAbsent` may. Throws MalformedFieldError.
   */
  readonly read: (body: unknown, chains: AskedChains | null) => Value | null;
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
      bodyOfAbsent: definition.bodyOfAbsent === undefined ? 'null' : definition.bodyOfAbsent,
    },
    createItemParser<Value>((body, chains) => (body === null ? null : read(body, chains))),
  );
  return {
    ...definition,
    async read(operation, key, details) {
      const { items } = await lookup.read(operation, key, details)(NEWEST);
      const value = items.length === 0 ? null : items.value(0);
      if (value instanceof MalformedFieldError) throw value;
      return value;
    },
  };
};
