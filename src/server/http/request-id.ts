import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { readTraceparent, type Trace } from '../../lib/trace-context.ts';

/** The header of the request id, in requests and in responses. */
export const REQUEST_ID = 'x-request-id';
/** A client's own id is used if any log can hold it as it is. */
const VALID = /^[\w.:-]{1,128}$/;

const ID = Symbol('request id');

type NamedResponse = ServerResponse & { [ID]?: string };

/** Gives every request an id: the client's own id if it is valid, else a new one. */
export const nameRequests = (server: Server): void => {
  server.prependListener('request', ({ headers }: IncomingMessage, response: NamedResponse) => {
    const given = headers[REQUEST_ID];
    response[ID] = typeof given === 'string' && VALID.test(given) ? given : randomUUID();
  });
};

/** The id of the request that `response` answers. */
export const requestIdOf = (response: NamedResponse): string => response[ID] ?? randomUUID();

/**
 * The trace of an operation that came with the header `traceparent`. Its request id is the one that `response` carries.
 * Without a response it is a new one: many operations of a WebSocket share one request.
 */
export const traceOf = (
  traceparent: string | readonly string[] | undefined,
  response: ServerResponse | undefined,
): Trace => ({
  requestId: response ? requestIdOf(response) : randomUUID(),
  traceparent: readTraceparent(typeof traceparent === 'string' ? traceparent : null),
});
