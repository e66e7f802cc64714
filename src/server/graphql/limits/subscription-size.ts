import { clientError } from '../../../graph/errors.ts';
import type { OperationPlugin } from '../operation-plugin.ts';

/** The most bytes of a subscription's request or message: its variables stay in memory for as long as it is open. */
const MAX_BYTES = 32 * 1024;

/** Rejects a subscription whose HTTP request or WebSocket message is larger, whatever is in it. */
export const useSubscriptionSize = (): OperationPlugin => ({
  onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
    const bytes = contextValue.messageBytes ?? bytesOf(contextValue.request);
    if (bytes !== null && bytes <= MAX_BYTES) return;
    const got = bytes === null ? 'one of unknown length' : `one of ${bytes}`;
    const message = `Expected a subscription whose request has at most ${MAX_BYTES} bytes, got ${got}.`;
    setResultAndStopExecution({ errors: [clientError('OPERATION_TOO_COMPLEX', message)] });
  },
});

/** The size of the body; 0 for a GET, and null for a chunked body. */
const bytesOf = (request: Request | undefined): number | null => {
  if (request === undefined || request.method === 'GET') return 0;
  const length = request.headers.get('content-length');
  return length === null ? null : Number(length);
};
