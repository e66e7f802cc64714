import { request } from 'node:http';
import { connect, type Socket } from 'node:net';

/** The subscribers of the bench: bare sockets that count bytes, so that the servers' work is what is measured. */

type Question =
  /** They are spread evenly over the ports. Events are published at the first one. */
  | { ask: 'subscribe'; ports: readonly number[]; document: string; count: number }
  | { ask: 'publish'; port: number; path: string; body: string };

/** What the subscribers of one server, or of several that are one, have had of the event under way. */
type Crowd = { readonly sockets: Socket[]; waitingFor: number; all: () => void };

const AT_ONCE = 50;
/** Longer than a server waits for connection_init, so that no timer of that is left. */
const SETTLE_MS = 4000;
const BETWEEN_MS = 100;
const GIVE_UP_MS = 10_000;

/** By the port where events are published. */
const crowds = new Map<number, Crowd>();
const landing = Buffer.alloc(65_536);

const maskedFrame = (text: string): Buffer => {
  const payload = Buffer.from(text);
  const header =
    payload.length < 126
      ? [0x81, 0x80 | payload.length]
      : [0x81, 0xfe, payload.length >> 8, payload.length & 255];
  // A mask of zeros leaves the payload as it is.
  return Buffer.concat([Buffer.from([...header, 0, 0, 0, 0]), payload]);
};

const TEXT = 1;
const PING = 9;
const EMPTY_PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** Counts the events among frames, which may come in parts, and answers pings. */
class FrameReader {
  readonly #socket: Socket;
  readonly #crowd: Crowd;
  /** The first bytes of a frame whose header has not come as a whole. */
  #header = Buffer.alloc(0);
  /** The bytes of a payload that are still to come. */
  #left = 0;

  constructor(socket: Socket, crowd: Crowd) {
    this.#socket = socket;
    this.#crowd = crowd;
  }

  take(bytes: Buffer): void {
    const frames = this.#header.length > 0 ? Buffer.concat([this.#header, bytes]) : bytes;
    this.#header = Buffer.alloc(0);
    let at = this.#left;
    while (at < frames.length) {
      const short = frames[at + 1] ?? 0;
      const payload = at + (short < 126 ? 2 : 4);
      if (payload > frames.length) {
        // The bytes lie in a buffer that is used again.
        this.#header = Buffer.from(frames.subarray(at));
        this.#left = 0;
        return;
      }
      const opcode = (frames[at] ?? 0) & 15;
      at = payload + (short < 126 ? short : frames.readUInt16BE(at + 2));
      if (opcode === PING) this.#socket.write(EMPTY_PONG);
      if (opcode !== TEXT) continue;
      this.#crowd.waitingFor -= 1;
      if (this.#crowd.waitingFor === 0) this.#crowd.all();
    }
    this.#left = at - frames.length;
  }
}

/** A subscriber, once its subscription was sent. */
const subscribe = (port: number, document: string, crowd: Crowd): Promise<void> =>
  new Promise((resolve, reject) => {
    let heard = '';
    let isSubscribed = false;
    const hear = (bytes: number): boolean => {
      if (isSubscribed) {
        frames.take(landing.subarray(0, bytes));
        return true;
      }
      heard += landing.toString('latin1', 0, bytes);
      if (heard.endsWith('\r\n\r\n')) socket.write(maskedFrame('{"type":"connection_init"}'));
      if (heard.includes('connection_ack')) {
        isSubscribed = true;
        const id = crypto.randomUUID();
        socket.write(maskedFrame(JSON.stringify({ id, type: 'subscribe', payload: { query: document } })));
        resolve();
      }
      return true;
    };
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer: landing, callback: hear } });
    const frames = new FrameReader(socket, crowd);
    socket.on('error', reject);
    socket.write(
      [
        'GET /graphql HTTP/1.1',
        'Host: 127.0.0.1',
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
      ].join('\r\n'),
    );
    crowd.sockets.push(socket);
  });

const gather = async (ports: readonly number[], document: string, count: number): Promise<void> => {
  const crowd: Crowd = { sockets: [], waitingFor: 0, all: () => {} };
  crowds.set(ports[0] ?? 0, crowd);
  while (crowd.sockets.length < count)
    for (const port of ports)
      await Promise.all(Array.from({ length: AT_ONCE }, () => subscribe(port, document, crowd)));
  await pause(SETTLE_MS);
};

/** Milliseconds until all have had the event; null when some do not get it: on a busy machine they subscribe later. */
const publish = async (port: number, path: string, body: string): Promise<number | null> => {
  const crowd = crowds.get(port);
  if (crowd === undefined) throw new Error(`nobody has subscribed at ${port}`);
  const all = Promise.withResolvers<void>();
  Object.assign(crowd, { waitingFor: crowd.sockets.length, all: all.resolve });
  const began = performance.now();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  request({ port, path, method: 'POST', headers }, (response) => response.resume()).end(body);
  let isUnderWay = true;
  // A process that never sleeps need not be woken, which a server would pay for at each of its writes.
  const stayAwake = () => isUnderWay && setImmediate(stayAwake);
  stayAwake();
  const haveAll = await Promise.race([all.promise.then(() => true), pause(GIVE_UP_MS).then(() => false)]);
  isUnderWay = false;
  const took = performance.now() - began;
  await pause(BETWEEN_MS);
  return haveAll ? took : null;
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

process.on('message', async (question: Question) => {
  const answer =
    question.ask === 'subscribe'
      ? await gather(question.ports, question.document, question.count)
      : await publish(question.port, question.path, question.body);
  process.send?.(answer ?? null);
});
