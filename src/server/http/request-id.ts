import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { readTraceparent, type Trace } from '../../lib/trace-context.ts';

const HEADER = 'x-request-id';
/** Of a client's own ids, those that any log can hold as they are. */
const SANE = /^[\w.:-]{1,128}$/;

/** Has every answer carry its request's id: the client's own when it is sane, else one that is made here. */
export const nameRequests = (server: Server): void => {
  server.prependListener('request', ({ headers }: IncomingMessage, response: ServerResponse) => {
    const given = headers[HEADER];
    response.setHeader(HEADER, typeof given === 'string' && SANE.test(given) ? given : randomUUID());
  });
};

/**
 * The trace of an operation that came with the header `traceparent`. It goes by the id that its `response` carries; on a
 * WebSocket, where many come by one request, each has an id of its own.
 */
export const traceOf = (
  traceparent: string | readonly string[] | undefined,
  response: ServerResponse | undefined,
): Trace => ({
  requestId: String(response?.getHeader(HEADER) ?? randomUUID()),
  traceparent: readTraceparent(typeof traceparent === 'string' ? traceparent : null),
});
