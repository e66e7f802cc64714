import { request } from 'node:http';
import { openRawSocket, subscribeMessage } from './raw-socket.ts';

/** A subscription that tells of cursors alone. */
const DOCUMENT = 'subscription ($after: String) { deliveries(after: $after) { cursor } }';

const CURSOR = Buffer.from('"cursor":"');

/** Reads the cursor of a frame, or of an event's data. */
const cursorIn = (bytes: Buffer): string | null => {
  const at = bytes.indexOf(CURSOR) + CURSOR.length;
  return at < CURSOR.length ? null : bytes.toString('latin1', at, bytes.indexOf(0x22, at));
};

/** Connects; gives what cuts it. Calls `ended` once, when it is over, for whatever reason. */
type Transport = (
  gatewayUrl: string,
  after: string,
  onCursor: (cursor: string) => void,
  ended: () => void,
  credentials?: Readonly<Record<string, string>>,
) => () => void;

export const byWebSocket: Transport = (gatewayUrl, after, onCursor, ended, credentials) => {
  let cut: (() => void) | null = null;
  let isCut = false;
  const onText = (payload: Buffer) => {
    const cursor = cursorIn(payload);
    if (cursor !== null && !isCut) onCursor(cursor);
  };
  openRawSocket(gatewayUrl, onText, credentials).then(
    (client) => {
      cut = () => client.socket.destroy();
      client.socket.on('close', ended);
      if (isCut || client.socket.destroyed) {
        cut();
        if (client.socket.closed) ended();
      } else client.write(subscribeMessage(DOCUMENT, { after }));
      void client.closed.then(() => client.socket.destroy());
    },
    () => ended(),
  );
  return () => {
    isCut = true;
    cut?.();
  };
};

/** Says where it was by Last-Event-ID, as browsers do. */
export const byEventStream: Transport = (gatewayUrl, after, onCursor, ended, credentials) => {
  const { hostname, port } = new URL(gatewayUrl);
  let isCut = false;
  const sent = request({
    hostname,
    port,
    path: `/graphql?query=${encodeURIComponent(DOCUMENT)}`,
    headers: { accept: 'text/event-stream', 'last-event-id': after, ...credentials },
    agent: false,
  });
  sent.on('error', () => {});
  sent.on('close', ended);
  sent.on('response', (response) => {
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
  sent.end();
  return () => {
    isCut = true;
    sent.destroy();
  };
};

type Options = {
  readonly url: string;
  readonly transport: Transport;
  readonly after: string;
  /** After how many deliveries it cuts its connection, ascending. */
  readonly cuts: readonly number[];
  /** As headers, or as connectionParams. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Called for each cursor that it got, with how many it had before. */
  readonly onCursor: (index: number, cursor: string) => void;
};

/** A dashboard that loses its connection again and again, and comes back with its last cursor. */
export const startLoadClient = ({ url, transport, after, cuts, credentials, onCursor }: Options) => {
  const client = { received: 0, connections: 0, stop: () => {} };
  const cutsLeft = [...cuts];
  let last = after;
  let isStopped = false;
  const connect = () => {
    if (isStopped) return;
    client.connections += 1;
    const cut = transport(
      url,
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
