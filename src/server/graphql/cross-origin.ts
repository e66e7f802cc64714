import type { GraphQLError } from 'graphql';
import { clientError } from '../../graph/errors.ts';
import type { RequestHeaders } from '../../lib/values.ts';
import { type BrowserPolicy, bodyOf } from '../browsers/origin-policy.ts';
import type { ServerPlugin } from './operation-plugin.ts';

/** The headers that every response to a request has for browsers. */
export type CorsHeaders = (headers: RequestHeaders) => Readonly<Record<string, string>>;

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
      'access-control-expose-headers': 'x-request-id',
      'access-control-max-age': String(PREFLIGHT_SECONDS),
      vary: requested ? `Access-Control-Request-Headers, ${vary}` : vary,
    };
  };
};

/**
 * Answers preflights, and adds the headers for browsers to the responses of Yoga. A rejected preflight says why, because
 * the page's browser shows neither the preflight nor the reason.
 */
export const useCors = (
  corsHeaders: CorsHeaders,
  { rejectionOf }: Pick<BrowserPolicy, 'rejectionOf'>,
): ServerPlugin => ({
  onRequest({ request, endResponse, fetchAPI }) {
    // Without a length of 0, Safari waits for a body.
    if (request.method === 'OPTIONS')
      endResponse(new fetchAPI.Response(null, { status: 204, headers: { 'content-length': '0' } }));
  },
  onResponse({ request: { method, headers }, response, setResponse, fetchAPI }) {
    const rejection = method === 'OPTIONS' && headers.has('origin') ? rejectionOf(headers) : null;
    if (rejection === null) {
      for (const [name, value] of Object.entries(corsHeaders(headers))) response.headers.set(name, value);
      return;
    }
    const responseHeaders = { 'content-type': 'application/json', vary: 'Origin' };
    setResponse(new fetchAPI.Response(bodyOf(rejection), { status: 403, headers: responseHeaders }));
  },
});

/** Returns the error of a request that is not accepted for its headers, or null. */
export type CheckHeaders = (method: string, headers: RequestHeaders) => GraphQLError | null;

/**
 * CSRF protection: rejects requests that a page of another site sends through its visitor's browser. A POST must be JSON,
 * because a browser sends a form without a preflight but asks first before it sends JSON. A browser sends a GET without
 * asking, so only its headers `Sec-Fetch-Site` and `Origin` show the page. Other clients send neither, and pass.
 */
export const createCsrfCheck =
  ({ rejectionOf }: Pick<BrowserPolicy, 'rejectionOf'>): CheckHeaders =>
  (method, headers) =>
    rejectionOf(headers) ?? (method === 'POST' ? notPlainJson(headers) : null);

const notPlainJson = (headers: RequestHeaders): GraphQLError | null => {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    return unsupported(`Expected a body that is not compressed, got one in ${encoding}.`);
  const type = headers.get('content-type')?.split(';')[0];
  if (type === 'application/json') return null;
  return unsupported(`Expected a content type of application/json, got ${type ?? 'none'}.`);
};

const unsupported = (message: string): GraphQLError =>
  clientError('BAD_USER_INPUT', message, { http: { status: 415 } });
