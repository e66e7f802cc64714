import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { IsAllowedOrigin, IsOwnHost } from '../browsers/origin-check.ts';
import { bodyOf, type OriginErrors } from '../browsers/origin-errors.ts';
import { destroyUnlessClosed } from '../http/force-close.ts';
import { type RuleViolation, ruleViolationOf } from '../http/request-validation.ts';

export type UpgradePolicy = {
  readonly isAllowedOrigin: IsAllowedOrigin;
  readonly isOwnHost: IsOwnHost;
  readonly refusals: OriginErrors;
};

type Rejection = { readonly status: RuleViolation['status'] | 403 | 404 | 503; readonly body: string };

/** Returns why an upgrade request gets no WebSocket, or null if it gets one. `isFull`: no further socket may open. */
export const rejectionOf = (
  request: IncomingMessage,
  { isAllowedOrigin, isOwnHost, refusals }: UpgradePolicy,
  isFull: boolean,
): Rejection | null => {
  const { url, headers } = request;
  const { origin, host } = headers;
  const violation = ruleViolationOf(request);
  if (violation) return { status: violation.status, body: JSON.stringify({ error: violation.message }) };
  if (url?.split('?')[0] !== '/graphql') return { status: 404, body: '' };
  if (!isAllowedOrigin(origin, host))
    return { status: 403, body: bodyOf(isOwnHost(host) ? refusals.origin(origin) : refusals.host(host)) };
  return isFull ? { status: 503, body: '' } : null;
};

/** Answers an upgrade request with the status and the body, and closes its connection. */
export const rejectUpgrade = (stream: Duplex, { status, body }: Rejection): void => {
  stream.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Connection: close',
      ...(body ? ['Content-Type: application/json'] : []),
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
  // Node's HTTP timeouts do not apply to the connection of an upgrade request.
  destroyUnlessClosed(stream, () => stream.destroy());
};
