import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Ends kept-alive connections without a request being lost on one. */
export type KeepAliveShutdown = {
  /** From here on each answer is its connection's last, and says so: its client opens the next one elsewhere. */
  begin(): void;
};

/** Idle connections are left open: a request that is on its way on one would be lost. It is answered, and told. */
export const createKeepAliveShutdown = (server: Server): KeepAliveShutdown => {
  /** The newest on each connection: it is the last to be answered there, and so the one that may say so. */
  const underWay = new Map<Socket, ServerResponse | null>();
  let said = false;
  server.on('connection', (socket: Socket) => {
    underWay.set(socket, null);
    socket.once('close', () => underWay.delete(socket));
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    underWay.set(socket, response);
    if (said) closeAfterResponse(socket, response);
    response.once('close', () => {
      if (underWay.get(socket) === response) underWay.set(socket, null);
    });
  });
  return {
    begin() {
      said = true;
      for (const [socket, response] of underWay) if (response !== null) closeAfterResponse(socket, response);
    },
  };
};

const closeAfterResponse = (socket: Socket, response: ServerResponse): void => {
  if (!response.headersSent) response.setHeader('connection', 'close');
  // What had begun to answer can't say it any more, and an event stream says otherwise.
  response.once('close', () => socket.end());
};
