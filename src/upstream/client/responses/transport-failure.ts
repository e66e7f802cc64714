import { UpstreamError } from '../errors.ts';

/** Failures of undici and the system that occur before a connection exists: upstream has not seen the request. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The UpstreamError of a request that undici could not complete. */
export const transportFailure = (cause: unknown): UpstreamError => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
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
