import { type EventEmitter, once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer,
  type ListenOptions,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ShutdownDeadline } from '../../lib/deadlines.ts';
import { settlesWithin } from '../../lib/tasks.ts';
import { type Connections, setCommonHeaders } from './exchange.ts';

/** Enough turns of the event loop to accept waiting connections, and to read requests that arrived on idle ones. */
const EVENT_LOOP_TURNS = 4;

/** The graceful shutdown of the HTTP server: no request that it has accepted is lost. */
export type HttpShutdown = {
  /** Aborts when running operations are answered with UPSTREAM_TIMEOUT: see server/graphql/pipeline.ts. */
  readonly shutdownSignal: AbortSignal;
  /** A response has begun, and `before` is the one that its connection sends before it. */
  begun(response: ServerResponse, before: ServerResponse | undefined): void;
  /** Answers a request that has not started to run with 503, unless it is answered. */
  reject(response: ServerResponse): void;
  /**
   * From here on each response is its connection's last and says so, so that its client opens the next one elsewhere. Idle
   * connections stay open: a request that is on its way on one would be lost. It is answered, and the connection closes.
   * Resolves once every client was told, or has closed its connection: then none can lose a request.
   */
  closeKeptAlive(): Promise<void>;
  /**
   * Stops accepting connections. Resolves once every request under way is answered: when the deadline's drain ends, with
   * UPSTREAM_TIMEOUT where upstream was asked, and with 503 where nothing ran. Connections that are left when responses
   * must have been read are cut.
   */
  close(deadline: ShutdownDeadline): Promise<void>;
};

/** The JSON body of the 503 for a request that has not started to run. */
type RejectionBody = (request: IncomingMessage) => object;

export const createHttpShutdown = (
  server: Server,
  { all: connections, onClosed }: Connections,
  listeners: Pick<Listeners, 'close'>,
  rejectionBody: RejectionBody,
): HttpShutdown => {
  const shutdown = new AbortController();
  /** The connections whose clients may send another request: no response has said that they close. */
  const kept = new Set<Socket>();
  const allTold = Promise.withResolvers<void>();
  let isClosing = false;
  const release = (socket: Socket): void => {
    kept.delete(socket);
    if (isClosing && kept.size === 0) allTold.resolve();
  };
  const sayClose = (socket: Socket, response: ServerResponse): void => {
    response.setHeader('connection', 'close');
    release(socket);
  };
  server.on('connection', (socket: Socket) => void kept.add(socket));
  onClosed(release);
  // A WebSocket is closed by its own protocol.
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => release(socket));

  const reject = (response: ServerResponse): void => {
    if (response.headersSent) return;
    setCommonHeaders(response);
    const headers = { 'content-type': 'application/json', 'retry-after': '1', connection: 'close' };
    response.writeHead(503, headers).end(JSON.stringify(rejectionBody(response.req)));
  };
  const rejectUnanswered = (): void => {
    for (const response of [...connections.values()].flat()) reject(response);
  };

  return {
    shutdownSignal: shutdown.signal,
    begun(response, before) {
      if (!isClosing) return;
      // Only the last of pipelined responses may say that the connection closes.
      if (before?.headersSent === false) before.removeHeader('connection');
      sayClose(response.req.socket, response);
    },
    reject,
    closeKeptAlive() {
      isClosing = true;
      for (const [socket, responses] of connections) {
        const newest = responses.at(-1);
        if (newest?.headersSent === false) sayClose(socket, newest);
        // A stream that has begun can no longer say it, and may last.
        else if (newest?.writableEnded === false) release(socket);
      }
      if (kept.size === 0) allTold.resolve();
      return allTold.promise;
    },
    async close(deadline) {
      for (let turn = 0; turn < EVENT_LOOP_TURNS; turn += 1) await nextTurn();
      const closed = listeners.close();
      // Idle connections are closed now, and those of responses that could not say so once these have ended.
      for (const [socket, responses] of connections) responses.at(-1)?.once('close', () => socket.end());
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

/**
 * How long a peer may take to read the final message, and the megabytes that may be queued before it. A client that is cut
 * off loses nothing: it reconnects, and gets the message then.
 */
export const CLOSE_TIMEOUT_MS = 10_000;

/** Destroys a connection, whose peer was sent the reason, unless the peer closes it within `timeoutMs`. */
export const destroyUnlessClosed = (
  connection: Pick<EventEmitter, 'once'>,
  destroy: () => void,
  timeoutMs = CLOSE_TIMEOUT_MS,
): void => {
  const timer = setTimeout(destroy, timeoutMs).unref();
  connection.once('close', () => clearTimeout(timer));
};

/**
 * libuv accepts one connection of a listening socket in a turn of the event loop. While turns are long, a client that
 * connects would wait for as many of them as others connect before it. So the server listens by several sockets on one
 * port, among which Linux distributes connections (SO_REUSEPORT).
 */
const LISTENERS = 16;

/** The sockets by which an HTTP server listens. */
type Listeners = {
  /**
   * Resolves to the bound address. Rejects when it can't be bound, and, unless it `sharesPort`, when another process listens
   * there, which SO_REUSEPORT alone would allow. Where the system has no SO_REUSEPORT, the server listens by one socket.
   */
  listen(host: string, port: number, sharesPort: boolean): Promise<AddressInfo>;
  /** Stops accepting. Resolves when all connections have ended. */
  close(): Promise<void>;
};

export const createListeners = (server: Server): Listeners => {
  const others: NetServer[] = [];
  /** As an HTTP server accepts connections. */
  const createOther = () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));

  return {
    async listen(host, port, sharesPort) {
      if (port !== 0 && !sharesPort)
        await closed(await listening(createServer(), { host, port, exclusive: true }));
      try {
        await listening(server, { host, port, reusePort: true });
      } catch (error) {
        if (!isUnsupported(error)) throw error;
        await listening(server, { host, port });
        return server.address() as AddressInfo;
      }
      const bound = server.address() as AddressInfo;
      while (others.length < LISTENERS - 1)
        others.push(
          await listening(createOther(), { host: bound.address, port: bound.port, reusePort: true }),
        );
      return bound;
    },
    close: async () => void (await Promise.all([server, ...others].map(closed))),
  };
};

const listening = async <Listener extends NetServer>(
  server: Listener,
  options: ListenOptions,
): Promise<Listener> => {
  server.listen(options);
  await once(server, 'listening');
  return server;
};

const closed = (server: NetServer): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

const isUnsupported = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOTSUP';
