import type { IncomingMessage } from 'node:http';

/** The rules of HTTP for the head of a request that Node does not enforce, and one spelling for what HTTP says is equal. */

/** The HTTP status of a malformed request, and what was expected. */
export type RuleViolation = { readonly status: 400 | 501 | 505; readonly message: string };

const VERSIONS: readonly string[] = ['1.0', '1.1'];
/** A host and a port, or nothing (RFC 9110, 4.2). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

/**
 * Returns the rule of RFC 9112 that a request violates, among those that Node does not enforce; null when it violates
 * none. For such a request, a proxy and the gateway could disagree about its host or its end (request smuggling).
 */
export const ruleViolationOf = (request: IncomingMessage): RuleViolation | null => {
  const { httpVersion, headers } = request;
  if (!VERSIONS.includes(httpVersion))
    return { status: 505, message: `Expected HTTP/1.1, got HTTP/${httpVersion}.` };
  const hosts = countOf('host', request.rawHeaders);
  if (hosts > 1) return { status: 400, message: `Expected one Host, got ${hosts}.` };
  if (!HOST.test(headers.host ?? ''))
    return { status: 400, message: 'Expected a Host of a name and a port, got something else.' };
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return null;
  if (httpVersion === '1.0')
    return { status: 400, message: 'Expected a Content-Length of HTTP/1.0, got a Transfer-Encoding.' };
  if (coding.trim().toLowerCase() === 'chunked') return null;
  return { status: 501, message: 'Expected a Transfer-Encoding of chunked, got another.' };
};

/** Rewrites a target in absolute form, which proxies use, to origin form, and sets Host to the target's host. */
export const toOriginForm = (request: IncomingMessage): void => {
  const [start, host] = ABSOLUTE_FORM.exec(request.url ?? '') ?? [];
  if (start === undefined) return;
  const path = request.url?.slice(start.length) ?? '';
  request.url = path.startsWith('/') ? path : `/${path}`;
  request.headers.host = host;
};

/** Headers whose values are the same in any letter case (RFC 9110, 4.2.3, 8.3.1, 8.4.1, 12.5). */
const CASELESS = ['accept', 'accept-encoding', 'content-encoding', 'content-type', 'host'] as const;
/** Those whose parameters may have white space and quotes around them. */
const MEDIA_TYPES = ['accept', 'content-type'] as const;

/**
 * Rewrites such headers in lower case, and media types without that white space and those quotes. So everything that reads
 * them compares them with one spelling, libraries too. Of the parameters, only a multipart body's boundary would differ by
 * its letter case, and no such body is accepted.
 */
export const toCommonSpelling = ({ headers }: IncomingMessage): void => {
  for (const name of CASELESS) headers[name] &&= headers[name].toLowerCase();
  for (const name of MEDIA_TYPES) headers[name] &&= trimParameters(headers[name]);
};

const trimParameters = (mediaTypes: string): string => {
  // Most values have neither.
  if (!/[\t "]/.test(mediaTypes)) return mediaTypes;
  const trimAround = (text: string, separator: string) =>
    text
      .split(separator)
      .map((part) => part.trim())
      .join(separator);
  return trimAround(trimAround(mediaTypes, ';'), ',').replace(/="([^"\\]*)"/g, '=$1');
};

const countOf = (name: string, rawHeaders: readonly string[]): number => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) count += 1;
  return count;
};
