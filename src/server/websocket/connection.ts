import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Caller } from '../../context.ts';
import { onExpiry } from '../expiry.ts';
import { Outlet } from './outlet.ts';

/** What a WebSocket's operations have in common. */
export type Connection = {
  readonly webSocket: WebSocket;
  readonly outlet: Outlet;
  /** The network address that it came from. */
  readonly address: string | undefined;
  /** The header of its upgrade. */
  readonly traceparent: string | readonly string[] | undefined;
  /** Aborts when it has closed, or begins to: its peer may take long to agree. */
  readonly gone: AbortController;
  /** Null until it has said who it is, and when it is nobody: each of its operations is then told so. */
  caller: Caller | null;
};

export type SocketContext = Context<Record<string, unknown> | undefined, Connection>;

export const createConnection = (
  webSocket: WebSocket,
  stream: Duplex,
  { headers, socket }: IncomingMessage,
): Connection => ({
  webSocket,
  outlet: new Outlet(webSocket, stream),
  address: socket.remoteAddress,
  traceparent: headers.traceparent,
  gone: new AbortController(),
  caller: null,
});

/** Ends all that runs on the connection, and tells its peer why. */
export const close = ({ webSocket, gone }: Connection, code: number, reason: string): void => {
  webSocket.close(code, reason);
  gone.abort();
};

const FORBIDDEN = 4403;

/** From now on the connection acts for the caller: until its rights end, and with them the socket. */
export const admit = (connection: Connection, caller: Caller): void => {
  const { signal } = connection.gone;
  connection.caller = caller;
  if (caller.expiresAt === null || signal.aborted) return;
  const stop = onExpiry(caller.expiresAt, () => close(connection, FORBIDDEN, 'Forbidden'));
  signal.addEventListener('abort', stop);
};
