import { randomBytes } from 'node:crypto';

/** By which an operation, and the requests that it makes, are found again: in the log, in the reply, at the service. */
export type Trace = {
  readonly requestId: string;
  /** The client's own W3C trace context; null when it sent none that is valid. */
  readonly traceparent: string | null;
};

const VALID = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_LENGTH = 512;
const SAMPLED = 1;

/** The header as it came when it is a valid traceparent of any version; else null. */
export const readTraceparent = (header: string | null | undefined): string | null => {
  if (!header || header.length > MAX_LENGTH) return null;
  const [, version, traceId = '', parentId = '', , more] = VALID.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  return isZero(traceId) || isZero(parentId) ? null : header;
};

/** What a request that is made for this trace carries: the same trace, as version 00, under a span id of its own. */
export const childOf = (traceparent: string): string => {
  const [, traceId, , flags = '00'] = traceparent.split('-');
  const sampled = Number.parseInt(flags, 16) & SAMPLED;
  return `00-${traceId}-${spanId()}-0${sampled}`;
};

const isZero = (id: string): boolean => /^0+$/.test(id);

const spanId = (): string => {
  const id = randomBytes(8).toString('hex');
  return isZero(id) ? spanId() : id;
};
