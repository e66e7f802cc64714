import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** Time for what runs to come to its answer by itself. */
const DRAIN_MS = 5000;
/** Time for the answers that are given in its place to be taken. */
const LAST_ANSWERS_MS = 1000;
/** Enough to accept what waits for it, and to read what has arrived on connections that look idle. */
const TURNS_TO_HEAR = 4;

export type HttpDrain = {
  /** Aborts when operations have to be answered as they are: see operations/given-up.ts. */
  readonly givenUp: AbortSignal;
  /**
   * Stops accepting. Resolves once every request under way is answered: after five seconds by UPSTREAM_TIMEOUT where the
   * service was asked, and by 503 where nothing ran. A second later the connections that are left are cut.
   */
  close(): Promise<void>;
};

/** What is said to a request that has not begun to run: a status, and a body of JSON. */
type Refusal = (request: IncomingMessage) => object;

export const createHttpDrain = (server: Server, refusal: Refusal): HttpDrain => {
  const giveUp = new AbortController();
  /** By their connections: those that wait for others to be answered do not hear that it was cut. */
  const underWay = new Map<Socket, Map<ServerResponse, IncomingMessage>>();
  server.on('connection', (socket: Socket) => {
    underWay.set(socket, new Map());
    socket.once('close', () => underWay.delete(socket));
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    underWay.get(socket)?.set(response, request);
    response.once('close', () => underWay.get(socket)?.delete(response));
  });

  const refuseUnanswered = (): void => {
    for (const [response, request] of [...underWay.values()].flatMap((requests) => [...requests])) {
      if (response.headersSent) continue;
      response.writeHead(503, {
        'content-type': 'application/json',
        'retry-after': '1',
        connection: 'close',
      });
      response.end(JSON.stringify(refusal(request)));
    }
  };

  return {
    givenUp: giveUp.signal,
    async close() {
      for (let turns = 0; turns < TURNS_TO_HEAR; turns += 1) await turn();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      if (await isDone(closed, DRAIN_MS)) return;
      giveUp.abort();
      // Within these, what has been given up is answered.
      for (let turns = 0; turns < TURNS_TO_HEAR; turns += 1) await turn();
      refuseUnanswered();
      if (await isDone(closed, LAST_ANSWERS_MS)) return;
      server.closeAllConnections();
      await closed;
    },
  };
};

/** Whether it ends within so many milliseconds. */
const isDone = async (task: Promise<void>, withinMs: number): Promise<boolean> => {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, withinMs, false);
  const isInTime = await Promise.race([task.then(() => true), late]);
  clearTimeout(timer);
  return isInTime;
};
