import { collectDefaultMetrics, Registry } from 'prom-client';
import { createCacheMetrics } from './cache-metrics.ts';
import { createIngestMetrics, createLogMetrics, createReaderMetrics } from './delivery-metrics.ts';
import { createOperationMetrics } from './operation-metrics.ts';
import {
  createBudgetMetrics,
  createEventMetrics,
  createHttpMetrics,
  createSocketMetrics,
} from './server-metrics.ts';
import { createUpstreamMetrics } from './upstream-metrics.ts';

type Options = {
  /** How much kept pages weigh now. */
  readonly cacheBytes: () => number;
};

/**
 * What the parts tell, as Prometheus scrapes it. A label's values are few and the gateway's own: what a client may make
 * up (a name, an address, a key, a url) is never one.
 */
export const createMetrics = ({ cacheBytes }: Options) => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    operations: createOperationMetrics(registry),
    onComputeUnitRefusal: createBudgetMetrics(registry),
    upstream: createUpstreamMetrics(registry),
    pages: createCacheMetrics(registry, cacheBytes),
    ingest: createIngestMetrics(registry),
    log: createLogMetrics(registry),
    readers: createReaderMetrics(registry),
    events: createEventMetrics(registry),
    http: createHttpMetrics(registry),
    sockets: createSocketMetrics(registry),
    /** All of it in Prometheus' text format. */
    scrape: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  };
};
