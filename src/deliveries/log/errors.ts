/** The text is not a cursor of any log. */
export class InvalidCursorError extends Error {
  readonly cursor: string;

  constructor(cursor: string) {
    super(`expected a delivery cursor, got ${JSON.stringify(cursor.slice(0, 80))}`);
    this.name = 'InvalidCursorError';
    this.cursor = cursor;
  }
}

/**
 * Why a cursor can't be resumed:
 * - `trimmed`: deliveries after it are beyond the retention
 * - `foreign`: it belongs to another tenant or another log
 * - `ahead`: the log was restored from an older copy and ends before it
 * - `replaced`: the log was restored from an older copy and has another delivery at its number
 */
export type ExpiryReason = 'trimmed' | 'foreign' | 'ahead' | 'replaced';

const EXPLANATIONS: Readonly<Record<ExpiryReason, string>> = {
  trimmed: 'deliveries after this cursor have been trimmed',
  foreign: 'this cursor belongs to another delivery log',
  ahead: 'this cursor is ahead of the delivery log, which was probably restored from an older copy',
  replaced:
    'another delivery is stored in place of the one that this cursor names: the delivery log was probably restored from an older copy',
};

/** The log can't continue from this cursor without a gap. */
export class CursorExpiredError extends Error {
  readonly reason: ExpiryReason;

  constructor(reason: ExpiryReason) {
    super(EXPLANATIONS[reason]);
    this.name = 'CursorExpiredError';
    this.reason = reason;
  }
}

/** The operation has used up the bytes of bodies that it may read and return. */
export class BudgetExceededError extends Error {
  /** The cursor of the delivery that was not returned; null when it was a page. */
  readonly cursor: string | null;

  constructor(cursor: string | null) {
    super('the operation has used up the bytes of bodies that it may read');
    this.name = 'BudgetExceededError';
    this.cursor = cursor;
  }
}

/** The filters of the operation have used up the index entries and deliveries that they may scan. */
export class SearchLimitExceededError extends Error {
  readonly maxScanned: number;
  /** Where the search can continue: nothing matches up to this cursor. Null when the search has not begun. */
  readonly cursor: string | null;

  constructor(maxScanned: number, cursor: string | null) {
    super('the filters of the operation have used up the index entries and deliveries that they may scan');
    this.name = 'SearchLimitExceededError';
    this.maxScanned = maxScanned;
    this.cursor = cursor;
  }
}

/** The log is too busy to answer in time; a later attempt may succeed. `message` is for the client. */
export class LogBusyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LogBusyError';
  }
}

/** The caller aborted the read. */
export class ReadAbortedError extends Error {
  constructor() {
    super('the read was aborted');
    this.name = 'ReadAbortedError';
  }
}

/** The log can't store or read deliveries now: its store is full, read-only, unreachable or damaged, or the log is closed. */
export class LogUnavailableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'LogUnavailableError';
  }
}

/**
 * The stored log was damaged, replaced or truncated: it can't be read, or does not contain what was stored. Nothing is read
 * or stored until a check finds it intact.
 */
export class LogDamagedError extends LogUnavailableError {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = 'LogDamagedError';
  }
}

/** The log can't store this delivery because of the delivery itself. Others are stored. */
export class UnstorableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnstorableError';
  }
}

/** The log was closed and will not be opened again. */
export class LogClosedError extends LogUnavailableError {
  constructor() {
    super('the delivery log is closed');
    this.name = 'LogClosedError';
  }
}

/** Whether a later attempt may succeed: the log is unavailable, but not closed. */
export const isTransient = (error: unknown): boolean =>
  error instanceof LogUnavailableError && !(error instanceof LogClosedError);

/** The log can't be opened. The message names the path and the cause. */
export class LogOpenError extends Error {
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string, cause?: unknown) {
    super(`${path}: ${problem}`, { cause });
    this.name = 'LogOpenError';
    this.path = path;
    this.problem = problem;
  }
}
