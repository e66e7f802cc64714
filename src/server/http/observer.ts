import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Of a few words: a path is its client's to make up. */
type Route = 'graphql' | 'deliveries' | 'health' | 'metrics' | 'other';

export type HttpObserver = {
  began(): void;
  /** `status` is null when the client went away before it was answered. */
  ended(route: Route, status: number | null): void;
};

/** Tells of every HTTP request but the upgrades. */
export const observeHttp = (server: Server, observer: HttpObserver): void => {
  server.prependListener('request', ({ url }: IncomingMessage, response: ServerResponse) => {
    observer.began();
    response.once('close', () =>
      observer.ended(routeOf(url), response.headersSent ? response.statusCode : null),
    );
  });
};

const routeOf = (url = ''): Route => {
  const first = /^\/([a-z]*)/.exec(url)?.[1];
  return ROUTES.find((route) => route === first) ?? 'other';
};

const ROUTES: readonly Route[] = ['graphql', 'deliveries', 'health', 'metrics'];
