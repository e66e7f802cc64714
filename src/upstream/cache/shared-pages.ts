import type { PageRequest, SharedMeta } from './page-request.ts';

/** A page that another gateway has fetched, or this one earlier. */
export type SharedPage = SharedMeta & {
  /** What upstream sent. */
  readonly body: Buffer;
  /** When its gateway sent the request, in milliseconds since 1970. */
  readonly fetchedAt: number;
};

/** Has this gateway fetch a page, while the others wait for it. It ends with `store` or `release`, or with this process. */
export type PageLease = {
  /** Whether the page is to have details, because a caller of some gateway has asked for them lately. */
  readonly details: boolean;
  /** Shares the page, unless a delivery has invalidated it meanwhile. Never throws. */
  store(body: readonly Buffer[], page: { readonly limit: number; readonly fetchedAt: number }): void;
  /** Has another gateway go on. */
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
