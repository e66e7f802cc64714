import {
  CursorExpiredError,
  type ExpiryReason,
  InvalidCursorError,
  LogOpenError,
  LogUnavailableError,
  messageOf,
} from '../errors.ts';

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
