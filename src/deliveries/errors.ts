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
 * `trimmed`: beyond retention; `foreign`: another tenant's or another log's; `ahead`: of a log that has lost its end;
 * `replaced`: of one that has grown anew since.
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

/** The filters of one operation have looked at as much as they may. */
export class SearchSpentError extends Error {
  readonly maxLooks: number;
  /** Up to here nothing was found: the search can go on from it. Null when that is where it was to begin. */
  readonly cursor: string | null;

  constructor(maxLooks: number, cursor: string | null) {
    super('the looks that the filters of one operation may take are used up');
    this.name = 'SearchSpentError';
    this.maxLooks = maxLooks;
    this.cursor = cursor;
  }
}

/** The log has more to read than it can in time; a later try may well succeed. `message` is for the client. */
export class LogBusyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LogBusyError';
  }
}

/** What was to be read is not wanted any more. */
export class ReadAbortedError extends Error {
  constructor() {
    super('the reading of deliveries was given up');
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
 * What the log holds can't be read, or is not what was stored: its files were damaged, replaced or cut. Nothing is read
 * or stored until they were found whole again.
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
export const isPassing = (error: unknown): boolean =>
  error instanceof LogUnavailableError && !(error instanceof LogClosedError);

/** The log could not be opened; the message names the path and the cause. */
export class LogOpenError extends Error {
  readonly path: string;
  readonly complaint: string;

  constructor(path: string, complaint: string, cause?: unknown) {
    super(`${path}: ${complaint}`, { cause });
    this.name = 'LogOpenError';
    this.path = path;
    this.complaint = complaint;
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
