import type { LogObserver } from '../deliveries/log/observer.ts';
import type { Log } from '../logger.ts';
import type { OperationObserver } from '../server/graphql/plugins/operation-observer.ts';
import type { UpstreamObserver } from '../upstream/client/observer.ts';
import { createLogLines, createOperationLines, createUpstreamLines } from './log-events.ts';
import { createMetrics } from './metrics.ts';

export type Telemetry = ReturnType<typeof createTelemetry>;

/** The observers of all parts. Each counts what its part tells it, and writes the lines that belong to that. */
export const createTelemetry = (log: Log, cacheBytes: () => number) => {
  const metrics = createMetrics({ cacheBytes });
  const { operations, upstream, log: deliveryLog } = metrics;
  const lines = {
    operations: createOperationLines(log),
    upstream: createUpstreamLines(log),
    log: createLogLines(log),
  };
  return {
    ...metrics,
    operations: {
      ...operations,
      answered(operation) {
        operations.answered(operation);
        lines.operations(operation);
      },
    } satisfies OperationObserver,
    upstream: {
      ...upstream,
      ended(attempt) {
        upstream.ended(attempt);
        lines.upstream.ended(attempt);
      },
      circuitChanged(state) {
        upstream.circuitChanged(state);
        lines.upstream.circuitChanged(state);
      },
    } satisfies UpstreamObserver,
    log: {
      ...deliveryLog,
      appended(batch) {
        deliveryLog.appended(batch);
        lines.log.appended();
      },
      read: lines.log.read,
      failed(task, error) {
        deliveryLog.failed(task, error);
        lines.log.failed(task, error);
      },
      damaged: lines.log.damaged,
      recovered: lines.log.recovered,
      refused(error) {
        deliveryLog.refused(error);
        lines.log.refused(error);
      },
    } satisfies LogObserver,
  };
};
