import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Ends kept-alive connections without a request being lost on one. */
export type Farewell = {
  /** From here on each answer is its connection's last, and says so: its client opens the next one elsewhere. */
  say(): void;
};

export const createFarewell = (server: Server): Farewell => {
  const underWay = new Set<ServerResponse>();
  let said = false;
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    underWay.add(response);
    if (said) sayOn(response);
    response.once('close', () => {
      underWay.delete(response);
      // What had begun to answer before could not say it any more.
      if (said) setImmediate(() => server.closeIdleConnections());
    });
  });
  return {
    say() {
      said = true;
      for (const response of underWay) sayOn(response);
    },
  };
};

const sayOn = (response: ServerResponse): void => {
  if (!response.headersSent) response.setHeader('connection', 'close');
};
