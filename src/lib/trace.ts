import { randomBytes } from 'node:crypto';

/**
 * Identifies an operation and its upstream requests in the log, in the response and at upstream. It is passed down with the
 * work. If traces are exported, each span makes a trace for the work below it.
 */
export type Trace = {
  readonly requestId: string;
  /**
   * The W3C trace context (https://www.w3.org/TR/trace-context/) of the span that the work belongs to. If no traces are
   * exported, it is the client's; null if the client sent no valid one.
   */
  readonly traceparent: string | null;
};

const VALID = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_LENGTH = 512;
const SAMPLED = 1;

/** Returns the header unchanged when it is a valid traceparent of any version, else null. */
export const readTraceparent = (header: string | null | undefined): string | null => {
  if (!header || header.length > MAX_LENGTH) return null;
  const [, version, traceId = '', parentId = '', , more] = VALID.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  return isZero(traceId) || isZero(parentId) ? null : header;
};

/** The trace of an upstream request: the same one, as version 00, with a new span id. */
export const childOf = (trace: Trace): Trace => {
  if (trace.traceparent === null) return trace;
  const [, traceId, , flags = '00'] = trace.traceparent.split('-');
  const sampled = Number.parseInt(flags, 16) & SAMPLED;
  return { ...trace, traceparent: `00-${traceId}-${spanId()}-0${sampled}` };
};

const isZero = (id: string): boolean => /^0+$/.test(id);

const spanId = (): string => {
  const id = randomBytes(8).toString('hex');
  return isZero(id) ? spanId() : id;
};
