import { request } from 'node:http';
import { openRawSocket, subscribeMessage } from './raw-socket.ts';

/** A subscription that selects only cursors. */
const DOCUMENT = 'subscription ($after: String) { deliveries(after: $after) { cursor } }';

const CURSOR = Buffer.from('"cursor":"');

/** Returns the cursor in a frame or in an event's data, without parsing it, or null. */
const cursorIn = (bytes: Buffer): string | null => {
  const at = bytes.indexOf(CURSOR) + CURSOR.length;
  return at < CURSOR.length ? null : bytes.toString('latin1', at, bytes.indexOf(0x22, at));
};

/** Connects, and returns the function that disconnects. Calls `onEnd` once when the connection has ended for any reason. */
type Transport = (
  gatewayUrl: string,
  after: string,
  onCursor: (cursor: string) => void,
  onEnd: () => void,
  credentials?: Readonly<Record<string, string>>,
) => () => void;

export const byWebSocket: Transport = (gatewayUrl, after, onCursor, onEnd, credentials) => {
  let cut: (() => void) | null = null;
  let isCut = false;
  const onText = (payload: Buffer) => {
    const cursor = cursorIn(payload);
    if (cursor !== null && !isCut) onCursor(cursor);
  };
  openRawSocket(gatewayUrl, onText, credentials).then(
    (client) => {
      cut = () => client.socket.destroy();
      client.socket.on('close', onEnd);
      if (isCut || client.socket.destroyed) {
        cut();
        if (client.socket.closed) onEnd();
      } else client.write(subscribeMessage(DOCUMENT, { after }));
      void client.closed.then(() => client.socket.destroy());
    },
    () => onEnd(),
  );
  return () => {
    isCut = true;
    cut?.();
  };
};

/** Sends its last cursor as Last-Event-ID, as browsers do. */
export const byEventStream: Transport = (gatewayUrl, after, onCursor, onEnd, credentials) => {
  const { hostname, port } = new URL(gatewayUrl);
  let isCut = false;
  const outgoing = request({
    hostname,
    port,
    path: `/graphql?query=${encodeURIComponent(DOCUMENT)}`,
    headers: { accept: 'text/event-stream', 'last-event-id': after, ...credentials },
    agent: false,
  });
  outgoing.on('error', () => {});
  outgoing.on('close', onEnd);
  outgoing.on('response', (response) => {
    let rest = Buffer.alloc(0);
    response.on('error', () => {});
    response.on('data', (chunk: Buffer) => {
      let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let end = bytes.indexOf('\n\n'); end >= 0; end = bytes.indexOf('\n\n')) {
        const cursor = cursorIn(bytes.subarray(0, end));
        if (cursor !== null && !isCut) onCursor(cursor);
        bytes = bytes.subarray(end + 2);
      }
      rest = Buffer.from(bytes);
    });
  });
  outgoing.end();
  return () => {
    isCut = true;
    outgoing.destroy();
  };
};

type Options = {
  /** The gateway of the next connection. */
  readonly url: () => string;
  readonly transport: Transport;
  readonly after: string;
  /** The numbers of received deliveries at which it cuts its connection, ascending. */
  readonly cuts: readonly number[];
  /** Sent as headers, or as connectionParams. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Called for each received cursor, with the number of cursors before it. */
  readonly onCursor: (index: number, cursor: string) => void;
};

/** Starts a subscriber that loses its connection again and again, and resumes after its last cursor. */
export const startLoadClient = ({ url, transport, after, cuts, credentials, onCursor }: Options) => {
  const client = { received: 0, connections: 0, stop: () => {} };
  const cutsLeft = [...cuts];
  let last = after;
  let isStopped = false;
  const connect = () => {
    if (isStopped) return;
    client.connections += 1;
    const cut = transport(
      url(),
      last,
      (cursor) => {
        onCursor(client.received, cursor);
        last = cursor;
        client.received += 1;
        if (client.received !== cutsLeft[0]) return;
        cutsLeft.shift();
        cut();
      },
      () => setTimeout(connect, 20),
      credentials,
    );
    client.stop = () => {
      isStopped = true;
      cut();
    };
  };
  connect();
  return client;
};
