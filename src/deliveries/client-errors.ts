import { clientError } from '../graph/errors.ts';
import { CursorExpiredError, InvalidCursorError } from './errors.ts';

/** What a client is told when the log can't go on from its cursor; other errors stay as they are. */
export const toClient = (error: unknown): unknown => {
  if (error instanceof CursorExpiredError)
    return clientError('CURSOR_EXPIRED', `Can not go on from this cursor: ${error.message}.`, {
      reason: error.reason,
    });
  if (error instanceof InvalidCursorError)
    return clientError('INVALID_CURSOR', 'Expected a cursor of deliveries, got something that is not one.');
  return error;
};

export const tellClient = async <Value>(promise: Promise<Value>): Promise<Value> => {
  try {
    return await promise;
  } catch (error) {
    throw toClient(error);
  }
};
