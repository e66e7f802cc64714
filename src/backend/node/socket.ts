import { WebSocket } from 'ws';
import { NodeUnavailableError, TimedOutError } from './errors.ts';
import {
  authorizationOf,
  isMessage,
  MAX_ANSWER_BYTES,
  type Outcome,
  parseJson,
  type RpcCall,
  readOutcome,
  requestOf,
  type Transport,
  type TransportOptions,
} from './transport.ts';

export type SocketOptions = TransportOptions & {
  /** Milliseconds that the node has to accept the connection. */
  readonly handshakeMs: number;
  /** Called with what the node sends to a subscription. */
  readonly onNotification?: (result: unknown) => void;
};

type Waiting = {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (problem: NodeUnavailableError) => void;
};

/** A connection on which nothing has come for this time, not even a pong, is lost. */
const SILENT_MS = 15_000;

/** Sends calls over a WebSocket, each as a message. It connects at the first call, and at the next one after it was lost. */
export const createSocketTransport = ({
  url,
  handshakeMs,
  redact,
  onLost,
  onNotification = () => {},
}: SocketOptions): Transport => {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let connection: Promise<WebSocket> | null = null;
  let current: WebSocket | null = null;
  let isClosed = false;

  const receive = (text: string): boolean => {
    const message = parseJson(text);
    if (isMessage(message) && message.method === 'eth_subscription') {
      onNotification(isMessage(message.params) ? message.params.result : undefined);
      return true;
    }
    const read = readOutcome(message, redact);
    if (read === null || typeof read.id !== 'number') return false;
    // Ignores an answer to a call that has timed out.
    waiting.get(read.id)?.resolve(read.outcome);
    return true;
  };

  const connect = (): Promise<WebSocket> =>
    new Promise((resolve, reject) => {
      const address = new URL(url);
      address.username = '';
      address.password = '';
      const socket = new WebSocket(address, {
        headers: authorizationOf(url),
        maxPayload: MAX_ANSWER_BYTES,
        handshakeTimeout: handshakeMs,
        perMessageDeflate: false,
      });
      current = socket;
      let problem = 'the connection was closed';
      let isHeard = true;
      let heartbeat: NodeJS.Timeout | undefined;
      const beat = () => {
        if (!isHeard) return socket.terminate();
        isHeard = false;
        socket.ping();
      };
      const heard = () => {
        isHeard = true;
      };
      socket.on('open', () => {
        heartbeat = setInterval(beat, SILENT_MS);
        resolve(socket);
      });
      socket.on('pong', heard);
      socket.on('message', (data) => {
        heard();
        if (receive(String(data))) return;
        problem = `expected a message of JSON-RPC, got ${JSON.stringify(redact(String(data)))}`;
        socket.terminate();
      });
      socket.on('error', (error) => {
        problem = redact(error.message || ('code' in error ? String(error.code) : error.name));
      });
      socket.on('close', () => {
        clearInterval(heartbeat);
        connection = null;
        const isSilent = problem.includes('handshake has timed out');
        const lost = new (isSilent ? TimedOutError : NodeUnavailableError)(problem);
        reject(lost);
        for (const { reject: fail } of waiting.values()) fail(lost);
        onLost();
      });
    });

  const send = async (call: RpcCall, timeoutMs: number): Promise<Outcome> => {
    if (isClosed) throw new NodeUnavailableError('the connection was closed');
    connection ??= connect();
    const socket = await connection;
    const id = ++lastId;
    let timeout: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Outcome>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        timeout = setTimeout(
          () => reject(new TimedOutError(`expected an answer in ${timeoutMs} ms`)),
          timeoutMs,
        );
        socket.send(JSON.stringify(requestOf(id, call)));
      });
    } finally {
      clearTimeout(timeout);
      waiting.delete(id);
    }
  };

  return {
    // Their answers come one by one anyway, and nodes take fewer calls in a batch here, or are slower with it.
    hasBatches: false,
    send: (calls, timeoutMs) => Promise.all(calls.map((call) => send(call, timeoutMs))),
    async close() {
      isClosed = true;
      current?.terminate();
    },
  };
};
