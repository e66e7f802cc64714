import type { Plugin, YogaServerOptions } from 'graphql-yoga';

type Cors = NonNullable<YogaServerOptions<object, object>['cors']>;

/** Answers the pages of allowed origins, and leaves all others to their browsers, which then keep the answer from them. */
export const corsFor =
  (allowed: readonly string[]): Cors =>
  (request) => {
    const origin = request.headers.get('origin');
    if (origin === null || !allowed.includes(origin)) return false;
    return { origin: [origin], methods: ['GET', 'POST', 'OPTIONS'], credentials: false };
  };

/** What is answered depends on who asks, also where nobody may. */
export const useVaryByOrigin = (): Plugin => ({
  onResponse: ({ response }) => response.headers.append('vary', 'Origin'),
});
