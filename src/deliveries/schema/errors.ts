import { clientError } from '../../graph/errors.ts';
import {
  BudgetExceededError,
  CursorExpiredError,
  InvalidCursorError,
  LogBusyError,
  LogUnavailableError,
  SearchLimitExceededError,
} from '../log/errors.ts';

const RETRY_AFTER_MS = 1000;

/**
 * The client's error for a cursor that can't be resumed, a limit that was passed, or a log that can't be read. Other
 * errors stay as they are.
 */
export const toClientError = (error: unknown): unknown => {
  if (error instanceof CursorExpiredError)
    return clientError('CURSOR_EXPIRED', `Can not go on from this cursor: ${error.message}.`, {
      reason: error.reason,
    });
  if (error instanceof InvalidCursorError)
    return clientError('INVALID_CURSOR', 'Expected a cursor of deliveries, got something that is not one.');
  if (error instanceof BudgetExceededError)
    return clientError(
      'OPERATION_TOO_COMPLEX',
      'Expected an operation that reads about 32 MB of deliveries: ask for fewer at a time, and for payload and events of each once.',
      error.cursor === null ? {} : { cursor: error.cursor },
    );
  if (error instanceof SearchLimitExceededError)
    return clientError(
      'OPERATION_TOO_COMPLEX',
      `Expected filters that look at ${error.maxScanned} index entries and deliveries at most, got more: ask for fewer at a time, or go on from the cursor.`,
      error.cursor === null ? {} : { cursor: error.cursor },
    );
  if (error instanceof LogBusyError)
    return clientError('RATE_LIMITED', `${error.message} Try again.`, { retryAfterMs: RETRY_AFTER_MS });
  if (error instanceof LogUnavailableError)
    return clientError('UPSTREAM_UNAVAILABLE', 'The log of deliveries can not be read now.', {
      part: 'deliveries',
    });
  return error;
};

export const mapErrorsAsync = async <Value>(promise: Promise<Value>): Promise<Value> => {
  try {
    return await promise;
  } catch (error) {
    throw toClientError(error);
  }
};
