import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { UpstreamError } from '../upstream/client/errors.ts';
import type { UpstreamObserver } from '../upstream/client/observer.ts';

/** Each has a circuit breaker, whose series exist from the start: `increase()` would not count a first opening otherwise. */
const RESOURCES = ['transactions', 'collectibles', 'webhooks'];

type UpstreamMetrics = Omit<UpstreamObserver, 'sending'> & { sending(): void };

export const createUpstreamMetrics = (registry: Registry): UpstreamMetrics => {
  const registers = [registry];
  const requests = new Counter({
    name: 'gateway_upstream_requests_total',
    help: 'Requests sent to upstream, including retries, by resource and outcome (success, or the failure).',
    labelNames: ['resource', 'outcome'],
    registers,
  });
  const rejected = new Counter({
    name: 'gateway_upstream_rejected_before_send_total',
    help: 'Upstream requests rejected before they were sent, by resource and reason: unavailable (the circuit breaker is open), aborted (no client waits any more), timeout, rateLimited (UPSTREAM_RPS), cooldown (upstream asked the key to wait).',
    labelNames: ['resource', 'reason'],
    registers,
  });
  const retries = new Counter({
    name: 'gateway_upstream_retries_total',
    help: 'Retries of failed upstream requests, by resource.',
    labelNames: ['resource'],
    registers,
  });
  const computeUnits = new Counter({
    name: 'gateway_upstream_compute_units_total',
    help: 'Compute units that upstream billed, by resource.',
    labelNames: ['resource'],
    registers,
  });
  const duration = new Histogram({
    name: 'gateway_upstream_request_duration_seconds',
    help: 'Time from sending an upstream request to the last byte of its response, by resource.',
    labelNames: ['resource'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const queued = new Histogram({
    name: 'gateway_upstream_queue_seconds',
    help: 'Time that upstream requests were queued: for UPSTREAM_CONNECTIONS, UPSTREAM_RPS, and an open circuit breaker, without the cooldown of their key.',
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    registers,
  });
  const inFlight = new Gauge({
    name: 'gateway_upstream_requests_in_flight',
    help: 'Upstream requests under way.',
    registers,
  });
  const open = new Gauge({
    name: 'gateway_upstream_circuit_breaker_open',
    help: '1 while the circuit breaker of a resource is open, because it is down; else 0.',
    labelNames: ['resource'],
    registers,
  });
  const openings = new Counter({
    name: 'gateway_upstream_circuit_breaker_openings_total',
    help: 'How often the circuit breaker of a resource has opened.',
    labelNames: ['resource'],
    registers,
  });
  for (const resource of RESOURCES) {
    open.set({ resource }, 0);
    openings.inc({ resource }, 0);
  }

  return {
    sending: () => inFlight.inc(),
    ended({ resource, number, error, sent, queuedMs, durationMs, computeUnits: billed }) {
      queued.observe(queuedMs / 1000);
      if (!sent) return rejected.inc({ resource, reason: reasonOf(error) });
      inFlight.dec();
      const outcome = error?.failure ?? 'success';
      requests.inc({ resource, outcome });
      duration.observe({ resource }, durationMs / 1000);
      if (number > 1) retries.inc({ resource });
      if (billed > 0) computeUnits.inc({ resource }, billed);
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
