import DataLoader from 'dataloader';
import type { Deadline } from '../lib/deadline.ts';
import type { Fetch, Page, PageCache, PageRequest } from './cache/page-cache.ts';
import type { Credential } from './client/credential.ts';
import type { OperationClient } from './client/operation-client.ts';
import type { Usage } from './client/usage.ts';

/** Which page of a list. */
export type PageRef = {
  /** Null for the newest page. */
  readonly offset: string | null;
  /** The identity of the item that it must follow on; null when any version of the page will do. */
  readonly follows: string | null;
  /** `newest`: as fresh as the head of a list must be; `older`: as what lies behind it; `now`: not a kept one. */
  readonly age: 'newest' | 'older' | 'now';
};

export type ReadPage<Item> = (at: PageRef) => Promise<Page<Item>>;

/** What one operation brings to each of its loaders. */
export type LoaderParts<Item> = {
  readonly client: OperationClient;
  readonly credential: Credential;
  readonly store: PageCache<Item>;
  readonly usage: Usage;
  readonly deadline: Deadline;
  /** With whom pages are shared: all clients when the key is the gateway's, one key's clients when it is not. */
  readonly cachePartition: string;
  readonly freshness: Freshness;
};

/** Milliseconds that a list's newest page, and its older ones, count as fresh, and that any may stand in for a failure. */
export type Freshness = { readonly headMs: number; readonly tailMs: number; readonly staleMs: number };

/** Which list, as plain JSON: an address in lower case, and filters. */
type AnyList = { readonly address: string };

/** One upstream resource whose answers are pages of lists. */
export type ListResource<List extends AnyList, Item> = {
  readonly name: string;
  readonly limit: (offset: string | null) => number;
  readonly fetch: (list: List) => Fetch<Item>;
};

export type ListLoader<List, Item> = { read(list: List, details: boolean): ReadPage<Item> };

type Key<List> = { readonly list: List; readonly want: PageRequest };

/**
 * Born with an operation: wants of one tick that differ only in limit or details become one request that serves
 * them all, and a want that the operation had before costs nothing.
 */
export const createListLoader = <List extends AnyList, Item>(
  { store, usage, deadline, cachePartition, freshness }: Omit<LoaderParts<Item>, 'client' | 'credential'>,
  resource: ListResource<List, Item>,
): ListLoader<List, Item> => {
  const get = (keys: readonly Key<List>[]) => {
    const { list, want } = merge(keys);
    return store.get(want, usage, deadline, resource.fetch(list));
  };
  // The batch resolves at once, to pages that are on their way: a slow wallet must not hold up the others.
  const loader = new DataLoader<Key<List>, { page: Promise<Page<Item>> }, string>(
    async (keys) => {
      const groups = Map.groupBy(keys, ({ want }) => pageKey(want));
      const pages = new Map([...groups].map(([key, group]) => [key, { page: get(group) }]));
      return keys.map(
        ({ want }) => pages.get(pageKey(want)) ?? new Error('A page was wanted but not grouped.'),
      );
    },
    { cacheKeyFn: ({ want }) => JSON.stringify(want) },
  );
  const { headMs, tailMs, staleMs } = freshness;
  // Who asks for a page of now wants to know what is gone by now: no older one can tell.
  const ages = {
    newest: { maxAgeMs: headMs, staleIfErrorMs: staleMs },
    older: { maxAgeMs: tailMs, staleIfErrorMs: staleMs },
    now: { maxAgeMs: 0, staleIfErrorMs: 0 },
  };

  return {
    read: (list, details) => {
      const name = JSON.stringify([cachePartition, resource.name, list]);
      return async ({ offset, follows, age }) => {
        const limit = resource.limit(offset);
        const { address } = list;
        const want = { cachePartition, address, list: name, offset, follows, limit, details, ...ages[age] };
        return (await loader.load({ list, want })).page;
      };
    },
  };
};

const pageKey = ({ list, offset, follows }: PageRequest): string => JSON.stringify([list, offset, follows]);

const merge = <List>(keys: readonly Key<List>[]): Key<List> => {
  const [first] = keys as [Key<List>];
  const wants = keys.map(({ want }) => want);
  return {
    list: first.list,
    want: {
      ...first.want,
      limit: Math.max(...wants.map(({ limit }) => limit)),
      details: wants.some(({ details }) => details),
      maxAgeMs: Math.min(...wants.map(({ maxAgeMs }) => maxAgeMs)),
      staleIfErrorMs: Math.min(...wants.map(({ staleIfErrorMs }) => staleIfErrorMs)),
    },
  };
};
