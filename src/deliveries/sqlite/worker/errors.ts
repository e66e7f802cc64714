import { messageOf } from '../../../lib/error-text.ts';
import {
  CursorExpiredError,
  type ExpiryReason,
  InvalidCursorError,
  LogDamagedError,
  LogOpenError,
  LogUnavailableError,
  UnstorableError,
} from '../../log/errors.ts';

/**
 * SQLite's codes for a value that it can't store: too big (18), against a constraint (19), of a wrong type (20). They fail
 * one statement; earlier statements of the same transaction remain.
 */
const ROW_FAULTS: ReadonlySet<number> = new Set([18, 19, 20]);

/**
 * SQLite's codes for a malformed file (11, 26), and its extended codes for a failed read. The other extended codes of 10 are
 * failures to write or to sync.
 */
const DAMAGE: ReadonlySet<number> = new Set([11, 26]);
const UNREADABLE: ReadonlySet<number> = new Set([266, 522, 8202, 8458]);

const sqliteCodeOf = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : null;

/** Whether the file itself is at fault, and not its environment, such as a full disk. */
export const isDamage = (error: unknown): boolean => {
  if (error instanceof LogDamagedError) return true;
  if (error instanceof LogOpenError) return isDamage(error.cause);
  const code = sqliteCodeOf(error);
  return code !== null && (DAMAGE.has(code & 0xff) || UNREADABLE.has(code));
};

/** Whether one row is at fault, and other rows can be stored in the same transaction. */
export const isRowFault = (error: unknown): error is Error => {
  if (error instanceof UnstorableError) return true;
  const code = sqliteCodeOf(error);
  if (code !== null) return ROW_FAULTS.has(code & 0xff);
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_INVALID_ARG_');
};

/** An error on its way between threads: a message between threads loses an error's class. */
export type SerializedError =
  | { readonly kind: 'invalid cursor'; readonly cursor: string }
  | { readonly kind: 'expired cursor'; readonly reason: ExpiryReason }
  | { readonly kind: 'not opened'; readonly path: string; readonly problem: string }
  | { readonly kind: 'damaged'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Any error that is not listed becomes a LogUnavailableError in the main thread. */
export const serializeError = (error: unknown): SerializedError => {
  if (error instanceof InvalidCursorError) return { kind: 'invalid cursor', cursor: error.cursor };
  if (error instanceof CursorExpiredError) return { kind: 'expired cursor', reason: error.reason };
  if (error instanceof LogOpenError) return { kind: 'not opened', path: error.path, problem: error.problem };
  if (error instanceof LogDamagedError) return { kind: 'damaged', message: error.message };
  return { kind: 'unavailable', message: messageOf(error) };
};

export const deserializeError = (error: SerializedError): Error => {
  switch (error.kind) {
    case 'invalid cursor':
      return new InvalidCursorError(error.cursor);
    case 'expired cursor':
      return new CursorExpiredError(error.reason);
    case 'not opened':
      return new LogOpenError(error.path, error.problem);
    case 'damaged':
      return new LogDamagedError(error.message);
    case 'unavailable':
      return new LogUnavailableError(error.message);
  }
};
