import type { Plugin } from 'graphql-yoga';
import type { IsAllowedOrigin, IsOwnHost } from '../../browsers/origin-check.ts';
import type { OriginErrors } from '../../browsers/origin-errors.ts';

type Options = {
  readonly isAllowedOrigin: IsAllowedOrigin;
  readonly isOwnHost: IsOwnHost;
  readonly refusals: OriginErrors;
};

/**
 * Refuses what a page of another site sends by its visitor's browser. Its posts are JSON, which the browser asks about
 * first; a GET it sends without asking, so that only what the browser says of its sender can tell. Who is no browser
 * says nothing, and passes.
 */
export const useCsrfProtection = ({ isAllowedOrigin, isOwnHost, refusals }: Options): Plugin => ({
  onRequestParse({ request: { headers } }) {
    const host = headers.get('host') ?? undefined;
    if (!isOwnHost(host)) throw refusals.host(host);
    const site = headers.get('sec-fetch-site') ?? 'missing';
    if (site === 'same-origin' || site === 'none') return;
    const origin = headers.get('origin') ?? undefined;
    const isAllowed = origin === undefined ? site === 'missing' : isAllowedOrigin(origin, host);
    if (!isAllowed) throw refusals.origin(origin);
  },
});
