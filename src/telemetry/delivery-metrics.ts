import type { DeliverySource, IngestObserver } from '../deliveries/ingress/ingress.ts';
import type { LogSize } from '../deliveries/log/log.ts';
import type { LogObserver } from '../deliveries/log/observer.ts';
import type { RetentionObserver } from '../deliveries/log/retention.ts';
import { settlesWithin } from '../lib/tasks.ts';
import type { Sink } from './combine.ts';
import type { Metrics } from './upstream-metrics.ts';

/** What arrives, what is kept of it, and who reads it. */

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export const createIngestMetrics = ({ counter, gauge, histogram }: Metrics): Sink<IngestObserver> => {
  const deliveries = counter({
    name: 'gateway_deliveries_total',
    help: 'Deliveries that were posted, by outcome: stored, duplicate, or the HTTP status of their rejection.',
    labelNames: ['outcome'],
  });
  const duration = histogram({
    name: 'gateway_delivery_duration_seconds',
    help: "Time from a delivery's headers to its response.",
    buckets: BUCKETS,
  });
  const refused = counter({
    name: 'gateway_deliveries_out_of_memory_total',
    help: 'Deliveries of the outcome 503 because there was no memory for their bodies.',
  });
  const last = gauge({
    name: 'gateway_webhook_last_delivery_timestamp_seconds',
    help: 'When the last delivery of a webhook was stored, or had been stored before, by webhook: at most 50 of a tenant and 1,000 in all, until they have been silent for a week. Each gateway knows what it has received since it started.',
    labelNames: ['webhook'],
    aggregator: 'max',
  });
  const rejections = counter({
    name: 'gateway_webhook_rejections_total',
    help: 'Deliveries of those webhooks that were rejected, by webhook and HTTP status.',
    labelNames: ['webhook', 'status'],
  });
  const webhooks = new KnownWebhooks((webhook) => {
    last.remove({ webhook });
    for (const status of REJECTIONS) rejections.remove({ webhook, status });
  });
  return {
    outOfMemory: () => refused.inc(),
    answered(outcome, durationMs, source) {
      deliveries.inc({ outcome: String(outcome) });
      duration.observe(durationMs / 1000);
      if (source === null || !webhooks.has(source)) return;
      const webhook = source.webhookId;
      if (typeof outcome === 'string') last.set({ webhook }, Date.now() / 1000);
      else rejections.inc({ webhook, status: String(outcome) });
    },
  };
};

/** The statuses of rejections, see `createIngress`. */
const REJECTIONS = ['400', '401', '405', '408', '413', '415', '503'];

const MAX_WEBHOOKS = 1000;
const MAX_WEBHOOKS_EACH = 50;
const SILENT_MS = 7 * 24 * 3_600_000;

/**
 * The webhooks that have series of their own. A tenant can post in the name of webhooks that it invents, so a webhook keeps its
 * place until it has been silent for a week: no tenant makes more series than a few a day, or displaces those of another one.
 */
class KnownWebhooks {
  /** Ordered by when they were last seen, the longest silent one first. */
  readonly #seen = new Map<string, { readonly tenant: string; readonly at: number }>();
  readonly #counts = new Map<string, number>();
  readonly #onForgotten: (webhookId: string) => void;

  constructor(onForgotten: (webhookId: string) => void) {
    this.#onForgotten = onForgotten;
  }

  /** Whether the webhook is one of them, now that it was seen. */
  has({ tenant, webhookId }: DeliverySource): boolean {
    const now = performance.now();
    this.#forgetSilent(now);
    const known = this.#seen.get(webhookId);
    // Only its tenant speaks for a webhook.
    if (known) {
      if (known.tenant !== tenant) return false;
    } else {
      const count = this.#counts.get(tenant) ?? 0;
      if (this.#seen.size >= MAX_WEBHOOKS || count >= MAX_WEBHOOKS_EACH) return false;
      this.#counts.set(tenant, count + 1);
    }
    this.#seen.delete(webhookId);
    this.#seen.set(webhookId, { tenant, at: now });
    return true;
  }

  #forgetSilent(now: number): void {
    for (const [webhookId, { tenant, at }] of this.#seen) {
      if (now - at < SILENT_MS) return;
      this.#seen.delete(webhookId);
      const count = (this.#counts.get(tenant) ?? 1) - 1;
      if (count > 0) this.#counts.set(tenant, count);
      else this.#counts.delete(tenant);
      this.#onForgotten(webhookId);
    }
  }
}

export const createLogMetrics = ({ counter, gauge, histogram }: Metrics): Sink<LogObserver> => {
  const appended = counter({
    name: 'gateway_log_appended_total',
    help: 'Deliveries that became durable in the log, without duplicates.',
  });
  const bytes = counter({
    name: 'gateway_log_appended_bytes_total',
    help: 'Bytes of the bodies of those deliveries.',
  });
  const pending = gauge({
    name: 'gateway_log_pending_bytes',
    help: 'Bytes of bodies in memory that are not durable yet.',
  });
  const duration = histogram({
    name: 'gateway_log_append_duration_seconds',
    help: 'Time for a delivery to become durable, including its wait for a commit.',
    buckets: BUCKETS,
  });
  const measure = createSizeMetrics(gauge);
  const errors = counter({
    name: 'gateway_log_errors_total',
    help: 'Failures of the log (disk full, read-only, damaged, a delivery that cannot be stored), by task: append, read, check (of readiness), checkpoint (its files grow until one succeeds).',
    labelNames: ['task'],
  });
  return {
    opened: measure,
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

/** A log is measured at most once in this time. */
const MEASURE_EVERY_MS = 10_000;
/** Where there are many tenants, measuring takes at most this part of the time. */
const MEASURING_SHARE = 0.02;
/** How long a scrape waits for that. */
const MAX_MEASURE_MS = 1000;

/** Returns a function that takes what measures the log. While that fails, the gauges have no value. */
const createSizeMetrics = (gauge: Metrics['gauge']): ((size: () => Promise<LogSize>) => void) => {
  let size = async (): Promise<LogSize | null> => null;
  let nextAt = Number.NEGATIVE_INFINITY;
  let measured: LogSize | null = null;
  let measuring: Promise<void> | null = null;
  const measure = async (): Promise<void> => {
    const startedAt = performance.now();
    measured = await size().catch(() => null);
    const endedAt = performance.now();
    nextAt = endedAt + Math.max(MEASURE_EVERY_MS, (endedAt - startedAt) / MEASURING_SHARE);
    measuring = null;
  };
  const gaugeOf = (name: string, help: string, valueIn: (size: LogSize) => number | null): void => {
    gauge({
      name,
      help,
      aggregator: 'max',
      async collect() {
        if (measuring === null && performance.now() > nextAt) measuring = measure();
        if (measuring !== null) await settlesWithin([measuring], MAX_MEASURE_MS);
        const value = measured && valueIn(measured);
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  };
  gaugeOf(
    'gateway_log_bytes',
    'Bytes that the delivery log takes: its files, or the memory of its streams in Redis, which all gateways share. Measured every 10 seconds at most, as the next three are.',
    ({ bytes }) => bytes,
  );
  gaugeOf('gateway_log_deliveries', 'Deliveries in the log, of all tenants.', ({ deliveries }) => deliveries);
  gaugeOf('gateway_log_tenants', 'Tenants that have a delivery in the log.', ({ tenants }) => tenants);
  gaugeOf(
    'gateway_log_oldest_timestamp_seconds',
    'When the oldest delivery in the log was received, or earlier while deliveries are being dropped; absent while the log is empty.',
    ({ oldestAt }) => (oldestAt === null ? null : oldestAt / 1000),
  );
  return (given) => {
    size = given;
  };
};

export const createRetentionMetrics = ({ gauge }: Metrics): Sink<RetentionObserver> => {
  const waits = gauge({
    name: 'gateway_retention_waits',
    help: '1 while retention by age waits, since the clock that it goes by has jumped; 0 otherwise.',
    aggregator: 'max',
  });
  return { jumped: () => waits.set(1), settled: () => waits.set(0) };
};
