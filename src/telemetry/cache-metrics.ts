import { Counter, Gauge, type Registry } from 'prom-client';
import type { SharedFrom } from '../graph/answer/shared-answers.ts';
import type { CacheResult } from '../upstream/cache/page-observer.ts';
import { inSnakeCase } from './words.ts';

/** Counts how each resource's pages are served. `bytes` returns the memory of all cached pages. */
export const createCacheMetrics = (registry: Registry, bytes: () => number) => {
  const registers = [registry];
  const pages = new Counter({
    name: 'gateway_page_cache_requests_total',
    help: 'Pages that operations requested, by resource and result: fresh, watched (fresh because no delivery has named its wallet), stale (served while it is refreshed), stale_if_error (served because upstream failed), coalesced (another operation was fetching it), shared (another gateway has fetched it), miss (fetched).',
    labelNames: ['resource', 'result'],
    registers,
  });
  new Gauge({
    name: 'gateway_page_cache_bytes',
    help: 'Approximate memory of cached pages; CACHE_MAX_MB limits it.',
    registers,
    collect() {
      this.set(bytes());
    },
  });
  return (resource: 'transactions' | 'collectibles') => (result: CacheResult) =>
    pages.inc({ resource, result: inSnakeCase(result) });
};

/** Counts the operations whose answers equal operations have made. */
export const createSharedAnswerMetrics = (registry: Registry) => {
  const shared = new Counter({
    name: 'gateway_shared_answers_total',
    help: 'Operations whose answer an equal operation has made, by where it was: kept (its pages were still fresh), in_flight (it was being made).',
    labelNames: ['from'],
    registers: [registry],
  });
  return (from: SharedFrom) => shared.inc({ from: inSnakeCase(from) });
};
