import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { readTraceparent, type Trace } from '../../lib/trace-context.ts';

const HEADER = 'x-request-id';
/** A client's own id is used if any log can hold it as it is. */
const VALID = /^[\w.:-]{1,128}$/;

/** Sets `X-Request-Id` on every response: the client's own id if it is valid, else a new one. */
export const nameRequests = (server: Server): void => {
  server.prependListener('request', ({ headers }: IncomingMessage, response: ServerResponse) => {
    const given = headers[HEADER];
    response.setHeader(HEADER, typeof given === 'string' && VALID.test(given) ? given : randomUUID());
  });
};

/**
 * The trace of an operation that came with the header `traceparent`. Its request id is the one that `response` carries.
 * Without a response it is a new one: many operations of a WebSocket share one request.
 */
export const traceOf = (
  traceparent: string | readonly string[] | undefined,
  response: ServerResponse | undefined,
): Trace => ({
  requestId: String(response?.getHeader(HEADER) ?? randomUUID()),
  traceparent: readTraceparent(typeof traceparent === 'string' ? traceparent : null),
});
