import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { OperationObserver } from '../server/graphql/plugins/operation-observer.ts';
import type { Usage } from '../upstream/client/usage.ts';

export const createOperationMetrics = (registry: Registry): Omit<OperationObserver, 'started'> => {
  const registers = [registry];
  const operations = new Counter({
    name: 'gateway_operations_total',
    help: 'Operations answered, by type (none: rejected before it was known), transport, and the code of their first error (OK: no error; ABANDONED: the client completed the operation or disconnected first). A subscription counts when it starts or is rejected.',
    labelNames: ['type', 'transport', 'code'],
    registers,
  });
  const duration = new Histogram({
    name: 'gateway_operation_duration_seconds',
    help: 'Time that operations ran, by type and transport; for subscriptions, until the first event could be sent.',
    labelNames: ['type', 'transport'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const cost = new Counter({
    name: 'gateway_operation_compute_units_total',
    help: 'Compute units that upstream billed for the requests that operations started, by type; those of a request that outlives its operation once it ends.',
    labelNames: ['type'],
    registers,
  });
  const unchangedAnswers = new Counter({
    name: 'gateway_unchanged_answers_total',
    help: 'Operations whose client had the answer already (304), by what was compared: pages (each page was the same, and nothing was executed), data (the answer was made anew, and was the same).',
    labelNames: ['compared'],
    registers,
  });
  const eventStreams = new Gauge({
    name: 'gateway_event_streams',
    help: 'Open subscriptions as server-sent events.',
    registers,
  });

  return {
    answered({ type, transport, codes: [first = 'OK'], abandoned, durationMs, upstream, unchanged }) {
      operations.inc({ type, transport, code: abandoned ? 'ABANDONED' : first });
      if (durationMs !== null) duration.observe({ type, transport }, durationMs / 1000);
      if (upstream !== null) countBilled(upstream, (computeUnits) => cost.inc({ type }, computeUnits));
      if (unchanged !== null) unchangedAnswers.inc({ compared: unchanged });
    },
    streaming() {
      eventStreams.inc();
      return () => eventStreams.dec();
    },
  };
};

/** Counts what has been billed so far, and what will be for requests that have not ended. */
const countBilled = (
  usage: Pick<Usage, 'billed' | 'onChange'>,
  count: (computeUnits: number) => void,
): void => {
  let counted = 0;
  const countNew = () => {
    const computeUnits = usage.billed - counted;
    counted = usage.billed;
    if (computeUnits > 0) count(computeUnits);
  };
  countNew();
  usage.onChange(countNew);
};
