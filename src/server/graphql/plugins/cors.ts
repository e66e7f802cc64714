import type { Plugin, YogaServerOptions } from 'graphql-yoga';
import type { AllowsCrossOrigin, IsAllowedOrigin } from '../../browsers/origin-check.ts';
import { bodyOf, type OriginErrors } from '../../browsers/origin-errors.ts';

type Cors = NonNullable<YogaServerOptions<object, object>['cors']>;

/** Without it a browser asks again every five seconds. */
const PREFLIGHT_SECONDS = 3600;

/** Answers the pages of allowed origins, and leaves all others to their browsers, which then keep the answer from them. */
export const corsFor =
  (allowsCrossOrigin: AllowsCrossOrigin): Cors =>
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

/** A preflight of a page that may not come says so: its browser shows neither what it asked nor why it was refused. */
export const useRefusedPreflights = (isAllowedOrigin: IsAllowedOrigin, refusals: OriginErrors): Plugin => ({
  onResponse({ request: { method, headers }, setResponse, fetchAPI }) {
    const origin = headers.get('origin') ?? undefined;
    if (method !== 'OPTIONS' || isAllowedOrigin(origin, headers.get('host') ?? undefined)) return;
    const body = bodyOf(refusals.origin(origin));
    setResponse(
      new fetchAPI.Response(body, { status: 403, headers: { 'content-type': 'application/json' } }),
    );
  },
});

/** What is answered depends on who asks, also where nobody may. */
export const useVaryByOrigin = (): Plugin => ({
  onResponse: ({ response }) => response.headers.append('vary', 'Origin'),
});
