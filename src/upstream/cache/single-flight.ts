import { type Deadline, raceWithTimeout } from '../../lib/deadlines.ts';
import type { Trace } from '../../lib/trace.ts';
import {
  clientGone,
  deadlineExceeded,
  MAX_COOLDOWN_MS,
  UpstreamError,
  type UpstreamFailure,
} from '../client/errors.ts';
import {
  type Details,
  type Fetch,
  type Fetched,
  hasFailures,
  type PageRequest,
  type SharedMeta,
} from '../page.ts';

/** Single-flight (request coalescing): one request under way, whose answer all waiting callers share. */
export type SharedRequest<Answer> = {
  /** Whether the last waiting caller has left. The request is then aborted and must no longer be joined. */
  readonly isAbandoned: boolean;
  /**
   * Starts the caller's deadline and waits for the answer. Rejects with the request's failure, with UpstreamError `timeout`
   * when the deadline passes first, or with `aborted` when its signal aborts.
   */
  join(deadline: Deadline): Promise<Answer>;
  /** Lets the request run to its end, even if no caller waits for it. */
  detach(): void;
};

/** The signal of `start` aborts when the last waiting caller has left. */
export const startShared = <Answer>(
  start: (signal: AbortSignal) => Promise<Answer>,
): SharedRequest<Answer> => {
  const controller = new AbortController();
  return new RequestInFlight(start(controller.signal), controller);
};

/** A class, for the reason that `OperationDeadline` is one. */
class RequestInFlight<Answer> implements SharedRequest<Answer> {
  readonly #answer: Promise<Answer>;
  readonly #controller: AbortController;
  #waiting = 0;

  constructor(answer: Promise<Answer>, controller: AbortController) {
    this.#answer = answer;
    this.#controller = controller;
    // Callers get the failure from `join`. Without callers, it must not become an unhandled rejection.
    answer.catch(() => {});
  }

  get isAbandoned(): boolean {
    return this.#controller.signal.aborted;
  }

  async join(deadline: Deadline): Promise<Answer> {
    this.#waiting += 1;
    deadline.start();
    const end = await raceWithTimeout(this.#answer, deadline.remainingMs(), deadline.signal);
    if (end === 'settled') return this.#answer;
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#controller.abort();
    throw end === 'timeout' ? deadlineExceeded() : clientGone();
  }

  detach(): void {
    this.#waiting += 1;
  }
}

/**
 * Failures of upstream, for which the cache serves an older page (stale-if-error,
 * https://www.rfc-editor.org/rfc/rfc5861#section-4). Faults of the request or the key, and aborts, are passed on.
 */
const STALE_IF_ERROR: ReadonlySet<UpstreamFailure> = new Set([
  'unavailable',
  'timeout',
  'quota',
  'rateLimited',
  'coolingDown',
  'invalidResponse',
]);

export const allowsStale = (error: unknown): boolean =>
  error instanceof UpstreamError && STALE_IF_ERROR.has(error.failure);

/** After a 429 or 402 without Retry-After, the same page is not requested again for this time. */
const MIN_COOLDOWN_MS = 500;

/** Milliseconds for which the page that failed is not requested again while the cache has an older one; at most a minute. */
export const cooldownMsFor = (error: unknown): number => {
  if (!(error instanceof UpstreamError)) return 0;
  const { failure, retryAfterMs } = error;
  const leastMs = failure === 'rateLimited' || failure === 'quota' ? MIN_COOLDOWN_MS : 0;
  return Math.min(Math.max(retryAfterMs ?? 0, leastMs), MAX_COOLDOWN_MS);
};

/** How the pages of a list are got. */
export type PageSource<Value> = {
  /** Requests a page of upstream. Resolves with its body as well. */
  fetch(
    request: PageRequest,
    signal: AbortSignal,
    trace: Trace,
  ): Promise<Fetched<Value> & { readonly body: readonly Buffer[] }>;
  /** Reads a body that was fetched before. Rejects if it does not belong to this list. */
  read(body: Buffer, page: Pick<SharedPage, 'limit' | 'fetchedAt'>): Promise<Fetched<Value>>;
};

/**
 * Gets pages from other gateways if they have them, and shares those that it fetches. Where the service tells of changes, it asks the
 * service: its requests are free, and another gateway may not have heard of a change yet.
 */
export const shareFetch =
  <Value>(shared: SharedPages, source: PageSource<Value>): Fetch<Value> =>
  async (request, signal, maxAgeMs, trace) => {
    const fetch = (wanted: PageRequest) => source.fetch(wanted, signal, trace);
    if (request.isTold()) return withoutBody(await fetch(request));
    const found = await shared.get(request, maxAgeMs, signal);
    if (found?.kind === 'lease') return fetchAndShare(shared, { ...source, fetch }, found.lease, request);
    return (found && (await readShared(source, found.page, null))) ?? fetch(request);
  };

const fetchAndShare = async <Value>(
  shared: SharedPages,
  source: Pick<PageSource<Value>, 'read'> & {
    readonly fetch: (request: PageRequest) => ReturnType<PageSource<Value>['fetch']>;
  },
  lease: PageLease,
  request: PageRequest,
): Promise<Fetched<Value>> => {
  try {
    const fetched = await source.fetch({ ...request, details: lease.details });
    const { page, body } = fetched;
    const { limit } = request;
    lease.store(body, { limit, fetchedAt: page.fetchedAt, hasFailures: hasFailures(page) });
    return withoutBody(fetched);
  } catch (error) {
    lease.release();
    if (!allowsStale(error) || request.staleIfErrorMs === 0) throw error;
    const older = await shared.getStale(request);
    const read = older && (await readShared(source, older, error));
    if (!read) throw error;
    return read;
  }
};

/** The body is not kept beside the page. */
const withoutBody = <Value>({ page, memoryBytes }: Fetched<Value>): Fetched<Value> => ({ page, memoryBytes });

/** Resolves with null for a body that can't be read: an older or newer gateway may have other limits. */
const readShared = async <Value>(
  source: Pick<PageSource<Value>, 'read'>,
  { body, fetchedAt, ...meta }: SharedPage,
  insteadOf: unknown,
): Promise<Fetched<Value> | null> => {
  try {
    const { page, memoryBytes } = await source.read(body, { limit: meta.limit, fetchedAt });
    return { page, memoryBytes, shared: { ...meta, insteadOf } };
  } catch {
    return null;
  }
};

/** A page that another gateway has fetched, or this one earlier. */
export type SharedPage = SharedMeta & {
  /** What upstream sent. */
  readonly body: Buffer;
  /** When its gateway sent the request, in milliseconds since 1970. */
  readonly fetchedAt: number;
};

/** What gateways need to know of a page that is shared, beside its body. */
export type FetchedPage = Pick<SharedPage, 'limit' | 'fetchedAt'> & {
  /** Whether upstream could not read a part of it: then it is found for a second at most, and replaces no whole page. */
  readonly hasFailures: boolean;
};

/** The right to fetch a page while other gateways wait for it. It ends with `store` or `release`, or with this process. */
export type PageLease = {
  /** The details that the page is to have: also those that a caller of another gateway has asked for lately. */
  readonly details: Details;
  /** Shares the page, unless a delivery has invalidated it meanwhile. Never throws. */
  store(body: readonly Buffer[], page: FetchedPage): void;
  /** Lets another gateway go on. */
  release(): void;
};

export type SharedResult =
  | { readonly kind: 'page'; readonly page: SharedPage }
  | { readonly kind: 'lease'; readonly lease: PageLease };

/** The pages that gateways share. Its methods never reject because the store fails. */
export type SharedPages = {
  /**
   * Resolves with a page that has what is requested and is younger than `maxAgeMs`, or with the lease to fetch it. While
   * another gateway has the lease, waits for its page, which may then be of any age. Resolves with null when pages can't be
   * shared now. Rejects with UpstreamError `aborted` when the signal aborts.
   */
  get(request: PageRequest, maxAgeMs: number, signal: AbortSignal): Promise<SharedResult | null>;
  /** Resolves with a page of at most `staleIfErrorMs`, even an invalidated one, a whole one first; null without one. */
  getStale(request: PageRequest): Promise<SharedPage | null>;
};
