import { UpstreamError, unsendable } from '../errors.ts';

/** Failures of undici and the system that occur before a connection exists: upstream has not seen the request. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** undici refuses a request like this before it has a connection, so this is no failure of upstream. */
const REFUSED: ReadonlySet<unknown> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED']);

/** The UpstreamError of a request that undici could not complete. */
export const transportFailure = (cause: unknown): UpstreamError => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  if (REFUSED.has(code)) return unsendable('one that the HTTP client refuses', cause);
  return NEVER_CONNECTED.has(code)
    ? new UpstreamError('unavailable', 'The connection to upstream failed.', {
        cause,
        connection: 'connectFailed',
      })
    : new UpstreamError('unavailable', 'The connection to upstream broke before the end of the answer.', {
        cause,
        connection: 'reset',
      });
};
