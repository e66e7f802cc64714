import type { Plugin } from 'graphql-yoga';
import { clientError } from '../../../graph/errors.ts';

/** What a subscription came with is held for as long as it is open. */
const MAX_BYTES = 32 * 1024;

type ServerContext = {
  readonly request?: Request;
  /** Of the WebSocket's message that it came with. */
  readonly bytes?: number;
};

/** Refuses a subscription whose request or message is big, whatever in it is. */
export const useSubscriptionSize = (): Plugin<ServerContext> => ({
  onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
    const bytes = contextValue.bytes ?? bytesOf(contextValue.request);
    if (bytes !== null && bytes <= MAX_BYTES) return;
    const got = bytes === null ? 'one of unknown length' : `one of ${bytes}`;
    const message = `Expected a subscription whose request has at most ${MAX_BYTES} bytes, got ${got}.`;
    setResultAndStopExecution({ errors: [clientError('OPERATION_TOO_COMPLEX', message)] });
  },
});

/** Null where the body does not say. A GET has none. */
const bytesOf = (request: Request | undefined): number | null => {
  if (request === undefined || request.method === 'GET') return 0;
  const length = request.headers.get('content-length');
  return length === null ? null : Number(length);
};
