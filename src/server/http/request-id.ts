import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { readTraceparent, type Trace } from '../../lib/trace-context.ts';

/** The header of the request id, in requests and in responses. */
export const REQUEST_ID = 'x-request-id';
/** A client's own id is used if any log can hold it as it is. */
const VALID = /^[\w.:-]{1,128}$/;

const TRACE = Symbol('trace of a request');

type NamedResponse = ServerResponse & { [TRACE]?: Trace };

/** Gives every request its trace. Its id is the client's own id if that is valid, else a new one. */
export const nameRequests = (server: Server): void => {
  server.prependListener('request', ({ headers }: IncomingMessage, response: NamedResponse) => {
    const given = headers[REQUEST_ID];
    const requestId = typeof given === 'string' && VALID.test(given) ? given : randomUUID();
    response[TRACE] = createTrace(headers.traceparent, requestId);
  });
};

/** The trace of the request that `response` answers. */
export const traceOf = (response: NamedResponse): Trace => response[TRACE] ?? createTrace();

/** What the request causes from now on belongs to this trace. */
export const setTrace = (response: NamedResponse, trace: Trace): void => {
  response[TRACE] = trace;
};

/** The id of the request that `response` answers. */
export const requestIdOf = (response: NamedResponse): string => response[TRACE]?.requestId ?? randomUUID();

/**
 * The trace of what came with the header `traceparent`. By default its request id is a new one: many operations of a
 * WebSocket share one request.
 */
export const createTrace = (
  traceparent?: string | readonly string[],
  requestId: string = randomUUID(),
): Trace => ({
  requestId,
  traceparent: readTraceparent(typeof traceparent === 'string' ? traceparent : null),
});
