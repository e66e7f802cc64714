import { clientError } from '../../../graph/errors.ts';
import type { OperationPlugin } from '../operation-plugin.ts';

/** The media type of an event stream, and the wildcards that match it. */
const EVENT_STREAM = /text\/event-stream|text\/\*|\*\/\*/;

/**
 * Rejects a subscription over HTTP whose client does not accept an event stream, before it reads any event. Yoga would
 * start it, find no way to send it, and leave it running.
 */
export const useSseAccept = (): OperationPlugin => ({
  onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
    const accept = contextValue.request?.headers.get('accept') ?? '*/*';
    if (EVENT_STREAM.test(accept)) return;
    const message = `Expected a client that accepts text/event-stream for a subscription, got one of ${accept}.`;
    setResultAndStopExecution({
      errors: [clientError('BAD_USER_INPUT', message, { http: { status: 406 } })],
    });
  },
});
