import type { GraphQLError } from 'graphql';
import { clientError } from '../../graph/errors.ts';

/** An HTTP status, for who accepts `application/graphql-response+json`, and headers. */
type Http = { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

const refusal = (message: string, http: Http): GraphQLError =>
  clientError('UNAUTHENTICATED', message, { http: { ...http, spec: true } });

/** HTTP knows no scheme by which to ask for a service's key. */
export const keyMissing = (keyHeader: string): GraphQLError =>
  refusal(
    `Expected your key of the service in ${keyHeader} (over WebSocket in connectionParams, by the same name), got none.`,
    { status: 401 },
  );

export const keyMalformed = (keyHeader: string): GraphQLError =>
  refusal(
    `Expected a key in ${keyHeader} of at most 4096 printable characters without spaces, got one that is not.`,
    { status: 401 },
  );

const CHALLENGE = 'Bearer realm="gateway"';

/** RFC 6750, 3.1: who has sent no token is not told that it is wrong. */
export const tokenMissing = (): GraphQLError =>
  refusal(
    'Expected a token as `Authorization: Bearer …` (over WebSocket as connectionParams.authorization), got none.',
    { status: 401, headers: { 'www-authenticate': CHALLENGE } },
  );

/** `reason` is a sentence of plain ASCII without quotation marks, and holds nothing of the token. */
export const tokenRefused = (reason: string): GraphQLError =>
  refusal(reason, {
    status: 401,
    headers: {
      'www-authenticate': `${CHALLENGE}, error="invalid_token", error_description="${reason}"`,
    },
  });

/** `got` says what stands where Bearer and a token should. It is no token yet: RFC 6750 has the challenge say no more. */
export const schemeRefused = (got: string): GraphQLError =>
  refusal(
    `Expected \`Authorization: Bearer …\` with one token (over WebSocket connectionParams.authorization), got ${got}.`,
    { status: 401, headers: { 'www-authenticate': CHALLENGE } },
  );

/** Also for what ends an operation whose token expires while it runs. */
export const tokenExpired = (): GraphQLError =>
  tokenRefused('Expected a token that is still valid, got one that has expired.');

/** The token may be good: its client does better to come again than to get another. */
export const keysUnavailable = (): GraphQLError =>
  clientError('INTERNAL_SERVER_ERROR', 'The gateway can not get the keys to check tokens with. Try again.', {
    http: { status: 503, headers: { 'retry-after': '1' }, spec: true },
  });
