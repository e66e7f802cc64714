import type { IncomingMessage } from 'node:http';
import { rememberLast } from '../../../lib/remember-last.ts';
import type { RequestHeaders } from '../../browsers/origin-policy.ts';
import { MAX_BODY_BYTES } from '../limits/body-limits.ts';

/** The media types of a single result. */
export type MediaType = 'application/json' | 'application/graphql-response+json';

/**
 * Returns the media type of the answer to a POST of one JSON body whose length is known, for a client that accepts a single
 * result; null for any other request.
 */
export const directMediaTypeOf = ({ method, url, headers }: IncomingMessage): MediaType | null => {
  if (method !== 'POST' || url !== '/graphql') return null;
  const { 'content-type': type = '', 'content-length': length, accept = '*/*' } = headers;
  if (type !== 'application/json' && !type.startsWith('application/json;')) return null;
  if (length === undefined || Number(length) > MAX_BODY_BYTES) return null;
  // Such a client counts as one of an event stream.
  if (accept.startsWith('text/event-stream')) return null;
  return acceptedMediaType(accept);
};

/** As Yoga chooses it: the first media range that matches counts, whatever its weight. */
const acceptedMediaType = rememberLast((accept): MediaType | null => {
  for (const range of accept.split(',')) {
    const [types = '', ...parameters] = range.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset=')) ?? 'charset=utf-8';
    const [type, subtype] = types.split('/');
    if (charset !== 'charset=utf-8' || (type !== '*' && type !== 'application')) continue;
    if (subtype === '*' || subtype === 'json') return 'application/json';
    if (subtype === 'graphql-response+json') return 'application/graphql-response+json';
  }
  return null;
});

/** The headers of a request, as Node has read them. */
export const headersOf = ({ headers }: IncomingMessage): RequestHeaders => ({
  get: (name) => headers[name.toLowerCase()]?.toString() ?? null,
});
