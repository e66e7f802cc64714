import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Caller } from '../../context.ts';
import { createMemoryBudget, type MemoryBudget } from '../../lib/memory-budget.ts';
import { SOCKET_BYTES } from '../graphql/limits/socket-memory.ts';
import { destroyUnlessClosed } from '../http/force-close.ts';
import { FrameWriter } from './shared-frame-writer.ts';

/** What is kept of the request that asked for the WebSocket: the whole would weigh more than all the rest. */
export type Upgrade = {
  /** The network address that it came from. */
  readonly address: string | undefined;
  readonly traceparent: string | readonly string[] | undefined;
};

export const upgradeOf = ({ headers, socket }: IncomingMessage): Upgrade => ({
  address: socket.remoteAddress,
  traceparent: headers.traceparent,
});

/** Operations by their ids, as graphql-ws keeps them: in it from when they come until they are completed. */
export type OperationTable = Record<string, AsyncIterable<unknown> | null>;

/** What a WebSocket's operations have in common. */
export type Connection = Upgrade & {
  readonly webSocket: WebSocket;
  readonly frameWriter: FrameWriter;
  /** For the heavy answers of its operations, see server/graphql/limits/socket-memory.ts. */
  readonly answers: MemoryBudget;
  /** Aborts when it has closed, or begins to: its peer may take long to agree. */
  readonly disconnected: AbortController;
  /** Null until it is admitted. */
  caller: Caller | null;
  operations: OperationTable;
  /** Settles when it is closed, once that was decided and nothing begins on it any more, see graceful-close.ts; null until then. */
  drained: Promise<void> | null;
  /** Of the message that is being handled: graphql-ws hands it on within the same turn. */
  messageBytes: number;
  /** What it comes to once it is read; see server/graphql/limits/request-memory.ts. */
  messageWeight: number;
};

export type SocketContext = Context<Record<string, unknown> | undefined, Connection>;

/** `onAnswer` is called when an answer was written to it. */
export const createConnection = (
  webSocket: WebSocket,
  stream: Duplex,
  upgrade: Upgrade,
  onAnswer: () => void,
): Connection => ({
  ...upgrade,
  webSocket,
  frameWriter: new FrameWriter(webSocket, stream, onAnswer),
  answers: createMemoryBudget(SOCKET_BYTES),
  disconnected: new AbortController(),
  caller: null,
  operations: {},
  drained: null,
  messageBytes: 0,
  messageWeight: 0,
});

/** Ends all that runs on the connection, and tells its peer why. */
export const close = ({ webSocket, disconnected }: Connection, code: number, reason: string): void => {
  webSocket.close(code, reason);
  destroyUnlessClosed(webSocket, () => webSocket.terminate());
  disconnected.abort();
};
