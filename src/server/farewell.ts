import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Ends kept-alive connections without a request being lost on one. */
export type Farewell = {
  /** From here on each answer is its connection's last, and says so: its client opens the next one elsewhere. */
  say(): void;
};

/** Idle connections are left open: a request that is on its way on one would be lost. It is answered, and told. */
export const createFarewell = (server: Server): Farewell => {
  const underWay = new Set<ServerResponse>();
  let said = false;
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    underWay.add(response);
    if (said) sayOn(response);
    response.once('close', () => underWay.delete(response));
  });
  return {
    say() {
      said = true;
      for (const response of underWay) sayOn(response);
    },
  };
};

const sayOn = (response: ServerResponse): void => {
  const { headersSent, socket } = response;
  if (!headersSent) response.setHeader('connection', 'close');
  // What had begun to answer can't say it any more, and an event stream says otherwise.
  response.once('close', () => socket?.end());
};
