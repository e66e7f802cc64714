import type { YogaServerOptions } from 'graphql-yoga';
import { bodyOf } from '../../browsers/origin-errors.ts';
import type { BrowserPolicy } from '../../browsers/origin-policy.ts';
import type { ServerPlugin } from '../server-context.ts';

type Cors = NonNullable<YogaServerOptions<object, object>['cors']>;

/** How long a browser may reuse the answer to a preflight. Without it a browser asks again every five seconds. */
const PREFLIGHT_SECONDS = 3600;

/** CORS headers for pages of allowed origins. Pages of other origins get none, and their browsers withhold the response. */
export const corsFor =
  ({ allowsCrossOrigin }: Pick<BrowserPolicy, 'allowsCrossOrigin'>): Cors =>
  (request) => {
    const origin = request.headers.get('origin');
    if (origin === null || !allowsCrossOrigin(origin)) return false;
    return {
      origin: [origin],
      methods: ['GET', 'POST', 'OPTIONS'],
      exposedHeaders: ['x-request-id'],
      credentials: false,
      maxAge: PREFLIGHT_SECONDS,
    };
  };

/**
 * Completes the responses to browsers. A rejected preflight says why, because the page's browser shows neither the
 * preflight nor the reason. `Vary: Origin` is on every response, since each depends on the origin, also a rejection.
 */
export const useCorsResponses = ({ rejectionOf }: Pick<BrowserPolicy, 'rejectionOf'>): ServerPlugin => ({
  onResponse({ request: { method, headers }, response, setResponse, fetchAPI }) {
    const rejection = method === 'OPTIONS' && headers.has('origin') ? rejectionOf(headers) : null;
    if (rejection === null) return response.headers.append('vary', 'Origin');
    const responseHeaders = { 'content-type': 'application/json', vary: 'Origin' };
    setResponse(new fetchAPI.Response(bodyOf(rejection), { status: 403, headers: responseHeaders }));
  },
});
