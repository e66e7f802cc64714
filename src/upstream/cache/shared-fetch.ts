import type { Trace } from '../../lib/trace.ts';
import type { Details, Fetch, Fetched, PageRequest, SharedMeta } from '../page.ts';
import { allowsStale } from './single-flight.ts';

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

/** Gets pages from other gateways if they have them, and shares those that it fetches. */
export const shareFetch =
  <Value>(shared: SharedPages, source: PageSource<Value>): Fetch<Value> =>
  async (request, signal, maxAgeMs, trace) => {
    const found = await shared.get(request, maxAgeMs, signal);
    const fetch = (wanted: PageRequest) => source.fetch(wanted, signal, trace);
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
    const { page, memoryBytes, body } = fetched;
    lease.store(body, { limit: request.limit, fetchedAt: page.fetchedAt });
    // The body is not kept beside the page.
    return { page, memoryBytes };
  } catch (error) {
    lease.release();
    if (!allowsStale(error) || request.staleIfErrorMs === 0) throw error;
    const older = await shared.getStale(request);
    const read = older && (await readShared(source, older, error));
    if (!read) throw error;
    return read;
  }
};

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

/** The right to fetch a page while other gateways wait for it. It ends with `store` or `release`, or with this process. */
export type PageLease = {
  /** The details that the page is to have: also those that a caller of another gateway has asked for lately. */
  readonly details: Details;
  /** Shares the page, unless a delivery has invalidated it meanwhile. Never throws. */
  store(body: readonly Buffer[], page: { readonly limit: number; readonly fetchedAt: number }): void;
  /** Lets another gateway go on. */
  release(): void;
};

export type SharedResult =
  | { readonly kind: 'page'; readonly page: SharedPage }
  | { readonly kind: 'lease'; readonly lease: PageLease };

/** The pages that gateways share. Its methods never reject because of what they are stored in. */
export type SharedPages = {
  /**
   * Resolves with a page that has what is requested and is younger than `maxAgeMs`, or with the lease to fetch it. While
   * another gateway has the lease, waits for its page, which may then be of any age. Resolves with null when pages can't be
   * shared now. Rejects with UpstreamError `aborted` when the signal aborts.
   */
  get(request: PageRequest, maxAgeMs: number, signal: AbortSignal): Promise<SharedResult | null>;
  /** Resolves with a page of at most `staleIfErrorMs`, even an invalidated one; null without one. */
  getStale(request: PageRequest): Promise<SharedPage | null>;
};
