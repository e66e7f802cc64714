import { Counter, Histogram, type Registry } from 'prom-client';
import type { SharedObserver } from '../shared/observer.ts';

/** Most commands take less than a millisecond; one that takes half a second has failed. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5];

/** Counts what gateways share over Redis. */
export const createSharedMetrics = (registry: Registry): Omit<SharedObserver, 'refused'> => {
  const registers = [registry];
  const found = new Counter({
    name: 'gateway_shared_pages_total',
    help: 'Pages that were not in memory, by how Redis had them: hit, waited (another gateway was fetching it), lease (it had none, and this gateway fetched it), unavailable (Redis did not answer).',
    labelNames: ['result'],
    registers,
  });
  const duration = new Histogram({
    name: 'gateway_shared_duration_seconds',
    help: 'Time of a command to the Redis that gateways share, by task: find, store, renew (pages and their leases), invalidate, budget, rate, cooldown.',
    labelNames: ['task'],
    buckets: SECONDS,
    registers,
  });
  const errors = new Counter({
    name: 'gateway_shared_errors_total',
    help: 'Commands to that Redis that failed or took too long, by task.',
    labelNames: ['task'],
    registers,
  });
  return {
    found: (result) => found.inc({ result }),
    ran(task, durationMs, failed) {
      duration.observe({ task }, durationMs / 1000);
      if (failed) errors.inc({ task });
    },
  };
};
