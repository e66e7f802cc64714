import DataLoader from 'dataloader';
import type { PageCache } from './cache/page-cache.ts';
import type { SharedPages } from './cache/single-flight.ts';
import { type PageSource, shareFetch } from './cache/single-flight.ts';
import type { ToldChanges } from './changes.ts';
import { ReceivedBody } from './client/body.ts';
import type { UpstreamClient } from './client/client.ts';
import { UpstreamError } from './client/errors.ts';
import type { UpstreamRequest, Usage } from './client/request.ts';
import { detachedScope, type RequestScope } from './client/request.ts';
import type { PageKernel } from './kernel/page-kernel.ts';
import {
  type Details,
  type Fetch,
  hasFailures,
  maxAgeOf,
  type Page,
  type PageItems,
  type PageRequest,
  requestsFor,
  unionOf,
} from './page.ts';
import { askedChains, type ChainIdOf } from './parse/asked-chains.ts';
import type { Listed } from './parse/items.ts';
import type { PageParser } from './parse/page-parser.ts';

/** Which page of a list. */
export type PageRef = {
  /** Null for the newest page. */
  readonly offset: string | null;
  /** The identity of the last item of the previous page; null if any version of the page will do. */
  readonly follows: string | null;
  /**
   * How old a cached page may be: as the newest page of a list (`head`), or as the pages behind it (`tail`). `bypass` uses
   * no cached page: only one that is fetched from now on can show that an item no longer exists.
   */
  readonly freshness: 'head' | 'tail' | 'bypass';
  /** How many of its items are read, where the rest may be on the next page. Default: all that a page can have. */
  readonly items?: number | undefined;
};

export type ReadPage<Value> = (at: PageRef) => Promise<Page<Value>>;

/** A page that an operation has read. */
export type PageRead = {
  /** The operation has ended, and no longer reads the page. */
  release(): void;
  /** Whether the same read now gets the same page, as a fresh one of the cache. */
  isFresh(): boolean;
  /**
   * How long that stays true if no delivery names its address, in milliseconds; 0 if it is true only for lack of a delivery.
   */
  freshForMs(): number;
  /** Whether upstream has said that the page lacks something. */
  readonly isPartial: boolean;
  /** Counts the page as read from the cache. */
  count(usage: Usage): void;
};

/** The operation that a list loader reads for. */
type Reader = {
  readonly scope: RequestScope;
  /** Gets the reads of the operation that have got their pages. They may outlive it. */
  readonly reads: PageRead[];
  /** The group of clients that share pages: all of them under the gateway's key, else those with the same key. */
  readonly cachePartition: string;
};

/** What one gateway reads a resource's pages with. */
type LoaderParts<Value> = {
  readonly client: UpstreamClient;
  /** Indexes the bodies of pages; null if the plain parser reads them all. */
  readonly kernel: PageKernel | null;
  readonly store: PageCache<Value>;
  /** Null if there are no other gateways. */
  readonly sharedPages: SharedPages | null;
  readonly freshness: Freshness;
  /** Null if no deliveries report changes. */
  readonly watched: WatchedLists | null;
  /** The types of webhooks whose deliveries together report every change of the resource; null for none. */
  readonly watchedBy: readonly string[] | null;
  readonly told: ToldLists;
  readonly chainIdOf: ChainIdOf;
};

/** The lists of which every change is delivered to this gateway. */
export type WatchedLists = {
  /**
   * The age in milliseconds up to which a newest page is fresh unless a delivery has invalidated it; 0 for a list whose
   * changes webhooks of these types do not all report.
   */
  maxAgeMs(types: readonly string[], list: AnyList): number;
  /** Called with the newest page of a list. `listName` identifies the list among all. */
  onNewest(listName: string, list: AnyList, page: Page<unknown>): void;
};

/** The lists of which the service tells each change. */
export type ToldLists = ToldChanges & {
  /** The age in milliseconds up to which a page is fresh while all changes are told, unless one concerns it. */
  readonly maxAgeMs: number;
};

/** Milliseconds that a list's newest page and its older ones are fresh, and that any page may be served instead of a failure. */
export type Freshness = { readonly headMs: number; readonly tailMs: number; readonly staleMs: number };

/** Identifies a list as plain JSON. The order of its properties is that in the names of cursors and cached pages. */
export type AnyList = {
  /** The subject of the list: an address in lower case, or another text. */
  readonly address: string;
  /** Upstream's `chain_ids`: ids and tags, comma-separated; null for upstream's default. */
  readonly chains?: string | null;
};

/** The parameters of a page request in addition to those of its list. */
type PageParameters = Pick<PageRequest, 'offset' | 'limit' | 'details'>;

/** An upstream resource that answers with pages of a list, as one gateway reads it. */
export type ListResource<List extends AnyList, Value> = LoaderParts<Value> & {
  /** One word, for cache keys, metrics and log lines. */
  readonly name: string;
  /** The number of items to request on a page. */
  readonly pageSize: (at: PageRef) => number;
  /** Compute units of one request by the contract. */
  readonly cost: (list: List) => number;
  readonly request: (list: List, page: PageParameters) => Pick<UpstreamRequest, 'path' | 'query'>;
  /** What deliveries and changes that concern a list name. */
  readonly subjectOf: (list: List) => string;
  readonly parser: PageParser<Value>;
  /** What stands for the body of a 404; null where a 404 is an error. */
  readonly bodyOfAbsent: string | null;
  /** Called with the compute units that upstream billed for a request. */
  readonly onBilled?: (list: List, computeUnits: number) => void;
};

export type ListLoader<List, Value> = {
  read(list: List, details: Details): ReadPage<Value>;
  /** Whether a read of the newest page would cause no request: it is fresh in this gateway's memory, or on its way. */
  isAtHand(list: List, details: Details): boolean;
};

/** What the reads of one tick that became one request ask for. */
type ListRead<List> = { readonly list: List; readonly request: PageRequest };

/**
 * Reads the pages of one resource for one operation. Reads of one tick that differ only in limit or details become one
 * request. A read that the operation has made before costs nothing.
 */
export const createListLoader = <List extends AnyList, Value>(
  resource: ListResource<List, Value>,
  { scope, reads, cachePartition }: Reader,
): ListLoader<List, Value> => {
  const { client, kernel, store, sharedPages, freshness, watched, watchedBy, told, chainIdOf } = resource;
  const { name, subjectOf, pageSize, cost, parser, bodyOfAbsent, onBilled } = resource;

  const listed = ({ address, chains = null }: List): Listed => ({
    subject: address,
    chains: askedChains(chains, chainIdOf),
  });
  const sourceOf = (list: List): PageSource<Value> => ({
    async fetch(page, signal, trace) {
      const fetchedAt = Date.now();
      const { path, query } = resource.request(list, page);
      const request = { resource: name, method: 'GET', path, query, cost: cost(list) } as const;
      let chunks: readonly Buffer[] = [];
      const parse = (received: ReceivedBody) => {
        // The parser takes the bytes.
        if (sharedPages) chunks = received.sharedChunks();
        return parser.parseBody(received, page.limit, kernel);
      };
      const answer = await client
        .read(request, parse, detachedScope(scope, signal, trace))
        .catch((error: unknown) => {
          if (bodyOfAbsent === null || !(error instanceof UpstreamError) || error.status !== 404) throw error;
          return null;
        });
      const { body, bytes } = answer ?? (await parseAbsent(bodyOfAbsent ?? '', parse));
      if (answer) onBilled?.(list, answer.computeUnits);
      const fetched = await parser.toPage(body, { ...listed(list), limit: page.limit, fetchedAt });
      // What is missing on a page with failures is not new on the next one.
      if (page.offset === null && watchedBy !== null && !hasFailures(fetched))
        watched?.onNewest(page.list, list, fetched);
      return { page: fetched, memoryBytes: fetched.items.memoryBytes(bytes), body: chunks };
    },
    async read(bytes, { limit, fetchedAt }) {
      const body = await parser.parseBody(new ReceivedBody([bytes], 'application/json', null), limit, kernel);
      const page = await parser.toPage(body, { ...listed(list), limit, fetchedAt });
      return { page, memoryBytes: page.items.memoryBytes(bytes.length) };
    },
  });
  const fetchPage = (list: List): Fetch<Value> => {
    const source = sourceOf(list);
    if (sharedPages) return shareFetch(sharedPages, source);
    return (request, signal, _maxAgeMs, trace) => source.fetch(request, signal, trace);
  };

  const pageOf = ({ list, request }: ListRead<List>): Promise<Page<Value>> => {
    const page = store.get(request, scope, fetchPage(list));
    page.then(
      (settled) => reads.push(new StoredRead(store, request, settled)),
      () => {},
    );
    return page;
  };

  // The batch resolves at once, with promises of pages: a slow page must not delay the others.
  const loader = new DataLoader<ListRead<List>, { page: Promise<Page<Value>> }, string>(
    async (keys) => {
      const [first, ...others] = keys;
      if (first && others.length === 0) return [{ page: pageOf(first) }];
      const pages = new Map<ListRead<List>, { page: Promise<Page<Value>> }>();
      for (const ofPage of Map.groupBy(keys, ({ request }) => pageKey(request)).values())
        for (const reads of requestsFor(ofPage, ({ request }) => request.details)) {
          const page = { page: pageOf(merge(reads)) };
          for (const read of reads) pages.set(read, page);
        }
      return keys.map((key) => pages.get(key) ?? new Error('A page was requested but not grouped.'));
    },
    { cacheKeyFn: ({ request }) => requestKey(request) },
  );

  const nameOf = (list: List): string => JSON.stringify([cachePartition, name, list]);
  const { headMs, tailMs, staleMs } = freshness;
  const requestOf = (list: List, listName: string, details: Details, at: PageRef): PageRequest => {
    const { offset, follows, freshness: kind } = at;
    const watchedBefore = kind === 'head' && watched !== null && watchedBy !== null;
    const watchedMs = watchedBefore ? watchedAgeOf(told, watched, watchedBy, list) : toldAgeOf(told);
    return {
      cachePartition,
      address: subjectOf(list),
      chains: list.chains ?? null,
      list: listName,
      offset,
      follows,
      limit: pageSize(at),
      details,
      maxAgeMs: kind === 'bypass' ? 0 : kind === 'head' ? headMs : tailMs,
      watchedMs: kind === 'bypass' ? never : watchedMs,
      isTold: told.isWhole,
      staleIfErrorMs: kind === 'bypass' ? 0 : staleMs,
    };
  };

  return {
    read: (list, details) => {
      const listName = nameOf(list);
      return async (at) =>
        (await loader.load({ list, request: requestOf(list, listName, details, at) })).page;
    },
    isAtHand: (list, details) => store.isAtHand(requestOf(list, nameOf(list), details, NEWEST)),
  };
};

/** Parses what stands for the body of a 404: it is kept and shared as an answer. */
const parseAbsent = async <Body>(text: string, parse: (body: ReceivedBody) => Promise<Body>) => {
  const received = new ReceivedBody([Buffer.from(text)], 'application/json', null);
  return { bytes: received.bytes, body: await parse(received) };
};

/**
 * A read that may outlive its operation. Once released, it references nothing of the operation, and does not keep the page
 * in memory.
 */
class StoredRead<Value> implements PageRead {
  readonly #store: PageCache<Value>;
  readonly #request: PageRequest;
  readonly #page: WeakRef<Page<Value>>;
  readonly isPartial: boolean;
  /** Null once it is released. */
  #retained: PageItems<Value> | null;

  constructor(store: PageCache<Value>, request: PageRequest, page: Page<Value>) {
    this.#store = store;
    this.#request = request;
    this.#page = new WeakRef(page);
    this.isPartial = page.partialErrors !== null;
    this.#retained = page.items;
    page.items.retain();
  }

  release(): void {
    this.#retained?.release();
    this.#retained = null;
  }

  isFresh(): boolean {
    const page = this.#page.deref();
    return page !== undefined && this.#store.isFresh(this.#request, page);
  }

  freshForMs(): number {
    const page = this.#page.deref();
    return page === undefined ? 0 : this.#store.freshForMs(this.#request, page);
  }

  count(usage: Usage): void {
    this.#store.countFresh(this.#request, usage);
  }
}

const never = (): number => 0;

export const NEWEST: PageRef = { offset: null, follows: null, freshness: 'head' };

/** A request may outlive its operation: a function that is made here holds nothing of the operation. */
const watchedAgeOf =
  (told: ToldLists, watched: WatchedLists, types: readonly string[], list: AnyList): (() => number) =>
  () =>
    told.isWhole() ? told.maxAgeMs : watched.maxAgeMs(types, list);

const toldAgeOf =
  (told: ToldLists): (() => number) =>
  () =>
    told.isWhole() ? told.maxAgeMs : 0;

const pageKey = ({ list, offset, follows }: PageRequest): string => JSON.stringify([list, offset, follows]);

/** Unique within one operation: the list implies partition and address. */
const requestKey = (request: PageRequest): string => {
  const { limit, details, maxAgeMs, staleIfErrorMs } = request;
  return `${pageKey(request)} ${limit} ${details} ${maxAgeMs} ${staleIfErrorMs}`;
};

/** One request that satisfies all of a page's. */
const merge = <List>(keys: readonly ListRead<List>[]): ListRead<List> => {
  const [first] = keys as [ListRead<List>];
  const requests = keys.map(({ request }) => request);
  return {
    list: first.list,
    request: {
      ...first.request,
      limit: Math.max(...requests.map(({ limit }) => limit)),
      details: unionOf(requests.map(({ details }) => details)),
      maxAgeMs: Math.min(...requests.map(({ maxAgeMs }) => maxAgeMs)),
      watchedMs: () => Math.min(...requests.map(maxAgeOf)),
      staleIfErrorMs: Math.min(...requests.map(({ staleIfErrorMs }) => staleIfErrorMs)),
    },
  };
};
