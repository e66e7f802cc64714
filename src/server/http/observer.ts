import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { onResponseClosed } from './response-end.ts';

const ROUTES = ['graphql', 'deliveries', 'health', 'metrics'] as const;

/** A closed set of labels: the client chooses the path. */
type Route = (typeof ROUTES)[number] | 'other';

export type HttpObserver = {
  started(): void;
  /** Called once for each request. `status` is null when the client disconnected before it was answered. */
  ended(route: Route, status: number | null): void;
};

/** Reports every HTTP request, except upgrades. */
export const observeHttp = (server: Server, observer: HttpObserver): void => {
  const underWay = new WeakMap<Socket, Set<() => void>>();
  server.on('connection', (socket: Socket) => {
    const requests = new Set<() => void>();
    underWay.set(socket, requests);
    // In older releases of Node, a pipelined response that waits for another emits no `close` when its connection is cut.
    socket.once('close', () => {
      for (const end of requests) end();
    });
  });
  server.prependListener('request', ({ url, socket }: IncomingMessage, response: ServerResponse) => {
    const requests = underWay.get(socket);
    const end = () => {
      if (requests?.delete(end))
        observer.ended(routeOf(url), response.headersSent ? response.statusCode : null);
    };
    requests?.add(end);
    observer.started();
    onResponseClosed(response, end);
  });
};

const routeOf = (url = ''): Route => {
  const first = /^\/([a-z]*)/.exec(url)?.[1];
  return ROUTES.find((route) => route === first) ?? 'other';
};
