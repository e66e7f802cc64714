import type { Registry } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import type { ReaderObserver } from '../deliveries/feed/feed.ts';
import type { IngestObserver } from '../deliveries/ingress/ingress.ts';
import type { LogObserver } from '../deliveries/log/observer.ts';
import type { RetentionObserver } from '../deliveries/log/retention.ts';
import type { Sink } from './combine.ts';

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const createIngestMetrics = (registry: Registry): Sink<IngestObserver> => {
  const registers = [registry];
  const deliveries = new Counter({
    name: 'gateway_deliveries_total',
    help: 'Deliveries that were posted, by outcome: stored, duplicate, or the HTTP status of their rejection.',
    labelNames: ['outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'gateway_delivery_duration_seconds',
    help: "Time from a delivery's headers to its response.",
    buckets: BUCKETS,
    registers,
  });
  const refused = new Counter({
    name: 'gateway_deliveries_out_of_memory_total',
    help: 'Deliveries of the outcome 503 because there was no memory for their bodies.',
    registers,
  });
  return {
    outOfMemory: () => refused.inc(),
    answered(outcome, durationMs) {
      deliveries.inc({ outcome: String(outcome) });
      duration.observe(durationMs / 1000);
    },
  };
};

export const createLogMetrics = (registry: Registry): Sink<LogObserver> => {
  const registers = [registry];
  const appended = new Counter({
    name: 'gateway_log_appended_total',
    help: 'Deliveries that became durable in the log, without duplicates.',
    registers,
  });
  const bytes = new Counter({
    name: 'gateway_log_appended_bytes_total',
    help: 'Bytes of the bodies of those deliveries.',
    registers,
  });
  const pending = new Gauge({
    name: 'gateway_log_pending_bytes',
    help: 'Bytes of bodies in memory that are not durable yet.',
    registers,
  });
  const duration = new Histogram({
    name: 'gateway_log_append_duration_seconds',
    help: 'Time for a delivery to become durable, including its wait for a commit.',
    buckets: BUCKETS,
    registers,
  });
  const errors = new Counter({
    name: 'gateway_log_errors_total',
    help: 'Failures of the log (disk full, read-only, damaged, a delivery that cannot be stored), by task: append, read, check (of readiness).',
    labelNames: ['task'],
    registers,
  });
  return {
    waiting: (added) => pending.inc(added),
    appended({ stored, storedBytes, durationMs }) {
      appended.inc(stored);
      bytes.inc(storedBytes);
      duration.observe(durationMs / 1000);
    },
    failed: (task) => errors.inc({ task }),
    refused: () => errors.inc({ task: 'append' }),
  };
};

export const createRetentionMetrics = (registry: Registry): Sink<RetentionObserver> => {
  const gauge = new Gauge({
    name: 'gateway_retention_waits',
    help: '1 while retention by age waits, since the clock that it goes by has jumped; 0 otherwise.',
    registers: [registry],
  });
  return { jumped: () => gauge.set(1), settled: () => gauge.set(0) };
};

export const createReaderMetrics = (registry: Registry): Required<ReaderObserver> => {
  const registers = [registry];
  const feeds = new Set<() => readonly number[]>();
  new Gauge({
    name: 'gateway_readers',
    help: 'Open subscriptions that read the log, over WebSocket or as server-sent events.',
    registers,
    // A registry collects its metrics in the order of their making: this one sets all three, from one pass a scrape.
    collect() {
      const lags = [...feeds].flatMap((lagsOf) => lagsOf());
      this.set(lags.length);
      behind.set(lags.filter((lag) => lag > 0).length);
      most.set(lags.reduce((highest, lag) => Math.max(highest, lag), 0));
    },
  });
  const behind = new Gauge({
    name: 'gateway_readers_behind',
    help: 'Those of them that have not read all deliveries of their log.',
    registers,
  });
  const most = new Gauge({
    name: 'gateway_reader_lag_deliveries',
    help: 'Deliveries that the slowest of them has not read yet.',
    registers,
  });
  return {
    reading(lags) {
      feeds.add(lags);
      return () => void feeds.delete(lags);
    },
  };
};
