import { expect, test, vi } from 'vitest';
import { lookups } from '../../src/lookups/registry.ts';
import { activity, deliver } from '../support/clients/deliver.ts';
import { newestOf, poll } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { keysOf, pageAt } from '../support/clients/walk.ts';
import { deliveryPathOf } from '../support/gateway/on-redis.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { type Gateway, heldKey } from '../support/gateway/start.ts';
import { sampleItems, sampleOf } from '../support/lookups/samples.ts';
import { launchCluster } from '../support/redis/cluster.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import {
  growing,
  hasRun,
  held,
  redisServers,
  startOnRedis,
  startTwo,
  usageOf,
} from '../support/redis/sharing-gateways.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { serving, servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** Gateways on one Redis have one cache of pages. */

test('a wallet that one gateway has fetched costs the other nothing', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateways = await startTwo(redis.url);
  const { fake, first, second } = gateways;
  const address = growing(fake);
  const fetched = await poll(first, address);
  expect(fetched.extensions.upstream).toEqual({ requests: 1, computeUnits: 1, cached: 0 });
  await hasRun(first, 'store');
  const shared = await poll(second, address);
  expect(shared.extensions.upstream).toEqual({ requests: 0, computeUnits: 0, cached: 1 });
  expect(shared.data).toEqual(fetched.data);
  expect(fake.requests).toHaveLength(1);
  // From then on it is in the memory of both.
  await redis.crash();
  expect(await usageOf(second, address)).toEqual({ requests: 0, computeUnits: 0, cached: 1 });
  const metrics = await scrape(second.url);
  expect(metrics.sum('gateway_shared_pages_total', { result: 'hit' })).toBe(1);
  expect(metrics.sum('gateway_page_cache_requests_total', { result: 'shared' })).toBe(1);
});

test.for(lookups)(
  'a page of $name that one gateway has fetched costs the other nothing, until a delivery names its wallet',
  async (lookup, context) => {
    await needRedis(context);
    const redis = await startRedis();
    await using gateways = await startTwo(redis.url);
    const { fake, first, second } = gateways;
    const address = freshAddress();
    let length = 3;
    fake.scriptsOf(lookup).set(address, (request) => serving(lookup, sampleItems(lookup, length))(request));
    const keysAt = async (gateway: Gateway) => keysOf([await pageAt(gateway, lookup.name, address, 5)]);

    // Both at once make one request, whichever gateway they ask.
    const cold = await Promise.all([keysAt(first), keysAt(second), keysAt(first), keysAt(second)]);
    expect(new Set(cold.map(String)).size).toBe(1);
    expect(cold[0]).toHaveLength(3);
    expect(fake.requestsFor(address)).toHaveLength(1);

    length = 4;
    const path = await deliveryPathOf(first.url);
    expect(await deliver(first.url + path, { body: activity(1, address) })).toBe(200);
    if (sampleOf(lookup).parent !== undefined) return;
    for (const gateway of [second, first])
      await vi.waitFor(async () => expect(await keysAt(gateway)).toHaveLength(4), 120_000);
    expect(fake.requestsFor(address)).toHaveLength(2);
  },
);

test('what the service says of a token costs the other nothing, nor does that it knows none', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateways = await startTwo(redis.url);
  const { fake, first, second } = gateways;
  const [known, unknown] = [freshAddress(), freshAddress()];
  fake.script.other = ({ address }) =>
    address === known ? { json: { tokens: [{ price_usd: 1.5 }] } } : { status: 404, text: 'Token not found' };
  const marketOf = (gateway: typeof first, address: string) =>
    gateway.query(
      `{ token(token: { contract: { chainId: 1, address: "${address}" } }) { market { priceUsd } } }`,
    );
  for (const [index, address] of [known, unknown].entries()) {
    const fetched = await marketOf(first, address);
    expect([fetched.errors, fetched.extensions.upstream.requests]).toEqual([undefined, 1]);
    await hasRun(first, 'store', index + 1);
    const shared = await marketOf(second, address);
    expect([shared.errors, shared.extensions.upstream.requests]).toEqual([undefined, 0]);
    expect(shared.data).toEqual(fetched.data);
  }
});

test('100 clients of three gateways that want one cold page make one upstream request', async (context) => {
  await needRedis(context);
  const redis = await redisServers();
  const env = { REDIS_CACHE_URL: redis.cache.url };
  await using gateways = await startTwo(redis.log.url, env);
  const { fake, first, second } = gateways;
  await using third = await startOnRedis(fake, redis.log.url, env);
  const all = [first, second, third];
  const { address, open } = held(fake);
  const polls = Array.from({ length: 100 }, (_, index) => poll(all[index % 3] ?? first, address));
  await eventually(() => fake.requests.length > 0);
  open();
  const replies = await Promise.all(polls);
  expect(replies.flatMap(({ errors }) => errors ?? [])).toEqual([]);
  expect(new Set(replies.map(newestOf)).size).toBe(1);
  expect(fake.requests).toHaveLength(1);
  expect(replies.reduce((sum, { extensions }) => sum + extensions.upstream.requests, 0)).toBe(1);
});

test('gateways wait for a page also where no page is kept: CACHE_HEAD_MS=0', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateways = await startTwo(redis.url, { CACHE_HEAD_MS: '0' });
  const { fake, first, second } = gateways;
  const { address, open } = held(fake);
  const one = poll(first, address);
  await eventually(() => fake.requests.length === 1);
  const other = poll(second, address);
  await hasRun(second, 'find');
  open();
  expect(newestOf(await other)).toBe(newestOf(await one));
  expect(fake.requests).toHaveLength(1);
  await poll(second, address);
  expect(fake.requests).toHaveLength(2);
});

test('gateways with other keys or base URLs of upstream share no page, and keys show nothing', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  await using other = await startFakeWallets();
  const address = growing(fake);
  other.transactions.set(address, servingTransactions(history(3)));
  const shared = { DELIVERY_SECRET: 'the-same-of-all-gateways' };
  await using first = await startOnRedis(fake, redis.url, shared);
  await using secondKey = await startOnRedis(fake, redis.url, {
    ...shared,
    UPSTREAM_API_KEY: 'another-key-of-upstream',
  });
  await using secondUrl = await startOnRedis(other, redis.url, shared);
  await using byKey = await startOnRedis(fake, redis.url, {
    ...shared,
    AUTH: 'key',
    UPSTREAM_API_KEY: undefined,
  });
  for (const gateway of [first, secondKey, secondUrl])
    expect((await usageOf(gateway, address)).requests).toBe(1);
  const query = `{ wallet(address: "${address}") { transactions(first: 1) { nodes { hash } } } }`;
  for (const key of ['first-client-key', 'second-client-key']) {
    const { extensions } = await byKey.query(query, {}, { 'x-service-api-key': key });
    expect(extensions.upstream.requests).toBe(1);
  }
  const names = String(await redis.run('KEYS', 'gateway:cache:*'));
  expect(names).toContain('gateway:cache:');
  expect(names).not.toMatch(/client-key|another-key|held-by|127\.0\.0\.1/);
  expect(names).not.toContain(address);
});

test('a key that upstream repeats in a page is not shared with it', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateways = await startTwo(redis.url);
  const { fake, first, second } = gateways;
  const address = freshAddress();
  const [item] = history(1);
  fake.transactions.set(address, servingTransactions([{ ...item, data: `0x-${heldKey}` }]));
  const query = `{ wallet(address: "${address}") { transactions(first: 1) { nodes { data hash } } } }`;
  expect((await first.query(query)).body).not.toContain(heldKey);
  const shared = await second.query(query);
  expect(shared.extensions.upstream).toMatchObject({ requests: 0, cached: 1 });
  expect(shared.body).not.toContain(heldKey);
  const name = String(await redis.run('KEYS', 'gateway:cache:*:page:*'));
  expect(String(await redis.run('HGET', name, 'encoding'))).toBe('raw');
  const stored = String(await redis.run('HGET', name, 'body'));
  expect(stored).toContain(item?.hash);
  expect(stored).not.toContain(heldKey);
});

test('pages are shared and invalidated over a Cluster', async (context) => {
  await needRedis(context);
  await using cluster = await launchCluster();
  const redis = await startRedis();
  const env = { REDIS_CACHE_URL: cluster.urls.join(',') };
  await using gateways = await startTwo(redis.url, env);
  const { fake, first, second } = gateways;
  const addresses = Array.from({ length: 8 }, () => growing(fake));
  const path = await deliveryPathOf(first.url);
  for (const [number, address] of addresses.entries()) {
    const before = newestOf(await poll(first, address));
    await vi.waitFor(async () => expect((await usageOf(second, address)).requests).toBe(0), 120_000);
    expect(await deliver(first.url + path, { body: activity(number, address) })).toBe(200);
    await vi.waitFor(async () => expect(newestOf(await poll(second, address))).not.toBe(before), 120_000);
  }
});
