import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { newestOf, poll } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import {
  growing,
  hasRun,
  redisServers,
  startOnRedis,
  startTwo,
  usageOf,
} from '../support/redis/sharing-gateways.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** A gateway, Redis or upstream fails: the pages that gateways share fail no lookup. */

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
  await using second = await startOnRedis(fake, redis.url, env);
  const address = freshAddress();
  // On a busy machine the first gateway may lose its lease before it is killed: whoever asks next is answered.
  const serve = servingTransactions(history(3));
  fake.transactions.set(address, (request) =>
    fake.requestsFor(address).length === 1 ? { silent: true } : serve(request),
  );
  const lost = poll({ ...second, query: queryAt(first.url) }, address).catch(() => null);
  await eventually(() => fake.requestsFor(address).length === 1);
  const other = poll(second, address);
  await hasRun(second, 'find');
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
  await using gateways = await startTwo(redis.url);
  const { fake, first, second } = gateways;
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
  await vi.waitFor(async () => expect(await isShared()).toBe(true), 120_000);

  redis.cache.pause();
  expect(await fails()).toEqual([]);
  expect(await fails()).toEqual([]);
  redis.cache.resume();
  await vi.waitFor(async () => expect(await isShared()).toBe(true), { timeout: 120_000, interval: 100 });

  await redis.cache.crash();
  expect(await fails()).toEqual([]);
  expect(await fails()).toEqual([]);
  expect((await scrape(first.url)).sum('gateway_shared_errors_total')).toBeGreaterThan(0);
  await redis.cache.restart();
  await vi.waitFor(async () => expect(await isShared()).toBe(true), { timeout: 120_000, interval: 100 });
});

test('a page of another gateway stands in when upstream fails', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const env = { CACHE_HEAD_MS: '1', CACHE_STALE_MS: '600000' };
  await using gateways = await startTwo(redis.url, env);
  const { fake, first, second } = gateways;
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
