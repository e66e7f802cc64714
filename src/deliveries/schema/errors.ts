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
 * Maps an error of the log to the error for the client: the cursor can't be resumed, a limit was exceeded, or the log can't
 * be read. Returns any other error unchanged.
 */
export const toClientError = (error: unknown): unknown => {
  if (error instanceof CursorExpiredError)
    return clientError(
      'CURSOR_EXPIRED',
      `Expected a cursor that can be resumed, got an expired one: ${error.message}.`,
      {
        reason: error.reason,
      },
    );
  if (error instanceof InvalidCursorError)
    return clientError('INVALID_CURSOR', 'Expected a cursor of deliveries, got another text.');
  if (error instanceof BudgetExceededError)
    return clientError(
      'OPERATION_TOO_COMPLEX',
      'Expected an operation that reads at most about 32 MB of deliveries, got more: select fewer at a time, and payload and events of each once.',
      error.cursor === null ? {} : { cursor: error.cursor },
    );
  if (error instanceof SearchLimitExceededError)
    return clientError(
      'OPERATION_TOO_COMPLEX',
      `Expected filters that scan at most ${error.maxScanned} index entries and deliveries, got more: ask for fewer at a time, or continue from the cursor.`,
      error.cursor === null ? {} : { cursor: error.cursor },
    );
  if (error instanceof LogBusyError)
    return clientError('RATE_LIMITED', `${error.message} Try again.`, { retryAfterMs: RETRY_AFTER_MS });
  if (error instanceof LogUnavailableError)
    return clientError('LOG_UNAVAILABLE', 'The log of deliveries can not be read now.');
  return error;
};

/** Rejects with the client's error where the promise rejects with one of the log. */
export const mapErrorsAsync = async <Value>(promise: Promise<Value>): Promise<Value> => {
  try {
    return await promise;
  } catch (error) {
    throw toClientError(error);
  }
};
