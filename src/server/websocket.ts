import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import type { GraphQLServer } from './graphql.ts';
import type { IsAllowedOrigin } from './origins.ts';
import { createRunning } from './running.ts';
import { prepareOperation, type SocketContext, type SocketOperation } from './socket-operation.ts';

export type WebSockets = {
  /** Finishes queries and mutations, then closes every socket so that clients resume: 1012, without a `complete`. */
  stop(): Promise<void>;
};

type Options = {
  readonly server: Server;
  readonly graphql: GraphQLServer;
  /** What a client is told of an error. */
  readonly mask: (error: unknown) => GraphQLError;
  readonly isAllowedOrigin: IsAllowedOrigin;
  readonly maxSockets: number;
};

const MAX_MESSAGE_BYTES = 256 * 1024;
const INIT_TIMEOUT_MS = 3000;
const SERVICE_RESTART = 1012;
/** Time for queries and mutations that are under way to be finished. */
const DRAIN_MS = 5000;

/** graphql-transport-ws on `/graphql`, executing through the same pipeline as HTTP. */
export const serveWebSockets = (options: Options): WebSockets => {
  const { server, graphql, mask, isAllowedOrigin, maxSockets } = options;
  const running = createRunning();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  const open = new WeakMap<SocketContext, AbortController>();
  const protocol = useServer(
    {
      connectionInitWaitTimeout: INIT_TIMEOUT_MS,
      onConnect: (socket) => void open.set(socket, new AbortController()),
      onClose: (socket) => open.get(socket)?.abort(),
      onSubscribe: (socket, _id, payload) =>
        prepareOperation({ graphql, mask, gone: open.get(socket)?.signal }, socket, payload),
      execute: (args) => running.track((args as SocketOperation).pipeline.execute(args)),
      subscribe: (args) => (args as SocketOperation).pipeline.subscribe(args),
      // graphql-ws wraps what ended a stream, and with it loses the code.
      onError: (_socket, _id, _payload, errors) =>
        errors.map((error) =>
          withoutHttp((error.cause instanceof GraphQLError ? error.cause : error).toJSON()),
        ),
    },
    sockets,
  );

  server.on('upgrade', (request, socket: Duplex, head) => {
    // Node has taken its own listener off: a peer's reset would else be nobody's, and end the process.
    socket.on('error', () => socket.destroy());
    const refusal = refuse(request, isAllowedOrigin, sockets.clients.size >= maxSockets);
    if (refusal !== null) {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request));
  });

  return {
    async stop() {
      await running.drained(DRAIN_MS);
      for (const socket of sockets.clients) socket.close(SERVICE_RESTART, 'Service Restart');
      const grace = setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate();
      }, CLOSE_GRACE_MS);
      await protocol.dispose();
      clearTimeout(grace);
    },
  };
};

/** A peer that does not answer the close is dropped after this long. */
const CLOSE_GRACE_MS = 1000;

/** An HTTP status is for the other transport. */
const withoutHttp = ({ extensions, ...error }: GraphQLFormattedError): GraphQLFormattedError => {
  const { http, ...rest } = extensions ?? {};
  return { ...error, extensions: rest };
};

const refuse = (
  { url, headers }: IncomingMessage,
  isAllowedOrigin: IsAllowedOrigin,
  full: boolean,
): string | null => {
  if (url?.split('?')[0] !== '/graphql') return '404 Not Found';
  if (!isAllowedOrigin(headers.origin, headers.host)) return '403 Forbidden';
  return full ? '503 Service Unavailable' : null;
};
