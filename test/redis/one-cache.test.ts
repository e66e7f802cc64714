import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { activity, deliver } from '../support/clients/deliver.ts';
import { newestOf, poll } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { deliveryPathOf } from '../support/gateway/on-redis.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { type Gateway, heldKey, nowhere, startGateway } from '../support/gateway/start.ts';
import { launchCluster } from '../support/redis/cluster.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../support/upstream/wallets.ts';

/** Gateways on one Redis have one cache of pages. */

/** Pages stay fresh for as long as a test takes; a busy machine may be slow to answer for Redis. */
const start = (fake: FakeWallets, redisUrl: string, env: Record<string, string | undefined> = {}) =>
  startGateway(
    { UPSTREAM_URL: fake.url, AUTH: 'open', REDIS_URL: redisUrl, CACHE_HEAD_MS: '600000', ...env },
    { times: { shared: { commandMs: 20_000, silentMs: 30_000 } } },
  );

/** A wallet whose newest transaction is another one on each request. */
const growing = (fake: FakeWallets) => {
  const address = freshAddress();
  const items = history(30);
  let requests = 0;
  fake.transactions.set(address, (request) => {
    requests += 1;
    return servingTransactions(items.slice(30 - requests))(request);
  });
  return address;
};

/** Holds the answers of a wallet until `open`, with what upstream had when the request came. */
const held = (fake: FakeWallets) => {
  const address = growing(fake);
  const serve = fake.transactions.get(address);
  const gate = Promise.withResolvers<void>();
  fake.transactions.set(address, async (request) => {
    const reply = await serve?.(request);
    await gate.promise;
    return reply ?? {};
  });
  return { address, open: gate.resolve };
};

const redisServers = async () => ({
  log: await startRedis(),
  cache: await startRedis({ settings: ['--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru'] }),
});

/** Waits until the gateway has asked this of the Redis that it shares, and has its reply. */
const hasRun = (gateway: Gateway, task: string) =>
  vi.waitFor(async () => {
    const metrics = await scrape(gateway.url);
    expect(metrics.sum('gateway_shared_duration_seconds_count', { task })).toBeGreaterThan(0);
  }, 60_000);

const usageOf = async (gateway: Gateway, address: string) =>
  (await poll(gateway, address)).extensions.upstream;

test('a wallet that one gateway has fetched costs the other nothing', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  await using first = await start(fake, redis.url);
  await using second = await start(fake, redis.url);
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

test('100 clients of three gateways that want one cold page make one upstream request', async (context) => {
  await needRedis(context);
  const redis = await redisServers();
  await using fake = await startFakeWallets();
  const env = { REDIS_CACHE_URL: redis.cache.url };
  await using first = await start(fake, redis.log.url, env);
  await using second = await start(fake, redis.log.url, env);
  await using third = await start(fake, redis.log.url, env);
  const gateways = [first, second, third];
  const { address, open } = held(fake);
  const polls = Array.from({ length: 100 }, (_, index) => poll(gateways[index % 3] ?? first, address));
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
  await using fake = await startFakeWallets();
  await using first = await start(fake, redis.url, { CACHE_HEAD_MS: '0' });
  await using second = await start(fake, redis.url, { CACHE_HEAD_MS: '0' });
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

test('when the gateway that fetches a page is killed, another one goes on', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  const env = { UPSTREAM_URL: fake.url, AUTH: 'open', UPSTREAM_API_KEY: 'held-by-both-gateways' };
  await using first = await spawnGateway({
    ...env,
    REDIS_URL: redis.url,
    DATA_DIR: '/nonexistent/not-used-with-redis',
  });
  await using second = await start(fake, redis.url, env);
  const address = freshAddress();
  fake.transactions.set(address, () => ({ silent: true }));
  const lost = poll({ ...second, query: queryAt(first.url) }, address).catch(() => null);
  await eventually(() => fake.requestsFor(address).length === 1);
  const other = poll(second, address);
  await hasRun(second, 'find');
  fake.transactions.set(address, servingTransactions(history(3)));
  const exit = once(first.child, 'exit');
  first.child.kill('SIGKILL');
  await exit;
  const { errors, extensions } = await other;
  expect(errors).toBeUndefined();
  expect(extensions.upstream.requests).toBe(1);
  expect(await lost).toBeNull();
  expect(fake.requestsFor(address)).toHaveLength(2);
});

test('when the request of one gateway fails, another one goes on', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  await using first = await start(fake, redis.url);
  await using second = await start(fake, redis.url);
  const address = freshAddress();
  const gate = Promise.withResolvers<void>();
  fake.transactions.set(address, async () => {
    await gate.promise;
    return { status: 500, text: 'broken' };
  });
  const one = poll(first, address);
  await eventually(() => fake.requests.length === 1);
  const other = poll(second, address);
  await hasRun(second, 'find');
  fake.transactions.set(address, servingTransactions(history(3)));
  gate.resolve();
  expect((await one).errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  expect((await other).errors).toBeUndefined();
});

test('a delivery invalidates its address on all gateways, in memory and in Redis', async (context) => {
  await needRedis(context);
  const redis = await redisServers();
  await using fake = await startFakeWallets();
  const env = { REDIS_CACHE_URL: redis.cache.url };
  await using first = await start(fake, redis.log.url, env);
  await using second = await start(fake, redis.log.url, env);
  const address = growing(fake);
  const other = growing(fake);
  for (const gateway of [first, second]) for (const wallet of [address, other]) await poll(gateway, wallet);
  const before = newestOf(await poll(second, address));
  const requests = fake.requests.length;

  const path = await deliveryPathOf(first.url);
  expect(await deliver(first.url + path, { body: activity(1, address) })).toBe(200);
  await vi.waitFor(async () => expect(newestOf(await poll(second, address))).not.toBe(before), 20_000);
  const after = newestOf(await poll(second, address));
  await vi.waitFor(async () => expect(newestOf(await poll(first, address))).toBe(after), 20_000);
  expect(await usageOf(first, other)).toMatchObject({ requests: 0 });
  expect(await usageOf(second, other)).toMatchObject({ requests: 0 });
  expect(fake.requests.length).toBe(requests + 1);
});

test('a request that began before an invalidation does not bring the old page back', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  await using first = await start(fake, redis.url);
  await using second = await start(fake, redis.url);
  await using third = await start(fake, redis.url);
  const { address, open } = held(fake);
  const old = poll(first, address);
  await eventually(() => fake.requests.length === 1);
  const path = await deliveryPathOf(second.url);
  expect(await deliver(second.url + path, { body: activity(1, address) })).toBe(200);
  // A gateway that asks now does not wait for the old page: it makes a request of its own.
  const next = poll(second, address);
  await eventually(() => fake.requests.length === 2);
  open();
  const [before, after] = [newestOf(await old), newestOf(await next)];
  expect(after).not.toBe(before);
  for (const gateway of [third, first]) expect(newestOf(await poll(gateway, address))).toBe(after);
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
  await using first = await start(fake, redis.url, shared);
  await using secondKey = await start(fake, redis.url, {
    ...shared,
    UPSTREAM_API_KEY: 'another-key-of-upstream',
  });
  await using secondUrl = await start(other, redis.url, shared);
  await using byKey = await start(fake, redis.url, { ...shared, AUTH: 'key', UPSTREAM_API_KEY: undefined });
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
  await using fake = await startFakeWallets();
  await using first = await start(fake, redis.url);
  await using second = await start(fake, redis.url);
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
  await using fake = await startFakeWallets();
  const env = { REDIS_CACHE_URL: cluster.urls.join(',') };
  await using first = await start(fake, redis.url, env);
  await using second = await start(fake, redis.url, env);
  const addresses = Array.from({ length: 8 }, () => growing(fake));
  const path = await deliveryPathOf(first.url);
  for (const [number, address] of addresses.entries()) {
    const before = newestOf(await poll(first, address));
    await vi.waitFor(async () => expect((await usageOf(second, address)).requests).toBe(0), 20_000);
    expect(await deliver(first.url + path, { body: activity(number, address) })).toBe(200);
    await vi.waitFor(async () => expect(newestOf(await poll(second, address))).not.toBe(before), 20_000);
  }
});

test('REDIS_CACHE_URL needs REDIS_URL beside it, and both are URLs of Redis', async () => {
  const problemsOf = (env: Environment) => {
    try {
      return readConfig(env).redis;
    } catch (error) {
      return error instanceof ConfigError ? error.problems : error;
    }
  };
  expect(problemsOf({ REDIS_CACHE_URL: 'redis://127.0.0.1' })).toEqual([
    'REDIS_CACHE_URL: expected REDIS_URL beside it, got none',
  ]);
  expect(problemsOf({ REDIS_URL: 'nonsense', REDIS_CACHE_URL: 'http://127.0.0.1' })).toEqual([
    expect.stringMatching(/^REDIS_URL: expected redis:/),
    expect.stringMatching(/^REDIS_CACHE_URL: expected redis:/),
  ]);
  await expect(
    startGateway({ UPSTREAM_URL: nowhere, AUTH: 'open', REDIS_URL: 'redis://127.0.0.1:9' }),
  ).rejects.toThrow(/REDIS_URL: /);
});

test('while Redis is down or silent lookups go on, and then pages are shared again', async (context) => {
  await needRedis(context);
  const redis = await redisServers();
  await using fake = await startFakeWallets();
  const env = { REDIS_URL: redis.log.url, REDIS_CACHE_URL: redis.cache.url, UPSTREAM_URL: fake.url };
  const options = { times: { shared: { commandMs: 300, silentMs: 1500, pingMs: 300 } } };
  await using first = await startGateway({ ...env, AUTH: 'open' }, options);
  await using second = await startGateway({ ...env, AUTH: 'open' }, options);
  const fails = async () => {
    const replies = await Promise.all([first, second].map((gateway) => poll(gateway, growing(fake))));
    return replies.flatMap(({ errors }) => errors ?? []);
  };
  const isShared = async () => {
    const address = growing(fake);
    await poll(first, address);
    return (await usageOf(second, address)).requests === 0;
  };
  await vi.waitFor(async () => expect(await isShared()).toBe(true), 20_000);

  redis.cache.pause();
  expect(await fails()).toEqual([]);
  expect(await fails()).toEqual([]);
  redis.cache.resume();
  await vi.waitFor(async () => expect(await isShared()).toBe(true), { timeout: 30_000, interval: 100 });

  await redis.cache.crash();
  expect(await fails()).toEqual([]);
  expect(await fails()).toEqual([]);
  expect((await scrape(first.url)).sum('gateway_shared_errors_total')).toBeGreaterThan(0);
  await redis.cache.restart();
  await vi.waitFor(async () => expect(await isShared()).toBe(true), { timeout: 30_000, interval: 100 });
});

test('a delivery that arrives while Redis can not take its invalidation is invalidated there later', async (context) => {
  await needRedis(context);
  const redis = await redisServers();
  await using fake = await startFakeWallets();
  const env = { REDIS_URL: redis.log.url, REDIS_CACHE_URL: redis.cache.url, UPSTREAM_URL: fake.url };
  const options = { times: { shared: { commandMs: 300, silentMs: 60_000, pingMs: 30_000 } } };
  const start = () => startGateway({ ...env, AUTH: 'open', CACHE_HEAD_MS: '600000' }, options);
  await using first = await start();
  await using second = await start();
  const address = growing(fake);
  const path = await deliveryPathOf(first.url);
  const before = newestOf(await poll(first, address));
  await vi.waitFor(async () => expect((await usageOf(second, address)).requests).toBe(0));
  redis.cache.pause();
  expect(await deliver(first.url + path, { body: activity(1, address) })).toBe(200);
  expect(newestOf(await poll(first, address))).not.toBe(before);
  redis.cache.resume();
  await vi.waitFor(async () => expect(newestOf(await poll(second, address))).not.toBe(before), 20_000);
});

test('a page of another gateway stands in when upstream fails', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  const env = { CACHE_HEAD_MS: '1', CACHE_STALE_MS: '600000' };
  await using first = await start(fake, redis.url, env);
  await using second = await start(fake, redis.url, env);
  const address = growing(fake);
  const page = newestOf(await poll(first, address));
  await hasRun(first, 'store');
  fake.transactions.set(address, () => ({ status: 500, text: 'broken' }));
  const reply = await poll(second, address);
  expect(reply.errors).toBeUndefined();
  expect(newestOf(reply)).toBe(page);
});

const queryAt =
  (url: string): Gateway['query'] =>
  async (query, variables = {}) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as Awaited<ReturnType<Gateway['query']>> as never;
  };
