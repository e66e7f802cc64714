import type { Plugin } from 'graphql-yoga';
import { clientError } from '../../../graph/errors.ts';

/** What a stream of events can be sent as, and the wildcards that take it. */
const STREAMS = /text\/event-stream|text\/\*|\*\/\*/;

/**
 * Refuses a subscription by HTTP whose client takes no stream, before it reads: Yoga would start it, find no way to send
 * it, and forget it as it runs.
 */
export const useSseAccept = (): Plugin<{ readonly request?: Request }> => ({
  onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
    const accept = contextValue.request?.headers.get('accept') ?? '*/*';
    if (STREAMS.test(accept)) return;
    const message = `Expected a client that accepts text/event-stream for a subscription, got one of ${accept}.`;
    setResultAndStopExecution({
      errors: [clientError('BAD_USER_INPUT', message, { http: { status: 406 } })],
    });
  },
});
