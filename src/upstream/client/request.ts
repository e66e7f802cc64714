import { unsendable } from './errors.ts';

export type UpstreamMethod = 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';

export type UpstreamRequest = {
  /** The upstream resource in one word. Metrics and log lines name it, since a path may hold an address. */
  readonly resource: string;
  readonly method: UpstreamMethod;
  /** The segments below upstream's base URL. See `targetOf` for what a segment may be. */
  readonly path: readonly string[];
  readonly query?: URLSearchParams;
  /** Sent as JSON: an undefined property is omitted, null is sent as null. */
  readonly body?: object;
  /** Whether only the status counts: any body will do, and counts as empty. Default: false. */
  readonly ignoresBody?: boolean;
  /** Compute units by the contract. They are billed to the operation where upstream does not state what it billed. */
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
 * that nothing which came from upstream or from a client can name another path. A segment is an address, an id or a fixed
 * word, and needs no encoding; any other is refused rather than encoded, since proxies disagree on `%2F` and `%2E`. Throws
 * UpstreamError `unsendable`.
 */
export const targetOf = (
  basePath: string,
  { path, query }: Pick<UpstreamRequest, 'path' | 'query'>,
): string => {
  for (const segment of path)
    if (!SEGMENT.test(segment)) throw unsendable('a segment of its path that is no address, id or word');
  return `${basePath.replace(/\/+$/, '')}/${path.join('/')}${query?.size ? `?${query}` : ''}`;
};
