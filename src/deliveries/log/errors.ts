/** The cursor is not one that any log has made. */
export class InvalidCursorError extends Error {
  readonly cursor: string;

  constructor(cursor: string) {
    super(`not a delivery cursor: ${JSON.stringify(cursor.slice(0, 80))}`);
    this.name = 'InvalidCursorError';
    this.cursor = cursor;
  }
}

/**
 * `trimmed`: beyond retention; `foreign`: another tenant's or another log's; `ahead`: the log was restored and ends before
 * it; `replaced`: the log was restored and has another delivery there.
 */
export type ExpiryReason = 'trimmed' | 'foreign' | 'ahead' | 'replaced';

const EXPLANATIONS: Readonly<Record<ExpiryReason, string>> = {
  trimmed: 'deliveries after this cursor are no longer kept',
  foreign: 'this cursor belongs to another delivery log',
  ahead: 'this cursor is ahead of the delivery log, which must have been restored from an older copy',
  replaced:
    'another delivery is in the place of the one that this cursor names: the delivery log must have been restored from an older copy',
};

/** The log can't go on from this cursor without leaving something out. */
export class CursorExpiredError extends Error {
  readonly reason: ExpiryReason;

  constructor(reason: ExpiryReason) {
    super(EXPLANATIONS[reason]);
    this.name = 'CursorExpiredError';
    this.reason = reason;
  }
}

/** One operation has read and given as much of bodies as it may. */
export class BudgetSpentError extends Error {
  /** Of the delivery that could not be given; null when it was a page. */
  readonly cursor: string | null;

  constructor(cursor: string | null) {
    super('the bodies that one operation may read and give are used up');
    this.name = 'BudgetSpentError';
    this.cursor = cursor;
  }
}

/** The filters of one operation have used up the index entries and deliveries that they may look at. */
export class SearchSpentError extends Error {
  readonly maxScanned: number;
  /** Where the search can go on: nothing was found up to here. Null when the search had not begun. */
  readonly cursor: string | null;

  constructor(maxScanned: number, cursor: string | null) {
    super('the looks that the filters of one operation may take are used up');
    this.name = 'SearchSpentError';
    this.maxScanned = maxScanned;
    this.cursor = cursor;
  }
}

/** The log is too busy to answer in time; a later try may well succeed. `message` is for the client. */
export class LogBusyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LogBusyError';
  }
}

/** The caller aborted the read. */
export class ReadAbortedError extends Error {
  constructor() {
    super('the reading of deliveries was aborted');
    this.name = 'ReadAbortedError';
  }
}

/** The log can't take or give deliveries now: the disk is full or read-only, the file broken, or the log closed. */
export class LogUnavailableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'LogUnavailableError';
  }
}

/**
 * The log's files were damaged, replaced or cut: they can't be read, or don't hold what was stored. Until a check finds
 * them whole, nothing is read or stored.
 */
export class LogDamagedError extends LogUnavailableError {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = 'LogDamagedError';
  }
}

/** The log can't store this one delivery: the fault is the delivery's own, and others are stored. */
export class UnstorableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnstorableError';
  }
}

/** The log was closed, for good. */
export class LogClosedError extends LogUnavailableError {
  constructor() {
    super('the delivery log is closed');
    this.name = 'LogClosedError';
  }
}

/** A log that can't be read now may be read later; one that was closed won't. */
export const isTransient = (error: unknown): boolean =>
  error instanceof LogUnavailableError && !(error instanceof LogClosedError);

/** The log could not be opened; the message names the path and the cause. */
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

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
