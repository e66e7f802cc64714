import type { GraphQLError } from 'graphql';
import { clientError } from '../../graph/errors.ts';

/** The HTTP status, for clients that accept `application/graphql-response+json`, and headers. */
type Http = { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

const unauthenticated = (message: string, http: Http): GraphQLError =>
  clientError('UNAUTHENTICATED', message, { http: { ...http, spec: true } });

/** It has no `WWW-Authenticate`: HTTP has no scheme for an API key. */
export const keyMissing = (keyHeader: string): GraphQLError =>
  unauthenticated(
    `Expected your upstream API key in ${keyHeader} (over WebSocket in connectionParams, by the same name), got none.`,
    { status: 401 },
  );

export const keyMalformed = (keyHeader: string): GraphQLError =>
  unauthenticated(
    `Expected a key in ${keyHeader} of 1 to 4096 printable characters without spaces, got something else.`,
    { status: 401 },
  );

const CHALLENGE = 'Bearer realm="gateway"';

/** The challenge has no error code: RFC 6750, 3.1, forbids one for a request without a token. */
export const tokenMissing = (): GraphQLError =>
  unauthenticated(
    'Expected a token as `Authorization: Bearer …` (over WebSocket as connectionParams.authorization), got none.',
    { status: 401, headers: { 'www-authenticate': CHALLENGE } },
  );

/** `reason` is a sentence of plain ASCII without quotation marks, and quotes nothing of the token. */
export const tokenRejected = (reason: string): GraphQLError =>
  unauthenticated(reason, {
    status: 401,
    headers: {
      'www-authenticate': `${CHALLENGE}, error="invalid_token", error_description="${reason}"`,
    },
  });

/** `got` describes the header that has no bearer token. Its challenge has no error code, as for a missing token. */
export const schemeRejected = (got: string): GraphQLError =>
  unauthenticated(
    `Expected \`Authorization: Bearer …\` with one token (over WebSocket connectionParams.authorization), got ${got}.`,
    { status: 401, headers: { 'www-authenticate': CHALLENGE } },
  );

/** It also ends an operation whose token expires while the operation runs. */
export const tokenExpired = (): GraphQLError =>
  tokenRejected('Expected a token that is still valid, got one that has expired.');

/** Not UNAUTHENTICATED: the token may be valid, so its client should retry rather than get another token. */
export const keysUnavailable = (): GraphQLError =>
  clientError('INTERNAL_SERVER_ERROR', 'The gateway cannot fetch the keys that verify tokens. Try again.', {
    http: { status: 503, headers: { 'retry-after': '1' }, spec: true },
  });
