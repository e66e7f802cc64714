import type { IncomingMessage, ServerResponse } from 'node:http';

/** Why a delivery is not taken. `message` is all that its sender learns. */
export class IngressError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
  }
}

const RETRY_AFTER_S = 5;

/** Not now; a later try may well be taken. */
export const unavailable = (): IngressError =>
  new IngressError(503, 'deliveries can not be stored now', { 'retry-after': String(RETRY_AFTER_S) });

const LINGER_MS = 1000;

/**
 * Answers, and where the request's body has not all been read, closes the connection. Not at once: a sender that is
 * still sending would meet a reset instead of the answer. So for a moment what it sends is thrown away.
 */
export const sendError = (
  request: IncomingMessage,
  response: ServerResponse,
  refusal: IngressError,
): void => {
  // A gateway that stops has answered in its place.
  if (response.headersSent) return;
  const body = JSON.stringify({ error: refusal.message });
  response.writeHead(refusal.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...refusal.headers,
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
