import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Caller } from '../../context.ts';
import { createMemoryBudget, type MemoryBudget } from '../../lib/memory-budget.ts';
import type { Trace } from '../../lib/trace.ts';
import { type Attribute, type ClientName, OTHER_CLIENT } from '../graphql/attribution.ts';
import { SOCKET_BYTES } from '../graphql/limits/answer-size.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { destroyUnlessClosed } from '../http/shutdown.ts';
import { FrameWriter } from './frame-writer.ts';

/** The part of the upgrade request that a connection keeps: the whole request would be its largest object. */
export type Upgrade = {
  /** The client's address. */
  readonly address: string;
  readonly traceparent: string | readonly string[] | undefined;
  /** The client that its headers name, until the payload of `connection_init` names one. */
  client: ClientName;
};

export const upgradeOf = (
  request: IncomingMessage,
  clientAddress: ClientAddress,
  attribute: Attribute,
): Upgrade => ({
  address: clientAddress(request),
  traceparent: request.headers.traceparent,
  client: attribute.clientIn(request.headers) ?? OTHER_CLIENT,
});

/** Operations by id, as graphql-ws keeps them: from their `subscribe` message until they are completed. */
export type OperationTable = Record<string, AsyncIterable<unknown> | null>;

/** What the operations of a WebSocket have in common. */
export type Connection = Upgrade & {
  readonly webSocket: WebSocket;
  readonly frameWriter: FrameWriter;
  /** Called after an answer is written to the socket. */
  readonly onAnswer: () => void;
  /** How long its peer may take to close it, in milliseconds; undefined for the default. */
  readonly closeMs: number | undefined;
  /** The memory for heavy answers to its operations, see server/graphql/limits/answer-size.ts. */
  readonly answers: MemoryBudget;
  /** Aborts when the socket closes, or begins to: the peer may take long to answer the close frame. */
  readonly disconnected: AbortController;
  /** Null until the connection is authenticated. */
  caller: Caller | null;
  operations: OperationTable;
  /** The promise of `closeGracefully`; null until it is called. No operation begins afterwards. */
  drained: Promise<void> | null;
  /** The bytes of the message that is being handled: graphql-ws calls its hooks within the same turn. */
  messageBytes: number;
  /** The memory that this message takes once it is parsed, in bytes; see server/graphql/limits/request-memory.ts. */
  messageWeight: number;
};

export type SocketContext = Context<Record<string, unknown> | undefined, Connection>;

export const createConnection = (
  webSocket: WebSocket,
  stream: Duplex,
  upgrade: Upgrade,
  onAnswer: () => void,
  closeMs?: number,
): Connection => ({
  ...upgrade,
  webSocket,
  frameWriter: new FrameWriter(webSocket, stream, onAnswer),
  onAnswer,
  closeMs,
  answers: createMemoryBudget(SOCKET_BYTES),
  disconnected: new AbortController(),
  caller: null,
  operations: {},
  drained: null,
  messageBytes: 0,
  messageWeight: 0,
});

/** A control frame has at most 125 bytes, two of which are the code. */
const MAX_REASON_BYTES = 123;

const utf8 = new TextEncoder();

/** The beginning of the text that fits into a close frame. It may name a client's id, which is as long as the client likes. */
const shortened = (reason: string): string =>
  reason.slice(0, utf8.encodeInto(reason, new Uint8Array(MAX_REASON_BYTES)).read);

/** Ends all operations of the connection, and sends its peer a close frame with the reason. */
export const close = (
  { webSocket, disconnected, closeMs }: Connection,
  code: number,
  reason: string,
): void => {
  webSocket.close(code, shortened(reason));
  destroyUnlessClosed(webSocket, () => webSocket.terminate(), closeMs);
  disconnected.abort();
};

/** Reports sockets and their operations. */
export type SocketObserver = {
  /** Called when a WebSocket opens; the returned function is called when it has closed. */
  opened?(): (() => void) | undefined;
  /** Called when an upgrade is rejected, with its HTTP status. */
  refused?(status: number): void;
  /**
   * A client asks for an operation over its WebSocket. Takes the trace that it sent, and returns the trace of what the
   * operation causes. `ended` follows once it is answered or sends events; otherwise `clientSignal` aborts.
   */
  received?(trace: Trace, clientSignal: AbortSignal): Trace | undefined;
  ended?(trace: Trace): void;
};
