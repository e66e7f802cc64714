import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { bodyOf } from '../browsers/origin-errors.ts';
import type { BrowserPolicy } from '../browsers/origin-policy.ts';
import { type RuleViolation, ruleViolationOf } from '../http/request-validation.ts';
import { destroyUnlessClosed } from '../http/shutdown.ts';

export type UpgradePolicy = Pick<BrowserPolicy, 'rejectionOf'>;

type Rejection = { readonly status: RuleViolation['status'] | 403 | 404 | 503; readonly body: string };

/** Returns why an upgrade request gets no WebSocket, or null if it gets one. `isFull`: no further socket may open. */
export const upgradeRejectionOf = (
  request: IncomingMessage,
  { rejectionOf }: UpgradePolicy,
  isFull: boolean,
): Rejection | null => {
  const { url, headers } = request;
  const violation = ruleViolationOf(request);
  if (violation) return { status: violation.status, body: JSON.stringify({ error: violation.message }) };
  if (url?.split('?')[0] !== '/graphql') return { status: 404, body: '' };
  // A client without Origin is not a browser.
  const rejection =
    headers.origin === undefined ? null : rejectionOf({ get: (name) => headers[name]?.toString() ?? null });
  if (rejection) return { status: 403, body: bodyOf(rejection) };
  return isFull ? { status: 503, body: '' } : null;
};

/** Answers an upgrade request with the status and the body, and closes its connection within `closeMs`. */
export const rejectUpgrade = (stream: Duplex, { status, body }: Rejection, closeMs?: number): void => {
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
  destroyUnlessClosed(stream, () => stream.destroy(), closeMs);
};
