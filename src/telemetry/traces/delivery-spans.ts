import type { Trace } from '../../lib/trace-context.ts';
import type { DescribeOperation } from './operation-spans.ts';
import { isUnsampled, type Spans } from './spans.ts';
import type { Traces } from './traces.ts';

/** The traces of the newest deliveries that this process has stored, by their cursors. */
const MAX_REMEMBERED = 10_000;

/**
 * The span of an append, below that of the delivery's request, and the span of each event that is executed. An event has a
 * trace of its own, since all subscribers share it. It is linked to its delivery's append and to the first subscriber.
 */
export const createDeliverySpans = (
  spans: Spans,
  describe: DescribeOperation,
): Pick<Traces, 'log' | 'events'> => {
  const appends = new Map<string, Trace>();
  const remember = (cursor: string, trace: Trace): void => {
    appends.set(cursor, trace);
    if (appends.size > MAX_REMEMBERED)
      for (const oldest of appends.keys()) return void appends.delete(oldest);
  };
  const fail = (error: unknown, trace: Trace | null): void => {
    if (trace) spans.end(trace, { error: error instanceof Error ? error.name : '_OTHER' });
  };
  return {
    log: {
      appending: (trace) => spans.begin(trace, 'delivery log append'),
      appended({ stored, duplicates, results, trace }) {
        if (trace === null) return;
        spans.end(trace, {
          attributes: { 'gateway.deliveries.stored': stored, 'gateway.deliveries.duplicates': duplicates },
        });
        if (isUnsampled(trace)) return;
        for (const { cursor, duplicate } of results) if (!duplicate) remember(cursor, trace);
      },
      failed: (_task, error, trace) => fail(error, trace),
      refused: fail,
    },
    events: {
      executing({ cursor, name, document, trace }) {
        const causes = [appends.get(cursor) ?? null, trace];
        const attributes = describe('subscription', name, document);
        return spans.beginLinked(causes, 'event', { attributes }, trace.requestId);
      },
      executed: (trace, failed) => spans.end(trace, { error: failed ? 'failed' : null }),
    },
  };
};
