import type { GraphQLError } from 'graphql';
import { clientError } from '../../graph/errors.ts';
import type { Clock } from '../../lib/deadlines.ts';
import type { Log } from '../../lib/log.ts';
import { rememberLast } from '../../lib/memo.ts';

/** Which requests of browsers are accepted, on every transport. */
export type BrowserPolicy = {
  /** Whether pages of `origin` may use the gateway although it is not theirs. */
  allowsCrossOrigin(origin: string): boolean;
  /**
   * The FORBIDDEN error for a request whose Host or whose page is not allowed; null for an allowed one, and for a client
   * that is not a browser: such a client sends neither Origin nor Sec-Fetch-Site.
   */
  rejectionOf(headers: Pick<Headers, 'get'>): GraphQLError | null;
  /** The FORBIDDEN error for a request whose Host is not allowed, whichever page it comes from; null for an allowed one. */
  hostRejectionOf(headers: Pick<Headers, 'get'>): GraphQLError | null;
};

type Options = {
  readonly allowedOrigins: readonly string[];
  readonly publicUrl: string | null;
  /** Whether the gateway listens on loopback only. */
  readonly onLoopback: boolean;
  /** Whether pages of any server on loopback, such as Vite's, are allowed, as over the sandbox. */
  readonly loopbackOrigins: boolean;
  readonly log: Log;
  readonly now: Clock;
};

const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Whether a Host names loopback. Most requests name the same host as the one before. */
const isLoopbackHost = rememberLast((host: string) =>
  LOOPBACK.test(URL.parse(`http://${host}`)?.hostname ?? ''),
);

export const createBrowserPolicy = (options: Options): BrowserPolicy => {
  const { allowedOrigins, onLoopback, loopbackOrigins, log, now } = options;
  const publicUrl = options.publicUrl === null ? null : new URL(options.publicUrl);
  const errors = createOriginErrors(log, now);

  const allowsCrossOrigin = (origin: string): boolean =>
    origin === publicUrl?.origin ||
    allowedOrigins.includes(origin) ||
    (loopbackOrigins && /^https?:\/\//.test(origin) && LOOPBACK.test(URL.parse(origin)?.hostname ?? ''));

  /**
   * DNS rebinding protection for a gateway on loopback, which may be open to any client that reaches it. A page can make its
   * own name resolve to loopback, and would then have the gateway's origin.
   */
  const isOwnHost = (host: string | null): boolean =>
    !onLoopback || host === null || isLoopbackHost(host) || host === publicUrl?.host;

  /**
   * Whether a page is the gateway's own, by the name in Host, even if PUBLIC_URL has another name. The scheme counts too,
   * as far as the gateway knows it. A page of PUBLIC_URL's host must have its scheme. Elsewhere a proxy
   * may terminate TLS, and X-Forwarded-Proto is not trusted, so both schemes are accepted: there the browser's
   * Sec-Fetch-Site shows a page of the other scheme.
   */
  const isOwnPage = (origin: string, host: string | null): boolean => {
    if (host === publicUrl?.host) return origin === publicUrl?.origin;
    const page = URL.parse(origin);
    return page?.host === host && (page?.protocol === 'http:' || page?.protocol === 'https:');
  };

  const isAllowedPage = (origin: string | null, host: string | null, site: string | null): boolean => {
    if (site === 'same-origin' || site === 'none') return true;
    if (origin === null) return site === null;
    return allowsCrossOrigin(origin) || (site === null && isOwnPage(origin, host));
  };

  const hostRejectionOf: BrowserPolicy['hostRejectionOf'] = (headers) => {
    const host = headers.get('host');
    return isOwnHost(host) ? null : errors.host(host);
  };

  return {
    allowsCrossOrigin,
    hostRejectionOf,
    rejectionOf(headers) {
      const rejection = hostRejectionOf(headers);
      if (rejection) return rejection;
      const [host, origin] = [headers.get('host'), headers.get('origin')];
      return isAllowedPage(origin, host, headers.get('sec-fetch-site')) ? null : errors.origin(origin);
    },
  };
};

/**
 * The errors for rejected requests of browsers. Each names the origin or Host and the setting that would allow it, to the
 * client and in the log. The log gets at most 20 lines a minute, and one for each origin or Host.
 */
type OriginErrors = {
  /** `origin` is null if the browser says that another site sent the request, but not which. */
  origin(origin: string | null): GraphQLError;
  host(host: string | null): GraphQLError;
};

const MINUTE_MS = 60_000;
const MAX_LINES_A_MINUTE = 20;

/** The most characters of an origin or Host that are shown: a header may have 16 KB. */
const MAX_SHOWN = 200;

const createOriginErrors = (log: Log, now: Clock): OriginErrors => {
  const logged = new Set<string>();
  let since = Number.NEGATIVE_INFINITY;

  const isNew = (name: string): boolean => {
    if (now() - since > MINUTE_MS) {
      logged.clear();
      since = now();
    }
    if (logged.has(name) || logged.size >= MAX_LINES_A_MINUTE) return false;
    logged.add(name);
    return true;
  };

  return {
    origin(received) {
      const origin = received === null ? null : shortened(received);
      if (isNew(`origin ${origin}`)) log.info('origin rejected: not in ALLOWED_ORIGINS', { origin });
      return forbidden(
        "a request of this site's own pages or of an origin in ALLOWED_ORIGINS",
        origin === null ? 'one of another site' : `one of ${JSON.stringify(origin)}`,
      );
    },
    host(received) {
      const host = shortened(String(received));
      if (isNew(`host ${host}`)) log.info('Host rejected: neither loopback nor that of PUBLIC_URL', { host });
      return forbidden("a Host of loopback's or of PUBLIC_URL's", JSON.stringify(host));
    },
  };
};

/** The body of a response that does not come from the GraphQL pipeline. */
export const bodyOf = (rejection: GraphQLError): string =>
  JSON.stringify({
    errors: [{ message: rejection.message, extensions: { code: rejection.extensions.code } }],
  });

const shortened = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

const forbidden = (expected: string, got: string): GraphQLError =>
  clientError('FORBIDDEN', `Expected ${expected}, got ${got}.`, { http: { status: 403 } });

/** The headers that every response to a request has for browsers. */
export type CorsHeaders = (headers: Pick<Headers, 'get'>) => Readonly<Record<string, string>>;

/** What pages of other origins may read of a response's headers, beside those that browsers always show. */
const EXPOSED = 'etag, retry-after, x-request-id';

/** How long a browser may reuse the answer to a preflight. Without it a browser asks again every five seconds. */
const PREFLIGHT_SECONDS = 3600;

/**
 * CORS headers for pages of allowed origins. Pages of other origins get none, and their browsers withhold the response.
 * `Vary: Origin` is on every response, since each depends on the origin, also a rejection. So is `Accept-Encoding` where
 * answers are compressed.
 */
export const createCorsHeaders = ({
  allowsCrossOrigin,
  compression,
}: Pick<BrowserPolicy, 'allowsCrossOrigin'> & { readonly compression: boolean }): CorsHeaders => {
  const vary = compression ? 'Accept-Encoding, Origin' : 'Origin';
  const forNoPage = { vary };
  return (headers) => {
    const origin = headers.get('origin');
    if (origin === null || !allowsCrossOrigin(origin)) return forNoPage;
    const requested = headers.get('access-control-request-headers');
    return {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, OPTIONS',
      ...(requested && { 'access-control-allow-headers': requested }),
      'access-control-expose-headers': EXPOSED,
      'access-control-max-age': String(PREFLIGHT_SECONDS),
      vary: requested ? `Access-Control-Request-Headers, ${vary}` : vary,
    };
  };
};

/** Returns the error of a request that is not accepted for its headers, or null. */
export type CheckHeaders = (method: string, headers: Pick<Headers, 'get'>) => GraphQLError | null;

/**
 * CSRF protection: rejects requests that a page of another site sends through its visitor's browser. A POST must be JSON,
 * because a browser sends a form without a preflight but asks first before it sends JSON. A browser sends a GET without
 * asking, so only its headers `Sec-Fetch-Site` and `Origin` show the page. Other clients send neither, and pass.
 */
export const createCsrfCheck =
  ({ rejectionOf }: Pick<BrowserPolicy, 'rejectionOf'>): CheckHeaders =>
  (method, headers) =>
    rejectionOf(headers) ?? (method === 'POST' ? notPlainJson(headers) : null);

const notPlainJson = (headers: Pick<Headers, 'get'>): GraphQLError | null => {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    return unsupported(`Expected a body that is not compressed, got one in ${encoding}.`);
  const type = headers.get('content-type');
  if (type === 'application/json' || type?.startsWith('application/json;')) return null;
  return unsupported(`Expected a content type of application/json, got ${type?.split(';')[0] ?? 'none'}.`);
};

const unsupported = (message: string): GraphQLError =>
  clientError('BAD_USER_INPUT', message, { http: { status: 415 } });
