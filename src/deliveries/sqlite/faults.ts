import {
  CursorExpiredError,
  type ExpiryReason,
  InvalidCursorError,
  LogOpenError,
  LogUnavailableError,
  messageOf,
  UnstorableError,
} from '../errors.ts';

/**
 * What SQLite says of a value that it can't store: too big (18), against a constraint (19), of a wrong type (20). All
 * that was done before it in the same transaction stands.
 */
const ROW_FAULTS: ReadonlySet<number> = new Set([18, 19, 20]);

/** Whether one row is at fault, and others can be stored over the same connection. */
export const isRowFault = (error: unknown): error is Error =>
  error instanceof UnstorableError ||
  (error instanceof Error &&
    'code' in error &&
    ('errcode' in error
      ? ROW_FAULTS.has(Number(error.errcode) & 0xff)
      : error.code === 'ERR_INVALID_ARG_TYPE' || error.code === 'ERR_INVALID_ARG_VALUE'));

/** An error on its way between threads, which keep of an error no more than its message. */
export type Fault =
  | { readonly kind: 'invalid cursor'; readonly cursor: string }
  | { readonly kind: 'expired cursor'; readonly reason: ExpiryReason }
  | { readonly kind: 'not opened'; readonly path: string; readonly complaint: string }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Whatever is not known here is a store that can't do its work. */
export function faultOf(error: unknown): Fault {
  if (error instanceof InvalidCursorError) return { kind: 'invalid cursor', cursor: error.cursor };
  if (error instanceof CursorExpiredError) return { kind: 'expired cursor', reason: error.reason };
  if (error instanceof LogOpenError)
    return { kind: 'not opened', path: error.path, complaint: error.complaint };
  return { kind: 'unavailable', message: messageOf(error) };
}

export function errorOf(fault: Fault): Error {
  switch (fault.kind) {
    case 'invalid cursor':
      return new InvalidCursorError(fault.cursor);
    case 'expired cursor':
      return new CursorExpiredError(fault.reason);
    case 'not opened':
      return new LogOpenError(fault.path, fault.complaint);
    case 'unavailable':
      return new LogUnavailableError(fault.message);
  }
}
