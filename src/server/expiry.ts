import { clientError } from '../graph/errors.ts';

/** When a caller's rights end, in milliseconds since 1970; null: never. */
export type Expiry = number | null;

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Calls back once, with what the client is told, when the time has come; unless it is stopped before. */
export const onExpiry = (expiry: Expiry, expired: (error: Error) => void): (() => void) => {
  if (expiry === null) return () => {};
  let timer: NodeJS.Timeout;
  const wait = () => {
    const left = expiry - Date.now();
    if (left <= 0)
      expired(
        clientError('UNAUTHENTICATED', 'Expected a token that is still valid, got one that has expired.'),
      );
    else timer = setTimeout(wait, Math.min(left, MAX_TIMEOUT_MS)).unref();
  };
  timer = setTimeout(wait, 0).unref();
  return () => clearTimeout(timer);
};
