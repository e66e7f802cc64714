import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { ResponseReceiver } from './body.ts';

/** Upstream's kept-alive connections, at most `connections`. Other requests wait for a free one. */
export const createConnectionPool = (origin: string, connections: number, timeoutMs: number): Pool =>
  new Pool(origin, {
    connections,
    connect: createConnector(timeoutMs),
    factory: (url, options) => new Connection(url, options),
  });

/**
 * A connection that stays in its pool when it refuses a request. undici answers `false` both when a connection is busy and
 * when it refuses a request as invalid. The pool then considers it busy until it finishes a request. If it had none to
 * finish, it would be lost for good.
 */
class Connection extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const isFree = super.dispatch(options, handler);
    return isFree || (handler instanceof ResponseReceiver && handler.isRefused);
  }
}

/** If upstream sends more than this for one request, the connection counts as broken. */
const MAX_INTERIM = 100;

const STATUS = Buffer.from('HTTP/1.1 100');
/** The index of the status code's first digit. */
const CODE_AT = 'HTTP/1.1 '.length;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const ONE = 0x31;
const TWO = 0x32;

/**
 * Connects sockets that rewrite `100 Continue` to `102 Processing`. HTTP allows any number of interim responses (1xx)
 * before the final one (https://www.rfc-editor.org/rfc/rfc9110#name-informational-1xx), requested or not. undici ignores
 * all of them except `100 Continue`, which it takes for a broken response. Both statuses mean: keep waiting.
 */
const createConnector = (timeoutMs: number): buildConnector.connector => {
  const connect = buildConnector({ timeout: timeoutMs });
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      // Despite the types there is no socket when the connection failed. Over HTTP/2 interim responses are frames.
      if (socket && !('alpnProtocol' in socket && socket.alpnProtocol === 'h2'))
        skipContinueResponses(socket);
      callback(...result);
    });
};

const skipContinueResponses = (socket: Socket): void => {
  const heads = new ResponseHeads();
  const write = socket.write;
  socket.write = ((...parameters: Parameters<typeof write>) => {
    heads.expect();
    return write.apply(socket, parameters);
  }) as typeof write;
  const read = socket.read;
  socket.read = (size) => {
    const chunk: unknown = read.call(socket, size);
    if (!(chunk instanceof Uint8Array)) return chunk;
    heads.rewrite(chunk);
    if (heads.interim > MAX_INTERIM) socket.destroy(new Error('Too many interim responses.'));
    return chunk;
  };
};

/** Follows the heads of interim responses. It ignores the final head and everything after it. */
class ResponseHeads {
  /** Interim responses since the request. */
  interim = 0;
  #place: 'status' | 'head' | 'final' = 'final';
  /** Bytes of the status line that have been read, and whether they are those of `100`. */
  #matched = 0;
  #isContinue = true;
  #isInterim = false;
  /** Consecutive line feeds: two end a head. */
  #feeds = 0;

  /** Called when a request is sent: the next byte is the first of a response's head. */
  expect(): void {
    this.interim = 0;
    this.#begin();
  }

  rewrite(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && this.#place !== 'final'; at += 1) {
      if (this.#place === 'status') this.#readStatus(chunk, at);
      else this.#readHead(chunk[at] ?? 0);
    }
  }

  #begin(): void {
    this.#place = 'status';
    this.#matched = 0;
    this.#isContinue = true;
    this.#isInterim = false;
    this.#feeds = 0;
  }

  #readStatus(chunk: Uint8Array, at: number): void {
    if (this.#matched === CODE_AT) this.#isInterim = chunk[at] === ONE;
    if (chunk[at] !== STATUS[this.#matched]) this.#isContinue = false;
    this.#matched += 1;
    if (this.#matched < STATUS.length) return;
    if (this.#isContinue) chunk[at] = TWO;
    if (this.#isInterim) this.interim += 1;
    this.#place = this.#isInterim ? 'head' : 'final';
  }

  #readHead(byte: number): void {
    if (byte === LINE_FEED) this.#feeds += 1;
    else if (byte !== CARRIAGE_RETURN) this.#feeds = 0;
    if (this.#feeds === 2) this.#begin();
  }
}
