import { connect } from 'node:net';

/** What has come whole. `text` is the body where it was asked for. */
export type Answer = { readonly status: number; readonly text: string | null };

/** All connections read into it: what lies there is taken before the next read. */
const landing = Buffer.alloc(256 * 1024);
const HEAD_END = '\r\n\r\n';
/** No text of JSON has a line end of HTTP, so a chunked body has this nowhere but at its end. */
const LAST_CHUNK = '0\r\n\r\n';

/** What takes the parts of a body, and says whether it has ended. */
const bodyAfter = (head: string): ((bytes: Buffer) => boolean) => {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    let left = Number(length);
    return (bytes) => {
      left -= bytes.length;
      if (left < 0) throw new Error(`Expected an answer of ${length} bytes, got ${-left} more.`);
      return left === 0;
    };
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head))
    throw new Error(`Expected an answer with a length or in chunks, got ${head}`);
  let tail = '';
  return (bytes) => {
    tail = (tail + bytes.toString('latin1', Math.max(0, bytes.length - LAST_CHUNK.length))).slice(
      -LAST_CHUNK.length,
    );
    return tail === LAST_CHUNK;
  };
};

/** The text of a body whose chunks have come whole. */
const joinChunks = (body: Buffer): string => {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const start = body.indexOf('\r\n', at) + 2;
    const size = Number.parseInt(body.toString('latin1', at, start), 16);
    if (!(size > 0)) return Buffer.concat(chunks).toString();
    chunks.push(body.subarray(start, start + size));
    at = start + size + 2;
  }
};

/**
 * One kept-alive connection of a load, with at most one request under way: bare sockets and prepared bytes cost less than what
 * they measure. It checks where each answer ends; all else of HTTP is left out. `onFailure` is called for a connection that
 * breaks, and for what is not HTTP.
 */
export const openConnection = (port: number, onFailure: (error: Error) => void) => {
  let head = '';
  let takesLast: ((bytes: Buffer) => boolean) | null = null;
  let kept: Buffer[] | null = null;
  let answered: ((answer: Answer) => void) | null = null;

  const take = (bytes: Buffer): void => {
    let rest = bytes;
    if (takesLast === null) {
      const before = head.length;
      head += bytes.toString('latin1');
      const end = head.indexOf(HEAD_END);
      if (end === -1) return;
      rest = bytes.subarray(end + HEAD_END.length - before);
      head = head.slice(0, end);
      takesLast = bodyAfter(head);
    }
    kept?.push(Buffer.from(rest));
    if (!takesLast(rest)) return;
    const isChunked = /\r\ntransfer-encoding:/i.test(head);
    const body = kept && Buffer.concat(kept);
    const answer = {
      status: Number(head.slice(9, 12)),
      text: body && (isChunked ? joinChunks(body) : body.toString()),
    };
    const callback = answered;
    [head, takesLast, kept, answered] = ['', null, null, null];
    callback?.(answer);
  };

  const onRead = (length: number): boolean => {
    try {
      take(landing.subarray(0, length));
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
    }
    return true;
  };
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: landing, callback: onRead },
  });
  socket.on('error', onFailure).on('close', () => {
    if (answered !== null)
      onFailure(new Error('The server closed a connection before its answer was whole.'));
  });
  return {
    /** Calls back when the whole answer is there. `keepsBody`: whether the body is wanted, or only counted. */
    send(bytes: Buffer, keepsBody: boolean, onAnswer: (answer: Answer) => void): void {
      answered = onAnswer;
      kept = keepsBody ? [] : null;
      socket.write(bytes);
    },
    close(): void {
      answered = null;
      socket.destroy();
    },
  };
};
