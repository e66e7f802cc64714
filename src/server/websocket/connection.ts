import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
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

/** What the operations of a WebSocket have in common. There are many of them: it holds what is rarely used only once it is. */
export class Connection implements Upgrade {
  readonly address: string;
  readonly traceparent: string | readonly string[] | undefined;
  client: ClientName;
  readonly webSocket: WebSocket;
  readonly frameWriter: FrameWriter;
  /** How long its peer may take to close it, in milliseconds; undefined for the default. */
  readonly closeMs: number | undefined;
  /** Null until the connection is authenticated. */
  caller: Caller | null = null;
  operations: OperationTable = {};
  /** The promise of `closeGracefully`; null until it is called. No operation begins afterwards. */
  drained: Promise<void> | null = null;
  /** The message that is being handled: graphql-ws calls its hooks within the same turn. */
  message: Message = { bytes: 0, weight: 0, handled: null };
  /** Whether the socket has closed, or begins to: the peer may take long to answer the close frame. */
  isDisconnected = false;
  #answers: MemoryBudget | null = null;
  #disconnected: AbortController | null = null;
  #onDisconnected: readonly (() => void)[] = [];

  constructor(
    webSocket: WebSocket,
    stream: Socket,
    { address, traceparent, client }: Upgrade,
    onAnswer: (stream: Socket) => void,
    closeMs?: number,
  ) {
    this.address = address;
    this.traceparent = traceparent;
    this.client = client;
    this.webSocket = webSocket;
    this.frameWriter = new FrameWriter(webSocket, stream, onAnswer);
    this.closeMs = closeMs;
  }

  /** The memory for heavy answers to its operations, see server/graphql/limits/answer-size.ts. */
  get answers(): MemoryBudget {
    this.#answers ??= createMemoryBudget(SOCKET_BYTES);
    return this.#answers;
  }

  /** Aborts when the connection is disconnected. */
  get disconnectedSignal(): AbortSignal {
    this.#disconnected ??= new AbortController();
    if (this.isDisconnected) this.#disconnected.abort();
    return this.#disconnected.signal;
  }

  /** Calls back once, when the connection is disconnected; never when it is already. */
  onDisconnected(callback: () => void): void {
    // An array that grows by `push`, or is spread, has room for many more.
    if (!this.isDisconnected) this.#onDisconnected = this.#onDisconnected.concat(callback);
  }

  /** Ends all that is done for the connection. */
  disconnect(): void {
    if (this.isDisconnected) return;
    this.isDisconnected = true;
    this.#disconnected?.abort();
    for (const callback of this.#onDisconnected) callback();
    this.#onDisconnected = [];
  }
}

/** A message of a client. */
export type Message = {
  readonly bytes: number;
  /** The memory that it takes once it is parsed, in bytes; see server/graphql/limits/request-memory.ts. */
  readonly weight: number;
  /** Called once graphql-ws has handled it. */
  handled: (() => void) | null;
};

export type SocketContext = Context<Record<string, unknown> | undefined, Connection>;

/** A control frame has at most 125 bytes, two of which are the code. */
const MAX_REASON_BYTES = 123;

const utf8 = new TextEncoder();

/** The beginning of the text that fits into a close frame. It may name a client's id, which is as long as the client likes. */
const shortened = (reason: string): string =>
  reason.slice(0, utf8.encodeInto(reason, new Uint8Array(MAX_REASON_BYTES)).read);

/** Ends all operations of the connection, and sends its peer a close frame with the reason. */
export const close = (connection: Connection, code: number, reason: string): void => {
  const { webSocket, closeMs } = connection;
  webSocket.close(code, shortened(reason));
  destroyUnlessClosed(webSocket, () => webSocket.terminate(), closeMs);
  connection.disconnect();
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
