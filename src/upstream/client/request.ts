import { LRUCache } from 'lru-cache';
import type { Deadline } from '../../lib/deadlines.ts';
import type { Trace } from '../../lib/trace.ts';
import { unsendable } from './errors.ts';

export type UpstreamMethod = 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';

export type UpstreamRequest = {
  /** The name of the upstream resource, for metrics and log lines: a path may contain an address. */
  readonly resource: string;
  readonly method: UpstreamMethod;
  /** The segments below upstream's base URL. See `targetOf` for what a segment may be. */
  readonly path: readonly string[];
  readonly query?: URLSearchParams | undefined;
  /** Sent as JSON: an undefined property is omitted, null is sent as null. */
  readonly body?: object;
  /** Whether it is sent without the key. Default: false. */
  readonly withoutKey?: boolean;
  /** Whether only the status counts, and any body is treated as empty. Default: false. */
  readonly ignoresBody?: boolean;
  /** Compute units by the contract. They are billed to the operation if upstream does not state what it billed. */
  readonly cost: number;
};

export type UpstreamAnswer<Body> = {
  /** The HTTP status, from 200 to 299. */
  readonly status: number;
  /** The parsed body. */
  readonly body: Body;
  /** Size of the body in bytes. */
  readonly bytes: number;
  /** From `X-Compute-Units-Cost`, else the request's `cost`. */
  readonly computeUnits: number;
};

/** Unreserved characters of a URL, and no segment that means another path (https://www.rfc-editor.org/rfc/rfc3986#section-2.3). */
const SEGMENT = /^(?!\.\.?$)[A-Za-z0-9._~-]+$/;

/**
 * Returns the path and query of a request, below the path of upstream's base URL. This is the only place that builds one, so
 * that nothing from upstream or a client can name another path. A segment is an address, an id or a fixed word, and needs no
 * encoding; any other is refused rather than encoded, since proxies disagree on `%2F` and `%2E`. Throws UpstreamError
 * `unsendable`.
 */
export const targetOf = (
  basePath: string,
  { path, query }: Pick<UpstreamRequest, 'path' | 'query'>,
): string => {
  for (const segment of path)
    if (!SEGMENT.test(segment)) throw unsendable('a segment of its path that is no address, id or word');
  return `${basePath.replace(/\/+$/, '')}/${path.join('/')}${query?.size ? `?${query}` : ''}`;
};

/** The upstream API key of an operation. It is never logged and never part of an error. */
export type Credential = { readonly key: string; readonly owner: 'gateway' | 'client' };

/** What a header can carry: undici would refuse any other text, and lose the connection that it was to be sent over. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Throws UpstreamError `unsendable` for a key that no header can carry. */
export const assertSendable = ({ key }: Credential): void => {
  if (!HEADER_VALUE.test(key)) throw unsendable('a key that no header can carry');
};

/** What all upstream requests of one operation share. */
export type RequestScope = {
  readonly credential: Credential;
  readonly deadline: Deadline;
  /** What the operation has cost so far; each request adds to it. */
  readonly usage: Usage;
  /** Compute units that the operation may cost at most. An estimate does not foresee everything, such as a long search. */
  readonly maxComputeUnits: number;
  readonly trace: Trace;
  /** Whose operation it is, which a service that takes turns may be told; undefined for a request of the gateway's own. */
  readonly client?: string | undefined;
};

/**
 * The scope of a request that other operations may join. Its deadline has a clock of its own, because each operation stops
 * waiting when its own time is over; `signal` aborts when no operation waits any longer.
 */
export const detachedScope = (
  scope: RequestScope,
  signal: AbortSignal,
  trace: Trace = scope.trace,
): RequestScope => ({
  credential: scope.credential,
  deadline: scope.deadline.detached(signal),
  usage: scope.usage,
  maxComputeUnits: scope.maxComputeUnits,
  trace,
  client: scope.client,
});

/** What one operation has cost so far: every response has it as `extensions.upstream`. */
export class Usage {
  /** Upstream requests that the operation started, retries included. */
  requests = 0;
  /** Compute units of those requests; for a request under way, its price by the contract. */
  computeUnits = 0;
  /** Pages that cost the operation no request: cached ones, and those that another operation was fetching. */
  cached = 0;
  /** Cached pages that were fresh only because no delivery had reported a change; absent if there are none. */
  declare watched?: number;
  #billed = 0;
  readonly #listeners: (() => void)[] = [];

  /** Compute units of the requests that have ended. */
  get billed(): number {
    return this.#billed;
  }

  /**
   * Calls back after each change of the compute units, even after the operation is answered: a request may outlive its
   * operation because others wait for it, or begin later, as a refresh does that first looks for the page elsewhere.
   */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** What an answer says of it. Copying the object itself takes several times as long, because of its private fields. */
  summary(): Pick<Usage, 'requests' | 'computeUnits' | 'cached' | 'watched'> {
    const { requests, computeUnits, cached, watched } = this;
    return watched === undefined
      ? { requests, computeUnits, cached }
      : { requests, computeUnits, cached, watched };
  }

  /** Counts an attempt at its price before it is sent, because the operation may be answered while it is under way. */
  reserve(price: number): Reservation {
    this.requests += 1;
    this.#add(price);
    const settle = (computeUnits: number) => {
      this.#billed += computeUnits;
      this.#add(computeUnits - price);
    };
    return {
      settle,
      release: () => {
        this.requests -= 1;
        settle(0);
      },
    };
  }

  #add(computeUnits: number): void {
    this.computeUnits += computeUnits;
    for (const listener of this.#listeners) listener();
  }
}

type Reservation = {
  /** Replaces the price of an attempt that has ended with what it cost. */
  settle(computeUnits: number): void;
  /** Removes an attempt that ended before its turn to be sent. */
  release(): void;
};

/** Upstream does not bill requests that it answers with these, unless it states a cost. */
const UNBILLED: ReadonlySet<number> = new Set([401, 402, 429]);

/**
 * What one attempt costs, as far as is known: nothing until it is sent, then its price, and what upstream states once the
 * head of its answer has arrived. What becomes of the answer does not matter. If the connection breaks before an answer,
 * nobody can tell whether upstream received the request, so it counts as received.
 */
export class Bill {
  computeUnits = 0;
  readonly #price: number;

  constructor(price: number) {
    this.#price = price;
  }

  /** The request is written to a connection. */
  sent(): void {
    this.computeUnits = this.#price;
  }

  /** The head of the answer has arrived. */
  answered(status: number, headers: Headers): void {
    this.computeUnits = statedCost(headers) ?? (UNBILLED.has(status) ? 0 : this.#price);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const statedCost = (headers: Headers): number | null => {
  const stated = headers['x-compute-units-cost'];
  return typeof stated === 'string' && /^\d{1,9}$/.test(stated) ? Number(stated) : null;
};

/** Compute units of requests that upstream bills by chain, and what makes requests more. */
export type ChainPricing = {
  /**
   * The cost of one request to a resource with this chain filter; null is upstream's default filter. Default for `perChain`: 1.
   */
  priceOf(resource: string, chains: string | null, perChain?: number): number;
  /** The most items of a page of the service that has a detail; null for as many as without it. */
  pageWith(detail: string): number | null;
  /** Records what upstream billed for one request. */
  record(resource: string, chains: string | null, computeUnits: number): void;
};

/** The number of filters whose prices are remembered, because clients can make up any number of filters. */
const MAX_FILTERS = 1000;

/**
 * A chain costs `perChain` units. Only upstream knows how many chains a tag has, so a tag counts as `defaultChainCount` chains
 * until upstream has billed a request to the same resource with the same filter.
 */
export const createChainPricing = (
  defaultChainCount: number,
  pageWith: ChainPricing['pageWith'] = () => null,
): ChainPricing => {
  const billed = new LRUCache<string, number>({ max: MAX_FILTERS });

  return {
    pageWith,
    priceOf(resource, chains, perChain = 1) {
      const parts = chains === null ? ['default'] : chains.split(',');
      const tags = parts.filter((part) => !isChainId(part)).length;
      const counted = (parts.length - tags + tags * defaultChainCount) * perChain;
      return tags === 0 ? counted : (billed.get(nameOf(resource, chains)) ?? counted);
    },
    record(resource, chains, computeUnits) {
      // A free request does not show what the next one will cost.
      if (computeUnits > 0) billed.set(nameOf(resource, chains), computeUnits);
    },
  };
};

const isChainId = (part: string): boolean => /^\d+$/.test(part);

/** Upstream's default filter is the tag `default`. */
const nameOf = (resource: string, chains: string | null): string => `${resource} ${chains ?? 'default'}`;
