import type { MetricsSum } from '../workers/machine.ts';
import type { MetricSnapshot } from '../workers/questions.ts';

/**
 * Sums the metrics of the workers of a machine, so that they read as those of one process. What a worker has counted stays
 * when it ends: Prometheus would take a sum that falls for that of a process that has started anew, and count it again.
 */
export const createMetricsSum = (): MetricsSum => {
  let kept: Promise<MetricSnapshot> = Promise.resolve([]);
  return {
    keep(last) {
      kept = kept.then(async (before) => (await sum([before, countsIn(last)])).getMetricsAsJSON());
    },
    async expose(current, silent, exits) {
      const registry = await sum([...current, ...silent.map(countsIn), await kept, exitsOf(exits)]);
      return { type: registry.contentType, body: await registry.metrics() };
    },
  };
};

/** Of these the worst process matters, where prom-client would show the average. */
const OF_THE_WORST = /^nodejs_eventloop_lag_(?!min)/;

const sum = async (snapshots: readonly MetricSnapshot[]) => {
  // Loaded here: only the primary of workers sums, and only for a scrape.
  const { AggregatorRegistry } = await import('prom-client');
  const metrics = snapshots.map((snapshot) =>
    snapshot.map((metric) => (OF_THE_WORST.test(metric.name) ? { ...metric, aggregator: 'max' } : metric)),
  );
  return AggregatorRegistry.aggregate(metrics);
};

/** What only grows. A series with the label of its worker begins again with the next one, as any process's does. */
const countsIn = (snapshot: MetricSnapshot): MetricSnapshot =>
  snapshot
    .filter(({ type }) => type === 'counter' || type === 'histogram')
    .map((metric) => ({ ...metric, values: metric.values.filter(({ labels }) => !('worker' in labels)) }));

export const WORKER_EXITS = {
  name: 'gateway_worker_exits_total',
  help: 'Workers that have ended and were started again, or could not start: always 0 without WORKERS.',
} as const;

const exitsOf = (exits: number): MetricSnapshot => [
  { ...WORKER_EXITS, type: 'counter', aggregator: 'sum', values: [{ labels: {}, value: exits }] },
];
