import type { IncomingMessage, ServerResponse } from 'node:http';

/** Writes the status and the headers of a response, whose names are in lower case. */
export type WriteHead = (
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
) => void;

/** A refused delivery: the HTTP status, and `message` as the error of the JSON body. */
export class IngressError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'IngressError';
    this.status = status;
    this.headers = headers;
  }
}

const RETRY_AFTER_S = 5;

/** 503 with Retry-After: a later attempt may succeed. */
export class UnavailableError extends IngressError {
  constructor() {
    super(503, 'deliveries can not be stored now: try again later', { 'retry-after': String(RETRY_AFTER_S) });
    this.name = 'UnavailableError';
  }
}

/** There was no memory for the body. */
export class OutOfMemoryError extends UnavailableError {
  constructor() {
    super();
    this.name = 'OutOfMemoryError';
  }
}

const LINGER_MS = 1000;

/**
 * Sends the error. If the request's body has not been read to its end, closes the connection afterwards, with a delay: a
 * sender that is still sending would get a reset instead of the response. Meanwhile the rest of the body is discarded.
 */
export const sendError = (
  request: IncomingMessage,
  response: ServerResponse,
  error: IngressError,
  writeHead: WriteHead,
): void => {
  // The shutdown has answered already.
  if (response.headersSent) return;
  const body = JSON.stringify({ error: error.message });
  writeHead(response, error.status, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...error.headers,
    ...(request.complete ? {} : { connection: 'close' }),
  });
  if (request.complete) {
    response.end(body);
    return;
  }
  response.write(body);
  request.resume();
  const finish = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(finish, LINGER_MS).unref();
  request.once('end', finish).once('close', finish);
};
