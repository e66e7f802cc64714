import type { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { settlesWithin } from '../../lib/scheduling/task-tracker.ts';
import type { ShutdownDeadline } from '../../lib/shutdown-deadline.ts';
import { onResponseClosed } from './response-end.ts';
import { setCommonHeaders } from './response-headers.ts';

/** Enough turns of the event loop to accept waiting connections, and to read requests that arrived on idle ones. */
const EVENT_LOOP_TURNS = 4;

/** The graceful shutdown of the HTTP server: no request that it has accepted is lost. */
export type HttpShutdown = {
  /** Aborts when running operations are answered with UPSTREAM_TIMEOUT: see graphql/plugins/shutdown-mutations.ts. */
  readonly shutdownSignal: AbortSignal;
  /** Answers a request that has not started to run with 503, unless it is answered. */
  reject(request: IncomingMessage, response: ServerResponse): void;
  /**
   * From here on each response is its connection's last and says so, so that its client opens the next one elsewhere. Idle
   * connections stay open: a request that is on its way on one would be lost. It is answered, and the connection closes.
   */
  closeKeptAlive(): void;
  /**
   * Stops accepting connections. Resolves once every request under way is answered: when the deadline's drain ends, with
   * UPSTREAM_TIMEOUT where upstream was asked, and with 503 where nothing ran. Connections that are left when responses
   * must have been read are cut.
   */
  close(deadline: ShutdownDeadline): Promise<void>;
};

/** The JSON body of the 503 for a request that has not started to run. */
type RejectionBody = (request: IncomingMessage) => object;

export const createHttpShutdown = (server: Server, rejectionBody: RejectionBody): HttpShutdown => {
  const shutdown = new AbortController();
  /**
   * The requests under way on each connection, the newest last. In older releases of Node, a pipelined response that
   * waits for another emits no `close` when its connection is cut.
   */
  const underWay = new Map<Socket, Map<ServerResponse, IncomingMessage>>();
  let isClosing = false;
  server.on('connection', (socket: Socket) => {
    underWay.set(socket, new Map());
    socket.once('close', () => underWay.delete(socket));
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    underWay.get(socket)?.set(response, request);
    if (isClosing) closeAfterResponse(socket, response);
    onResponseClosed(response, () => underWay.get(socket)?.delete(response));
  });

  const reject = (request: IncomingMessage, response: ServerResponse): void => {
    if (response.headersSent) return;
    setCommonHeaders(response);
    const headers = { 'content-type': 'application/json', 'retry-after': '1', connection: 'close' };
    response.writeHead(503, headers).end(JSON.stringify(rejectionBody(request)));
  };
  const rejectUnanswered = (): void => {
    for (const [response, request] of [...underWay.values()].flatMap((requests) => [...requests]))
      reject(request, response);
  };

  return {
    shutdownSignal: shutdown.signal,
    reject,
    closeKeptAlive() {
      isClosing = true;
      for (const [socket, requests] of underWay) {
        // The newest is answered last, so only its response may say that the connection closes.
        const newest = [...requests.keys()].at(-1);
        if (newest) closeAfterResponse(socket, newest);
      }
    },
    async close(deadline) {
      for (let turn = 0; turn < EVENT_LOOP_TURNS; turn += 1) await nextTurn();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      if (await settlesWithin([closed], deadline.drainMs())) return;
      shutdown.abort();
      // Abandoned operations are answered within these turns.
      for (let turn = 0; turn < EVENT_LOOP_TURNS; turn += 1) await nextTurn();
      rejectUnanswered();
      if (await settlesWithin([closed], deadline.closeMs())) return;
      server.closeAllConnections();
      await closed;
    },
  };
};

const closeAfterResponse = (socket: Socket, response: ServerResponse): void => {
  if (!response.headersSent) response.setHeader('connection', 'close');
  // A response whose headers are sent can't say it any more, and an event stream says `keep-alive`.
  response.once('close', () => socket.end());
};

/**
 * How long a peer may take to read the final message, and the megabytes that may be queued before it. A client that is cut
 * off loses nothing: it reconnects, and gets the message then.
 */
export const CLOSE_TIMEOUT_MS = 10_000;

/** Destroys a connection whose peer was sent the reason why it closes, unless it closes by itself within `timeoutMs`. */
export const destroyUnlessClosed = (
  connection: Pick<EventEmitter, 'once'>,
  destroy: () => void,
  timeoutMs = CLOSE_TIMEOUT_MS,
): void => {
  const timer = setTimeout(destroy, timeoutMs).unref();
  connection.once('close', () => clearTimeout(timer));
};
