import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const TEXT = 0x81;
const CLOSE = 0x88;
const PING = 0x89;
const PONG = 0x8a;
const MASKED = 0x80;

/** A frame of a client. Its mask is zero, so that the payload needs no masking. */
export const clientFrame = (payload: string | Buffer, firstByte = TEXT): Buffer => {
  const bytes = Buffer.from(payload);
  const { length } = bytes;
  const header =
    length < 126 ? Buffer.from([firstByte, MASKED | length]) : Buffer.alloc(length < 65_536 ? 4 : 10);
  if (length >= 126) {
    header[0] = firstByte;
    header[1] = MASKED | (length < 65_536 ? 126 : 127);
    if (length < 65_536) header.writeUInt16BE(length, 2);
    else header.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([header, Buffer.alloc(4), bytes]);
};

/** A message of graphql-transport-ws as a client's frame. */
export const message = (content: object): Buffer => clientFrame(JSON.stringify(content));

export const subscribeMessage = (query: string, variables: object = {}, id = '1'): Buffer =>
  message({ id, type: 'subscribe', payload: { query, variables } });

/**
 * Opens a WebSocket by hand, and resolves when it is acknowledged or closed. It is the cheapest client, can stop reading,
 * and can write what no library would. `onText` gets the payload of each text frame; its bytes are valid only during the
 * call.
 */
export const openRawSocket = async (
  gatewayUrl: string,
  onText: (payload: Buffer) => void,
  connectionParams: object = {},
) => {
  const { hostname, port } = new URL(gatewayUrl);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay();
  const closed = Promise.withResolvers<number | null>();
  socket.on('error', () => {});
  socket.on('close', () => closed.resolve(null));
  await once(socket, 'connect');
  socket.write(
    'GET /graphql HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n' +
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  );
  socket.write(message({ type: 'connection_init', payload: connectionParams }));
  const acknowledged = Promise.withResolvers<void>();
  const read = createFrameReader((firstByte, payload) => {
    if (firstByte === CLOSE) return closed.resolve(payload.readUInt16BE());
    if (firstByte === PING) socket.write(clientFrame(payload, PONG));
    if (firstByte !== TEXT) return;
    if (payload.includes('"connection_ack"')) return acknowledged.resolve();
    onText(payload);
  });
  socket.on('data', read);
  await Promise.race([acknowledged.promise, closed.promise]);
  return {
    socket,
    write: (...frames: Buffer[]) => socket.write(Buffer.concat(frames)),
    /** Stops reading. The TCP window closes when the buffers of both operating systems are full. */
    stall: () => socket.pause(),
    resume: () => socket.resume(),
    /** The code of the gateway's close frame; null if the connection ended without one. */
    closed: closed.promise,
    [Symbol.dispose]: () => void socket.destroy(),
  };
};

/** Opens a raw socket that collects its messages, parsed. */
export const listenTo = async ({ url }: { readonly url: string }, connectionParams: object = {}) => {
  const received: { id?: string; type: string; payload?: unknown }[] = [];
  const client = await openRawSocket(
    url,
    (payload) => received.push(JSON.parse(String(payload))),
    connectionParams,
  );
  return Object.assign(client, { received });
};

export type RawSocket = Awaited<ReturnType<typeof openRawSocket>> & { readonly socket: Socket };

/** Parses the answer to the upgrade and the frames behind it, however they are split into chunks. */
const createFrameReader = (onFrame: (firstByte: number, payload: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0);
  let upgraded = false;
  return (chunk: Buffer): void => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (!upgraded) {
      const end = rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      upgraded = true;
      rest = rest.subarray(end + 4);
    }
    let at = 0;
    for (let frame = frameAt(rest, at); frame !== null; frame = frameAt(rest, at)) {
      onFrame(rest[at] ?? 0, rest.subarray(frame.start, frame.end));
      at = frame.end;
    }
    rest = rest.subarray(at);
  };
};

/** Returns the bounds of an unmasked frame's payload; null if it is incomplete. */
const frameAt = (bytes: Buffer, at: number): { start: number; end: number } | null => {
  const short = bytes[at + 1];
  if (short === undefined) return null;
  const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10);
  if (bytes.length < start) return null;
  const end = start + (short < 126 ? short : longLength(bytes, at + 2, short));
  return bytes.length < end ? null : { start, end };
};

const longLength = (bytes: Buffer, at: number, short: number): number =>
  short === 126 ? bytes.readUInt16BE(at) : Number(bytes.readBigUInt64BE(at));
