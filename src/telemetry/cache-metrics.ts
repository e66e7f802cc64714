import { Counter, Gauge, type Registry } from 'prom-client';
import type { CacheResult } from '../upstream/cache/page-cache.ts';

/** How a resource's pages are had; `bytes` says how much all kept pages weigh. */
export const createCacheMetrics = (registry: Registry, bytes: () => number) => {
  const registers = [registry];
  const pages = new Counter({
    name: 'gateway_page_cache_requests_total',
    help: 'Pages that operations wanted, by resource and result: fresh, stale (served while it is refreshed), stale_if_error (served because the service failed), coalesced (another operation was fetching it), miss (fetched).',
    labelNames: ['resource', 'result'],
    registers,
  });
  new Gauge({
    name: 'gateway_page_cache_bytes',
    help: 'Memory that kept pages take, about; CACHE_MAX_MB bounds it.',
    registers,
    collect() {
      this.set(bytes());
    },
  });
  return (resource: 'transactions' | 'collectibles') => (source: CacheResult) =>
    pages.inc({ resource, result: source === 'staleIfError' ? 'stale_if_error' : source });
};
