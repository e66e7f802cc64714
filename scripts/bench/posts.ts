import { connect, type Socket } from 'node:net';

/** A request of which each sending differs: `stamp` writes `number` into `bytes`, whose length stays. */
export type Request = { readonly bytes: Buffer; readonly stamp: (number: number) => void };

export type Measured = {
  /** Answered 2xx a second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answered: number;
};

type Options = {
  readonly port: number;
  readonly inFlight: number;
  readonly ms: number;
  /** The request that a connection sends again and again. */
  readonly request: () => Request;
  /** Gives each sending a number that no other has. */
  readonly next: () => number;
};

const OK = 'HTTP/1.1 200';

/**
 * Posts over `inFlight` connections, each with one request under way, for `ms`. Raw sockets and made-up bytes: a
 * client library would cost more than the server that is measured. Rejects for any answer but 200.
 */
export const measurePosts = async ({ port, inFlight, ms, request, next }: Options): Promise<Measured> => {
  const times: number[] = [];
  const started = performance.now();
  const end = started + ms;
  const connections = Array.from({ length: inFlight }, () => keepPosting(port, request(), next, end, times));
  await Promise.all(connections);
  return summary(times, performance.now() - started);
};

/** Also of what is measured without HTTP. */
export const summary = (times: readonly number[], elapsedMs: number): Measured => {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return {
    rate: (times.length / elapsedMs) * 1000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    answered: times.length,
  };
};

const keepPosting = (
  port: number,
  { bytes, stamp }: Request,
  next: () => number,
  end: number,
  times: number[],
): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sentAt = 0;
  let received = '';
  const send = (socket: Socket) => {
    stamp(next());
    sentAt = performance.now();
    socket.write(bytes);
  };
  const take = (length: number, buffer: Uint8Array) => {
    received += Buffer.from(buffer.buffer, buffer.byteOffset, length).toString('latin1');
    if (!isWhole(received)) return true;
    const now = performance.now();
    if (!received.startsWith(OK)) {
      reject(new Error(`expected ${OK}, got ${received}`));
      socket.destroy();
      return true;
    }
    times.push(now - sentAt);
    received = '';
    if (now < end) send(socket);
    else socket.end();
    return true;
  };
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: Buffer.alloc(4096), callback: take },
  });
  socket
    .on('connect', () => send(socket))
    .on('close', () => resolve())
    .on('error', reject);
  return promise;
};

/** Whether a response with a content-length has come to its end. */
const isWhole = (text: string): boolean => {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return false;
  const at = text.toLowerCase().indexOf('content-length: ');
  return at !== -1 && at < head && text.length >= head + 4 + Number.parseInt(text.slice(at + 16), 10);
};
