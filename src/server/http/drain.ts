import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** Time for running operations to end by themselves. */
const DRAIN_MS = 5000;
/** Time for clients to take the answers that are given in their place. */
const FINAL_RESPONSES_MS = 1000;
/** Enough to accept what waits for it, and to read what has arrived on connections that look idle. */
const EVENT_LOOP_TURNS = 4;

export type HttpDrain = {
  /** Aborts when running operations are answered by UPSTREAM_TIMEOUT: see server/graphql/plugins/shutdown-mutations.ts. */
  readonly shutdownSignal: AbortSignal;
  /** Answers a request that has not begun to run by 503, unless it is answered. */
  refuse(request: IncomingMessage, response: ServerResponse): void;
  /**
   * Stops accepting. Resolves once every request under way is answered: after five seconds by UPSTREAM_TIMEOUT where the
   * service was asked, and by 503 where nothing ran. A second later the connections that are left are cut.
   */
  close(): Promise<void>;
};

/** The JSON body of the 503 for a request that has not begun to run. */
type Refusal = (request: IncomingMessage) => object;

export const createHttpDrain = (server: Server, refusal: Refusal): HttpDrain => {
  const shutdown = new AbortController();
  /** By their connections: a pipelined response that waits for another one emits no `close` when its connection is cut. */
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

  const refuse = (request: IncomingMessage, response: ServerResponse): void => {
    if (response.headersSent) return;
    const headers = { 'content-type': 'application/json', 'retry-after': '1', connection: 'close' };
    response.writeHead(503, headers).end(JSON.stringify(refusal(request)));
  };
  const refuseUnanswered = (): void => {
    for (const [response, request] of [...underWay.values()].flatMap((requests) => [...requests]))
      refuse(request, response);
  };

  return {
    shutdownSignal: shutdown.signal,
    refuse,
    async close() {
      for (let round = 0; round < EVENT_LOOP_TURNS; round += 1) await turn();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      if (await isDone(closed, DRAIN_MS)) return;
      shutdown.abort();
      // Operations that are abandoned are answered within these turns.
      for (let round = 0; round < EVENT_LOOP_TURNS; round += 1) await turn();
      refuseUnanswered();
      if (await isDone(closed, FINAL_RESPONSES_MS)) return;
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
