import type { CounterConfiguration, GaugeConfiguration, HistogramConfiguration, Registry } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import type { SharedAnswerObserver } from '../graph/answer/shared-answers.ts';
import type { RedisObserver } from '../redis/connection.ts';
import type { SharedObserver } from '../redis/run.ts';
import type { PageObserver } from '../upstream/cache/page-cache.ts';
import type { UpstreamError } from '../upstream/client/errors.ts';
import type { UpstreamObserver } from '../upstream/client/observer.ts';
import type { Sink } from './combine.ts';
import { createOnce, TalliedCounter, TalliedHistogram } from './tallies.ts';

export type Metrics = ReturnType<typeof metricsIn>;

/** Makes metrics that a registry holds. */
export const metricsIn = (registry: Registry) => {
  const registers = [registry];
  return {
    counter: <Label extends string>(metric: CounterConfiguration<Label>) =>
      new Counter({ ...metric, registers }),
    gauge: <Label extends string>(metric: GaugeConfiguration<Label>) => new Gauge({ ...metric, registers }),
    histogram: <Label extends string>(metric: HistogramConfiguration<Label>) =>
      new Histogram({ ...metric, registers }),
    tallies: {
      counter: <Label extends string>(metric: CounterConfiguration<Label>) =>
        new TalliedCounter({ ...metric, registers }),
      histogram: <Label extends string>(metric: HistogramConfiguration<Label> & { buckets: number[] }) =>
        new TalliedHistogram({ ...metric, registers }),
    },
  };
};

/**
 * Counts requests. Each of the resources has a circuit breaker, whose series exist from the start: `increase()` would not
 * count a first opening otherwise.
 */
export const createUpstreamMetrics = (
  { counter, gauge, tallies }: Metrics,
  resources: readonly string[],
): Sink<UpstreamObserver> => {
  const requests = tallies.counter({
    name: 'gateway_upstream_requests_total',
    help: 'Requests sent to upstream, including retries, by resource and outcome (success, or the failure).',
    labelNames: ['resource', 'outcome'],
  });
  const rejected = counter({
    name: 'gateway_upstream_rejected_before_send_total',
    help: 'Upstream requests rejected before they were sent, by resource and reason: unavailable (the circuit breaker is open), aborted (no client waits for it), timeout, rateLimited (UPSTREAM_RPS), cooldown (upstream asked the key to wait).',
    labelNames: ['resource', 'reason'],
  });
  const retries = counter({
    name: 'gateway_upstream_retries_total',
    help: 'Retries of failed upstream requests, by resource.',
    labelNames: ['resource'],
  });
  const computeUnits = tallies.counter({
    name: 'gateway_upstream_compute_units_total',
    help: 'Compute units that upstream billed, by resource.',
    labelNames: ['resource'],
  });
  const duration = tallies.histogram({
    name: 'gateway_upstream_request_duration_seconds',
    help: 'Time from sending an upstream request to the last byte of its response, by resource.',
    labelNames: ['resource'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const queued = tallies
    .histogram({
      name: 'gateway_upstream_queue_seconds',
      help: 'Time that upstream requests were queued: for UPSTREAM_CONNECTIONS, UPSTREAM_RPS, and an open circuit breaker, without the cooldown of their key.',
      labelNames: [],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    })
    .add({});
  const inFlight = gauge({
    name: 'gateway_upstream_requests_in_flight',
    help: 'Upstream requests under way.',
  });
  const open = gauge({
    name: 'gateway_upstream_circuit_breaker_open',
    help: '1 while the circuit breaker of a resource is open, because it is down; else 0.',
    labelNames: ['resource'],
    aggregator: 'max',
  });
  const openings = counter({
    name: 'gateway_upstream_circuit_breaker_openings_total',
    help: 'How often the circuit breaker of a resource has opened.',
    labelNames: ['resource'],
  });
  for (const resource of resources) {
    open.set({ resource }, 0);
    openings.inc({ resource }, 0);
  }

  const requestsOf = createOnce((resource: string) =>
    createOnce((outcome: string) => requests.add({ resource, outcome })),
  );
  const durationOf = createOnce((resource: string) => duration.add({ resource }));
  const computeUnitsOf = createOnce((resource: string) => computeUnits.add({ resource }));

  return {
    sending: () => inFlight.inc(),
    ended({ resource, number, error, sent, queuedMs, durationMs, computeUnits: billed }) {
      queued.observe(queuedMs / 1000);
      if (!sent) return rejected.inc({ resource, reason: reasonOf(error) });
      inFlight.dec();
      requestsOf(resource)(error?.failure ?? 'success').value += 1;
      durationOf(resource).observe(durationMs / 1000);
      if (number > 1) retries.inc({ resource });
      if (billed > 0) computeUnitsOf(resource).value += billed;
    },
    circuitChanged(state, resource) {
      open.set({ resource }, state === 'down' ? 1 : 0);
      if (state === 'down') openings.inc({ resource });
    },
  };
};

const reasonOf = (error: UpstreamError | null): string => {
  if (error === null) return 'unavailable';
  return error.failure === 'coolingDown' ? 'cooldown' : error.failure;
};

/** Counts how each resource's pages are served. `bytes` returns the memory of all cached pages. */
export const createCacheMetrics = ({ tallies, gauge }: Metrics, bytes: () => number) => {
  const pages = tallies.counter({
    name: 'gateway_page_cache_requests_total',
    help: 'Pages that operations requested, by resource and result: fresh, watched (fresh because no delivery or change has named it), stale (served while it is refreshed), stale_if_error (served because upstream failed), coalesced (another operation was fetching it), shared (another gateway has fetched it), miss (fetched).',
    labelNames: ['resource', 'result'],
  });
  gauge({
    name: 'gateway_page_cache_bytes',
    help: 'Approximate memory of cached pages; CACHE_MAX_MB limits it.',
    collect() {
      this.set(bytes());
    },
  });
  return (resource: string): Sink<PageObserver> => {
    const servedAs = createOnce((result: string) => pages.add({ resource, result: inSnakeCase(result) }));
    return {
      served(result) {
        servedAs(result).value += 1;
      },
    };
  };
};

/** Counts the operations whose answers equal operations have made. */
export const createSharedAnswerMetrics = ({ tallies }: Metrics): Sink<SharedAnswerObserver> => {
  const shared = tallies
    .counter({
      name: 'gateway_shared_answers_total',
      help: 'Operations whose answer an equal operation has made, whose pages were still fresh.',
      labelNames: [],
    })
    .add({});
  return {
    shared() {
      shared.value += 1;
    },
  };
};

/** Most commands take less than a millisecond; one that takes half a second has failed. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5];

/** Counts what gateways share over Redis. */
export const createSharedMetrics = ({ counter, histogram }: Metrics): Sink<SharedObserver> => {
  const found = counter({
    name: 'gateway_shared_pages_total',
    help: 'Pages that were not in memory, by how Redis had them: hit, waited (another gateway was fetching it), lease (it had none, and this gateway fetched it), unavailable (Redis did not answer).',
    labelNames: ['result'],
  });
  const duration = histogram({
    name: 'gateway_shared_duration_seconds',
    help: 'Time of a command to the Redis that gateways share, by task: find, store, renew (pages and their leases), invalidate, budget, rate, cooldown, explorer (its limits).',
    labelNames: ['task'],
    buckets: SECONDS,
  });
  const errors = counter({
    name: 'gateway_shared_errors_total',
    help: 'Commands to that Redis that failed or took too long, by task.',
    labelNames: ['task'],
  });
  return {
    found: (result) => found.inc({ result }),
    ran(task, durationMs, failed) {
      duration.observe({ task }, durationMs / 1000);
      if (failed) errors.inc({ task });
    },
  };
};

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export const createRedisMetrics = ({ histogram }: Metrics): Sink<RedisObserver> => {
  const duration = histogram({
    name: 'gateway_redis_command_duration_seconds',
    help: 'Time of commands to Redis, including scripts, by outcome: replied, refused (by Redis), unavailable (no reply in time, or no connection).',
    labelNames: ['outcome'],
    buckets: BUCKETS,
  });
  return { settled: (outcome, durationMs) => duration.observe({ outcome }, durationMs / 1000) };
};

/** Counts the lost connections to the Redis that a variable names. */
export const createRedisGauge = ({ gauge }: Metrics) => {
  const lost = gauge({
    name: 'gateway_redis_connections_lost',
    help: 'Connections to Redis that are lost and being opened again, by the variable of its URL: REDIS_URL, REDIS_CACHE_URL.',
    labelNames: ['variable'],
  });
  return (variable: string): Sink<RedisObserver> => {
    lost.set({ variable }, 0);
    return { lost: () => lost.inc({ variable }), restored: () => lost.dec({ variable }) };
  };
};

/** The name of a value as labels and attributes have it: `stale_if_error` for `staleIfError`. */
export const inSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
