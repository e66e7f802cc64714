import { GraphQLError } from 'graphql';
import { makeServer } from 'graphql-ws';
import { estimatedBytesOfText } from '../graphql/limits/request-memory.ts';
import { createTrace } from '../http/exchange.ts';
import { toFormattedError } from '../subscriptions/frame.ts';
import { closeUnlessAuthenticated } from './authentication.ts';
import { type Connection, close } from './connection.ts';
import {
  type OperationPipeline,
  prepareOperation,
  type SocketOperation,
  startOperation,
} from './operation.ts';

/** Parsed, a message may take some twenty times as much. HTTP accepts as many bytes in headers before authentication. */
const MAX_UNAUTHENTICATED_MESSAGE_BYTES = 16 * 1024;
const NO_STATUS = 1005;
const BAD_REQUEST = 4400;
const INTERNAL_ERROR = 4500;

/** The times that a client has, in milliseconds. */
export type SocketTimes = {
  /** From the upgrade to its connection_init. */
  readonly initMs: number;
  /** From there to a valid credential. */
  readonly authenticationMs: number;
};

export const SOCKET_TIMES: SocketTimes = { initMs: 3000, authenticationMs: 10_000 };

/** Speaks graphql-transport-ws on a connection until that is disconnected. */
type Protocol = (connection: Connection) => void;

export const createProtocol = (
  pipeline: OperationPipeline,
  { initMs, authenticationMs } = SOCKET_TIMES,
): Protocol => {
  const { authenticate, mask } = pipeline;
  const server = makeServer<Record<string, unknown> | undefined, Connection>({
    connectionInitWaitTimeout: initMs,
    // A connection that is not authenticated is acknowledged too: each of its operations gets the error.
    onConnect(socket) {
      socket.extra.operations = socket.subscriptions;
      return authenticate(socket).then(
        () => {},
        () => closeUnlessAuthenticated(socket.extra, authenticationMs),
      );
    },
    onSubscribe: (socket, id, payload) => prepareOperation(pipeline, { socket, id, payload }),
    execute: (args) => startOperation(args as SocketOperation),
    subscribe: (args) => startOperation(args as SocketOperation),
    // graphql-ws wraps the error that ends a stream; the wrapper has no code.
    onError({ extra: { traceparent } }, _id, _payload, errors) {
      const trace = createTrace(traceparent);
      return errors.map((error) =>
        toFormattedError(mask(error.cause instanceof GraphQLError ? error.cause : error, trace)),
      );
    },
  });

  return (connection) => {
    const { webSocket } = connection;
    const closed = server.opened(
      {
        protocol: webSocket.protocol,
        send: (data) => {
          webSocket.send(data);
          connection.onAnswer();
        },
        close: (code = NO_STATUS, reason = '') => close(connection, code, reason),
        onMessage: (handle) =>
          webSocket.on('message', (data) => {
            // Messages that the peer sent before it read the close frame are ignored.
            if (webSocket.readyState !== webSocket.OPEN) return;
            const text = String(data);
            connection.messageBytes = Buffer.byteLength(text);
            if (connection.caller === null && connection.messageBytes > MAX_UNAUTHENTICATED_MESSAGE_BYTES)
              return close(connection, BAD_REQUEST, 'Expected at most 16 KB before a valid credential');
            connection.messageWeight = estimatedBytesOfText(text);
            handle(text).catch(() => close(connection, INTERNAL_ERROR, 'Internal server error'));
          }),
      },
      connection,
    );
    connection.disconnected.signal.addEventListener('abort', () => void closed(NO_STATUS, ''), {
      once: true,
    });
  };
};
