import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { UpstreamObserver } from '../upstream/client/observer.ts';

export const createUpstreamMetrics = (registry: Registry): UpstreamObserver => {
  const registers = [registry];
  const requests = new Counter({
    name: 'gateway_upstream_requests_total',
    help: 'Requests sent to the service, retries included, by resource and outcome (success, or how it failed).',
    labelNames: ['resource', 'outcome'],
    registers,
  });
  const unsent = new Counter({
    name: 'gateway_upstream_unsent_total',
    help: 'Requests that failed before they were sent, by resource and reason: unavailable (the circuit breaker is open), aborted (the client disconnected), timeout, rateLimited (UPSTREAM_RPS), coolingDown (the service has told the key to wait).',
    labelNames: ['resource', 'reason'],
    registers,
  });
  const retries = new Counter({
    name: 'gateway_upstream_retries_total',
    help: 'Requests to the service that repeated a failed one, by resource.',
    labelNames: ['resource'],
    registers,
  });
  const computeUnits = new Counter({
    name: 'gateway_upstream_compute_units_total',
    help: 'Compute units that the service billed, by resource.',
    labelNames: ['resource'],
    registers,
  });
  const duration = new Histogram({
    name: 'gateway_upstream_request_duration_seconds',
    help: "Time from sending a request to its answer's last byte, by resource.",
    labelNames: ['resource'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const queued = new Histogram({
    name: 'gateway_upstream_queue_seconds',
    help: 'Time that requests waited for their turn: UPSTREAM_CONNECTIONS, UPSTREAM_RPS, and the breaker while it is open. Not what the service told their key to wait.',
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    registers,
  });
  const inFlight = new Gauge({
    name: 'gateway_upstream_requests_in_flight',
    help: 'Requests to the service under way now.',
    registers,
  });
  const open = new Gauge({
    name: 'gateway_upstream_breaker_open',
    help: '1 while the service is taken for down, else 0.',
    registers,
  });
  const openings = new Counter({
    name: 'gateway_upstream_breaker_openings_total',
    help: 'How often the service has come to be taken for down.',
    registers,
  });

  return {
    sending: () => inFlight.inc(),
    ended({ resource, number, error, sent, queuedMs, durationMs, computeUnits: billed }) {
      queued.observe(queuedMs / 1000);
      if (!sent) return unsent.inc({ resource, reason: error?.failure ?? 'unavailable' });
      inFlight.dec();
      const outcome = error?.failure ?? 'success';
      requests.inc({ resource, outcome });
      duration.observe({ resource }, durationMs / 1000);
      if (number > 1) retries.inc({ resource });
      if (billed > 0) computeUnits.inc({ resource }, billed);
    },
    circuitChanged(state) {
      open.set(state === 'down' ? 1 : 0);
      if (state === 'down') openings.inc();
    },
  };
};
