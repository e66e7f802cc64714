import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { clientError } from '../../graph/errors.ts';
import type { IsAllowedOrigin, IsOwnHost } from './origins.ts';

type Options = { readonly isAllowedOrigin: IsAllowedOrigin; readonly isOwnHost: IsOwnHost };

/**
 * Refuses what a page of another site sends by its visitor's browser. Its posts are JSON, which the browser asks about
 * first; a GET it sends without asking, so that only what the browser says of its sender can tell. Who is no browser
 * says nothing, and passes.
 */
export const useSameSiteOnly = ({ isAllowedOrigin, isOwnHost }: Options): Plugin => ({
  onRequestParse({ request: { headers } }) {
    const host = headers.get('host') ?? undefined;
    if (!isOwnHost(host)) throw forbidden("a Host of loopback's or of PUBLIC_URL's", String(host));
    const site = headers.get('sec-fetch-site') ?? 'unsaid';
    if (site === 'same-origin' || site === 'none') return;
    const origin = headers.get('origin') ?? undefined;
    const mayCome = origin === undefined ? site === 'unsaid' : isAllowedOrigin(origin, host);
    if (!mayCome)
      throw forbidden("a request of this site's own pages or of an allowed origin", origin ?? 'another site');
  },
});

const forbidden = (expected: string, got: string): GraphQLError =>
  clientError('FORBIDDEN', `Expected ${expected}, got ${got}.`, { http: { status: 403 } });
