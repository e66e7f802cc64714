import {
  CursorExpiredError,
  type ExpiryReason,
  InvalidCursorError,
  LogDamagedError,
  LogOpenError,
  LogUnavailableError,
  messageOf,
  UnstorableError,
} from '../../log/errors.ts';

/**
 * SQLite's codes for a value that it can't store: too big (18), against a constraint (19), of a wrong type (20). Earlier
 * statements of the same transaction stand.
 */
const ROW_FAULTS: ReadonlySet<number> = new Set([18, 19, 20]);

/**
 * SQLite's codes for a malformed file (11, 26), and its extended codes for a failed read. The rest of code 10 are failures
 * to write or to sync.
 */
const DAMAGE: ReadonlySet<number> = new Set([11, 26]);
const UNREADABLE: ReadonlySet<number> = new Set([266, 522, 8202, 8458]);

const sqliteCodeOf = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : null;

/** Whether the file is at fault, and not its surroundings, such as a full disk. */
export const isDamage = (error: unknown): boolean => {
  if (error instanceof LogDamagedError) return true;
  if (error instanceof LogOpenError) return isDamage(error.cause);
  const code = sqliteCodeOf(error);
  return code !== null && (DAMAGE.has(code & 0xff) || UNREADABLE.has(code));
};

/** Whether one row is at fault, and others can be stored over the same connection. */
export const isRowFault = (error: unknown): error is Error => {
  if (error instanceof UnstorableError) return true;
  const code = sqliteCodeOf(error);
  if (code !== null) return ROW_FAULTS.has(code & 0xff);
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_INVALID_ARG_');
};

/** An error on its way between threads, which keep of an error no more than its message. */
export type SerializedError =
  | { readonly kind: 'invalid cursor'; readonly cursor: string }
  | { readonly kind: 'expired cursor'; readonly reason: ExpiryReason }
  | { readonly kind: 'not opened'; readonly path: string; readonly problem: string }
  | { readonly kind: 'damaged'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Whatever is not known here is a store that can't do its work. */
export const serializeError = (error: unknown): SerializedError => {
  if (error instanceof InvalidCursorError) return { kind: 'invalid cursor', cursor: error.cursor };
  if (error instanceof CursorExpiredError) return { kind: 'expired cursor', reason: error.reason };
  if (error instanceof LogOpenError) return { kind: 'not opened', path: error.path, problem: error.problem };
  if (error instanceof LogDamagedError) return { kind: 'damaged', message: error.message };
  return { kind: 'unavailable', message: messageOf(error) };
};

export const deserializeError = (fault: SerializedError): Error => {
  switch (fault.kind) {
    case 'invalid cursor':
      return new InvalidCursorError(fault.cursor);
    case 'expired cursor':
      return new CursorExpiredError(fault.reason);
    case 'not opened':
      return new LogOpenError(fault.path, fault.problem);
    case 'damaged':
      return new LogDamagedError(fault.message);
    case 'unavailable':
      return new LogUnavailableError(fault.message);
  }
};
