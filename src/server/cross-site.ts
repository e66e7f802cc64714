import type { Plugin } from 'graphql-yoga';
import { clientError } from '../graph/errors.ts';
import type { IsAllowedOrigin } from './origins.ts';

/**
 * Refuses what a page of another site sends by its visitor's browser. Its posts are JSON, which the browser asks about
 * first; a GET it sends without asking, so that only what the browser says of its sender can tell. Who is no browser
 * says nothing, and passes.
 */
export const useSameSiteOnly = (isAllowedOrigin: IsAllowedOrigin): Plugin => ({
  onRequestParse({ request: { headers } }) {
    const site = headers.get('sec-fetch-site') ?? 'unsaid';
    if (site === 'same-origin' || site === 'none') return;
    const origin = headers.get('origin') ?? undefined;
    const mayCome =
      origin === undefined ? site === 'unsaid' : isAllowedOrigin(origin, headers.get('host') ?? undefined);
    if (mayCome) return;
    throw clientError(
      'FORBIDDEN',
      `Expected a request of this site's own pages or of an allowed origin, got one of ${origin ?? 'another site'}.`,
      { http: { status: 403 } },
    );
  },
});
