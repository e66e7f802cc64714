import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionArgs, GraphQLError } from 'graphql';
import type { Context, SubscribePayload } from 'graphql-ws';
import { type Extra, useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { clientError } from '../graph/errors.ts';
import type { GraphQLServer } from './graphql.ts';
import type { IsAllowedOrigin } from './origins.ts';

type SocketContext = Context<Record<string, unknown> | undefined, Extra>;

export type WebSockets = {
  /** Closes every socket so that clients reconnect and resume: 1012, without a `complete`. */
  stop(): Promise<void>;
};

type Options = {
  readonly server: Server;
  readonly graphql: GraphQLServer;
  readonly isAllowedOrigin: IsAllowedOrigin;
  readonly maxSockets: number;
};

const MAX_MESSAGE_BYTES = 256 * 1024;
const MAX_SUBSCRIPTIONS = 100;
const INIT_TIMEOUT_MS = 3000;
const SERVICE_RESTART = 1012;

/** graphql-transport-ws on `/graphql`, executing through the same pipeline as HTTP. */
export const serveWebSockets = ({ server, graphql, isAllowedOrigin, maxSockets }: Options): WebSockets => {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  const open = new WeakMap<SocketContext, AbortController>();
  const protocol = useServer(
    {
      connectionInitWaitTimeout: INIT_TIMEOUT_MS,
      onConnect: (socket) => void open.set(socket, new AbortController()),
      onClose: (socket) => open.get(socket)?.abort(),
      onSubscribe: (socket, _id, payload) => prepare(graphql, socket, payload, open.get(socket)?.signal),
      execute: (args) => (args as Prepared).pipeline.execute(args),
      subscribe: (args) => (args as Prepared).pipeline.subscribe(args),
      // graphql-ws wraps what ended a stream, and with it loses the code.
      onError: (_socket, _id, _payload, errors) =>
        errors.map((error) => (error.cause instanceof GraphQLError ? error.cause : error).toJSON()),
    },
    sockets,
  );

  server.on('upgrade', (request, socket: Duplex, head) => {
    const refusal = refuse(request, isAllowedOrigin, sockets.clients.size >= maxSockets);
    if (refusal !== null) {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request));
  });

  return {
    async stop() {
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

type Prepared = ExecutionArgs & { readonly pipeline: ReturnType<GraphQLServer['getEnveloped']> };

const prepare = async (
  graphql: GraphQLServer,
  socket: SocketContext,
  { query, operationName, variables }: SubscribePayload,
  gone: AbortSignal | undefined,
): Promise<Prepared | readonly GraphQLError[]> => {
  // graphql-ws has counted this one already.
  if (Object.keys(socket.subscriptions).length > MAX_SUBSCRIPTIONS)
    return [
      clientError(
        'OPERATION_TOO_COMPLEX',
        `Expected at most ${MAX_SUBSCRIPTIONS} operations at once on a socket.`,
      ),
    ];
  const pipeline = graphql.getEnveloped({
    connectionParams: socket.connectionParams ?? {},
    req: socket.extra.request,
    ...(gone && { gone }),
  });
  try {
    const document = pipeline.parse(query);
    const errors = pipeline.validate(pipeline.schema, document);
    if (errors.length > 0) return errors as readonly GraphQLError[];
    const contextValue = await pipeline.contextFactory();
    return {
      schema: pipeline.schema,
      document,
      contextValue,
      operationName: operationName ?? null,
      variableValues: variables ?? null,
      pipeline,
    };
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
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
