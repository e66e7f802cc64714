import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../src/redis/connection.ts';
import { openInvalidations } from '../../src/redis/invalidations.ts';
import { createNames } from '../../src/redis/names.ts';
import { openSharedPages } from '../../src/redis/pages.ts';
import { createCacheBudget, createInvalidationBus } from '../../src/upstream/cache/entries.ts';
import { createPageCache } from '../../src/upstream/cache/page-cache.ts';
import { type Details, hasDetails, type PageRequest, unionOf } from '../../src/upstream/page.ts';
import { CountedItems, pageOf } from '../graph/pagination/support/counted-items.ts';
import { PATIENT_TIMES } from '../support/redis/patience.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { requestScope } from '../support/upstream/request-scope.ts';

/** A page with more details than are asked for serves, in memory and in Redis; one that is fetched keeps those of others. */

const requestFor = (details: Details): PageRequest => ({
  ...{
    cachePartition: 'all',
    address: '0xa',
    chains: null,
    list: 'the list',
    offset: null,
    follows: null,
    limit: 10,
    details,
  },
  ...{ maxAgeMs: 60_000, watchedMs: () => 0, isTold: () => false, staleIfErrorMs: 60_000 },
});

/** What is asked for in turn, and the details of the page that is fetched for it; null where the page before serves. */
const STEPS: readonly (readonly [asked: Details, fetched: Details | null])[] = [
  ['logo,pools', 'logo,pools'],
  ['logo', null],
  ['', null],
  ['url', 'logo,pools,url'],
  ['log', 'log,logo,pools,url'],
  ['pools,url', null],
];

test('details are compared by their names', () => {
  expect(unionOf(['logo', '', 'pools,url', 'logo,url'])).toBe('logo,pools,url');
  expect(['', 'logo', 'logo,url'].map((wanted) => hasDetails('logo,pools,url', wanted))).toEqual([
    true,
    true,
    true,
  ]);
  expect(['log', 'logo,log', 'price:24'].map((wanted) => hasDetails('logo,price:2', wanted))).toEqual([
    false,
    false,
    false,
  ]);
});

test('in memory', async () => {
  const cache = createPageCache<string>(createCacheBudget(1_000_000), createInvalidationBus());
  for (const [asked, expected] of STEPS) {
    let fetched: Details | null = null;
    await cache.get(requestFor(asked), requestScope(), async ({ details }) => {
      fetched = details;
      return { page: pageOf(new CountedItems([]), null), memoryBytes: 1 };
    });
    expect([asked, fetched]).toEqual([asked, expected]);
  }
});

test('in Redis', async (context) => {
  await needRedis(context);
  const redis = await connectRedis({ urls: [(await startRedis()).url], times: PATIENT_TIMES });
  onTestFinished(() => redis.close());
  const names = createNames('a-secret-of-all-gateways', 'http://localhost', null);
  const observer = { found() {}, ran() {}, refused() {} };
  const invalidations = await openInvalidations({ redis, names, memory: createInvalidationBus(), observer });
  const limits = { ttlMs: 60_000, maxBytes: 1_000_000, leaseMs: 60_000 };
  const pages = await openSharedPages({ redis, names, invalidations, observer, ...limits });
  const { signal } = new AbortController();
  for (const [asked, expected] of STEPS) {
    const found = await pages.get(requestFor(asked), 60_000, signal);
    if (found?.kind !== 'lease') {
      expect([asked, found && hasDetails(found.page.details, asked)]).toEqual([asked, expected === null]);
      continue;
    }
    expect([asked, found.lease.details]).toEqual([asked, expected]);
    found.lease.store([Buffer.from('{}')], { limit: 10, fetchedAt: Date.now(), hasFailures: false });
    await expect.poll(async () => (await pages.getStale(requestFor(asked)))?.details).toBe(expected);
  }
  expect(await pages.getStale(requestFor('price:24'))).toBe(null);
});
