import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Trace } from '../../lib/trace-context.ts';
import { setTrace, traceOf } from './request-id.ts';
import { onResponseClosed } from './response-end.ts';

const ROUTES = ['graphql', 'deliveries', 'health', 'metrics'] as const;

/** A closed set of labels: the client chooses the path. */
export type Route = (typeof ROUTES)[number] | 'other';

export type HttpObserver = {
  /** A request has arrived, with the trace that its client has sent. Returns the trace of what it causes. */
  started(route: Route, request: IncomingMessage, trace: Trace): Trace;
  /** Called once for each request. `status` is null when the client disconnected before it was answered. */
  ended(route: Route, status: number | null, trace: Trace): void;
};

/** Reports every HTTP request, except upgrades. Call it before `nameRequests`, so that each request has its trace. */
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
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const route = routeOf(request.url);
    const requests = underWay.get(request.socket);
    const trace = observer.started(route, request, traceOf(response));
    setTrace(response, trace);
    const end = () => {
      if (requests?.delete(end))
        observer.ended(route, response.headersSent ? response.statusCode : null, trace);
    };
    requests?.add(end);
    onResponseClosed(response, end);
  });
};

const routeOf = (url = ''): Route => {
  const first = /^\/([a-z]*)/.exec(url)?.[1];
  return ROUTES.find((route) => route === first) ?? 'other';
};
