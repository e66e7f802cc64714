import { expect, test, vi } from 'vitest';
import { activity, deliver } from '../support/clients/deliver.ts';
import { newestOf, poll } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { deliveryPathOf } from '../support/gateway/on-redis.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { startGateway } from '../support/gateway/start.ts';
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
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** A delivery invalidates pages on all gateways that share them. */

test('a delivery invalidates its address on all gateways, in memory and in Redis', async (context) => {
  await needRedis(context);
  const redis = await redisServers();
  const env = { REDIS_CACHE_URL: redis.cache.url };
  await using gateways = await startTwo(redis.log.url, env);
  const { fake, first, second } = gateways;
  const address = growing(fake);
  const other = growing(fake);
  for (const gateway of [first, second]) for (const wallet of [address, other]) await poll(gateway, wallet);
  const before = newestOf(await poll(second, address));
  const requests = fake.requests.length;

  const path = await deliveryPathOf(first.url);
  expect(await deliver(first.url + path, { body: activity(1, address) })).toBe(200);
  await vi.waitFor(async () => expect(newestOf(await poll(second, address))).not.toBe(before), 120_000);
  const after = newestOf(await poll(second, address));
  await vi.waitFor(async () => expect(newestOf(await poll(first, address))).toBe(after), 120_000);
  expect(await usageOf(first, other)).toMatchObject({ requests: 0 });
  expect(await usageOf(second, other)).toMatchObject({ requests: 0 });
  expect(fake.requests.length).toBe(requests + 1);
});

test('one command invalidates all addresses of a delivery', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateways = await startTwo(redis.url);
  const { fake, first, second } = gateways;
  const addresses = [growing(fake), growing(fake), growing(fake)];
  const pollAll = () => Promise.all(addresses.map(async (address) => newestOf(await poll(second, address))));
  const before = await pollAll();
  const { activities } = activity(1);
  const [from, to, token_address] = addresses;
  const body = {
    activities: activities.map((one) => ({ ...one, from, tx_from: from, tx_to: to, token_address })),
  };
  expect(await deliver(first.url + (await deliveryPathOf(first.url)), { body })).toBe(200);
  await vi.waitFor(async () => {
    const after = await pollAll();
    for (const [index, newest] of before.entries()) expect(after[index]).not.toBe(newest);
  }, 120_000);
  await hasRun(first, 'invalidate');
  const commands = (await scrape(first.url)).sum('gateway_shared_duration_seconds_count', {
    task: 'invalidate',
  });
  expect(commands).toBe(1);
});

test('a request that began before an invalidation does not bring the old page back', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateways = await startTwo(redis.url);
  const { fake, first, second } = gateways;
  await using third = await startOnRedis(fake, redis.url);
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
  await vi.waitFor(async () => expect((await usageOf(second, address)).requests).toBe(0), 120_000);
  redis.cache.pause();
  expect(await deliver(first.url + path, { body: activity(1, address) })).toBe(200);
  expect(newestOf(await poll(first, address))).not.toBe(before);
  redis.cache.resume();
  await vi.waitFor(async () => expect(newestOf(await poll(second, address))).not.toBe(before), 120_000);
});
