import { connect, type Socket } from 'node:net';

/** What has come whole. `text` is the body where it was asked for. */
export type Answer = { readonly status: number; readonly text: string | null };

/** One kept-alive connection with at most one request under way. */
export type HttpConnection = {
  /** Calls back when the whole answer is there. `keepsBody`: whether the body is wanted, or only counted. */
  send(bytes: Buffer, keepsBody: boolean, onAnswer: (answer: Answer) => void): void;
  close(): void;
};

/** All connections read into it: what lies there is taken before the next read. */
const landing = Buffer.alloc(256 * 1024);
const HEAD_END = '\r\n\r\n';
const LINE_FEED = 10;

/** The parts of a body that come chunked, or by their length. */
type Body = {
  /** Takes bytes of it, and says whether it has ended. */
  take(bytes: Buffer, onData: (data: Buffer) => void): boolean;
};

const bodyOfLength = (length: number): Body => {
  let remaining = length;
  return {
    take(bytes, onData) {
      remaining -= bytes.length;
      if (bytes.length > 0) onData(bytes);
      if (remaining < 0) throw new Error(`Expected an answer of ${length} bytes, got ${-remaining} more.`);
      return remaining === 0;
    },
  };
};

const chunkedBody = (): Body => {
  let line = '';
  /** Of the chunk, with its line end; null between chunks. */
  let remaining: number | null = null;
  let isLast = false;
  const takeLine = (bytes: Buffer): Buffer => {
    const end = bytes.indexOf(LINE_FEED);
    line += bytes.toString('latin1', 0, end === -1 ? bytes.length : end + 1);
    if (end === -1) return bytes.subarray(bytes.length);
    const size = Number.parseInt(line, 16);
    if (!(size >= 0)) throw new Error(`Expected the size of a chunk, got ${JSON.stringify(line)}.`);
    isLast = size === 0;
    remaining = size + 2;
    line = '';
    return bytes.subarray(end + 1);
  };
  return {
    take(bytes, onData) {
      let rest = bytes;
      while (rest.length > 0) {
        if (remaining === null) rest = takeLine(rest);
        else {
          const data = Math.min(rest.length, Math.max(0, remaining - 2));
          if (data > 0) onData(rest.subarray(0, data));
          const taken = Math.min(rest.length, remaining);
          remaining -= taken;
          rest = rest.subarray(taken);
          if (remaining > 0) continue;
          if (isLast) return true;
          remaining = null;
        }
      }
      return false;
    },
  };
};

const bodyAfter = (head: string): Body => {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return bodyOfLength(Number(length));
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return chunkedBody();
  throw new Error(`Expected an answer with a length or in chunks, got ${head}`);
};

/**
 * A client for a load: bare sockets and prepared bytes cost less than what they measure. It checks where each answer ends;
 * all else of HTTP is left out. `onFailure` is called once: for a connection that breaks, and for what is not HTTP.
 */
export const openConnection = (port: number, onFailure: (error: Error) => void): HttpConnection => {
  let head = '';
  let body: Body | null = null;
  let kept: Buffer[] | null = null;
  let answered: ((answer: Answer) => void) | null = null;
  const keep = (data: Buffer) => void kept?.push(Buffer.from(data));

  const take = (bytes: Buffer): void => {
    let rest = bytes;
    if (body === null) {
      const before = head.length;
      head += bytes.toString('latin1');
      const end = head.indexOf(HEAD_END);
      if (end === -1) return;
      rest = bytes.subarray(end + HEAD_END.length - before);
      head = head.slice(0, end);
      body = bodyAfter(head);
    }
    if (!body.take(rest, keep)) return;
    const status = Number(head.slice(9, 12));
    const text = kept === null ? null : Buffer.concat(kept).toString();
    const callback = answered;
    head = '';
    body = null;
    kept = null;
    answered = null;
    callback?.({ status, text });
  };

  const onRead = (length: number): boolean => {
    try {
      take(landing.subarray(0, length));
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
    }
    return true;
  };
  const socket: Socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: landing, callback: onRead },
  });
  socket.on('error', onFailure);
  socket.on('close', () => {
    if (answered !== null)
      onFailure(new Error('The server closed a connection before its answer was whole.'));
  });
  return {
    send(bytes, keepsBody, onAnswer) {
      answered = onAnswer;
      kept = keepsBody ? [] : null;
      socket.write(bytes);
    },
    close() {
      answered = null;
      socket.destroy();
    },
  };
};
