import type { Plugin, YogaServerOptions } from 'graphql-yoga';

type Cors = NonNullable<YogaServerOptions<object, object>['cors']>;

/** Without it a browser asks again every five seconds. */
const PREFLIGHT_SECONDS = 3600;

/** Answers the pages of allowed origins, and leaves all others to their browsers, which then keep the answer from them. */
export const corsFor =
  (allowed: readonly string[]): Cors =>
  (request) => {
    const origin = request.headers.get('origin');
    if (origin === null || !allowed.includes(origin)) return false;
    return {
      origin: [origin],
      methods: ['GET', 'POST', 'OPTIONS'],
      exposedHeaders: ['x-request-id'],
      credentials: false,
      maxAge: PREFLIGHT_SECONDS,
    };
  };

/** What is answered depends on who asks, also where nobody may. */
export const useVaryByOrigin = (): Plugin => ({
  onResponse: ({ response }) => response.headers.append('vary', 'Origin'),
});
