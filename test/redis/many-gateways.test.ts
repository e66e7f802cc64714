import { expect, test, vi } from 'vitest';
import type { AppOptions } from '../../src/app.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import {
  deliveryPathOf,
  everythingStored,
  headOf,
  numberOf,
  post,
  store,
} from '../support/gateway/on-redis.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** Two gateways on one Redis are one. */

const start = (redisUrl: string, env: Record<string, string> = {}, options?: AppOptions) =>
  startGateway({ UPSTREAM_URL: nowhere, AUTH: 'open', REDIS_URL: redisUrl, ...env }, options);

const warningsOf = ({ logLines }: { logLines: readonly string[] }) =>
  logLines.filter((line) => line.includes('"level":"warn"'));

test('an event that is posted to either is seen by subscribers of both, once, in one order', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using first = await start(redis.url);
  await using second = await start(redis.url);
  const path = await deliveryPathOf(first.url);
  const head = await headOf(second.url);
  await using here = subscribe(first.url, { after: head });
  await using there = subscribe(second.url, { after: head });
  await Promise.all([here.opened, there.opened]);

  const COUNT = 200;
  const urls = [first.url, second.url];
  const numbers = Array.from({ length: COUNT }, (_, index) => index);
  await Promise.all(numbers.map((number) => store(urls[number % 2] ?? '', path, number)));
  await eventually(() => here.edges.length >= COUNT && there.edges.length >= COUNT);

  const seen = here.edges.map(numberOf);
  expect(there.edges.map(numberOf)).toEqual(seen);
  expect(seen.toSorted((one, other) => one - other)).toEqual(numbers);
  expect(await everythingStored(second.url)).toEqual(seen);
  expect(warningsOf(first)).toEqual([]);
  expect(warningsOf(second)).toEqual([]);
});

test('a subscriber resumes on another gateway, and a repeat that arrives there is a duplicate', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using first = await start(redis.url);
  const path = await deliveryPathOf(first.url);
  const head = await headOf(first.url);
  for (const number of [1, 2, 3]) await store(first.url, path, number);
  let cursor = '';
  {
    await using dashboard = subscribe(first.url, { after: head });
    await eventually(() => dashboard.edges.length >= 2);
    cursor = dashboard.edges[1]?.cursor ?? '';
  }
  await first.stop();
  await using second = await start(redis.url);
  await store(second.url, path, 2);
  await store(second.url, path, 4);
  await using resumed = subscribe(second.url, { after: cursor });
  await eventually(() => resumed.edges.length >= 2);
  expect(resumed.edges.map(numberOf)).toEqual([3, 4]);
  expect(await everythingStored(second.url)).toEqual([1, 2, 3, 4]);
});

test('settings that must agree are compared at start, and the secret is not shown', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using first = await start(redis.url, { DELIVERY_SECRET: 'one-secret-of-two-gateways' });
  await using second = await start(redis.url, {
    DELIVERY_SECRET: 'another-secret-of-the-two',
    DELIVERY_RETENTION_COUNT: '5',
  });
  expect(warningsOf(first)).toEqual([]);
  expect(warningsOf(second).map((line) => JSON.parse(line).differences)).toEqual([
    ['DELIVERY_RETENTION_COUNT: 5 here, 1000000 there', 'DELIVERY_SECRET'],
  ]);
  expect(second.logLines.join()).not.toContain('secret-of');
});

test('while Redis is down, deliveries get 503, subscribers wait and lookups go on; then all goes on', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  await using first = await start(redis.url, { UPSTREAM_URL: fake.url });
  await using second = await start(redis.url);
  const path = await deliveryPathOf(first.url);
  await using dashboard = subscribe(second.url, { after: await headOf(second.url) });
  await store(first.url, path, 0);
  await eventually(() => dashboard.edges.length === 1);

  await redis.crash();
  await vi.waitFor(async () => {
    const refused = await fetch(first.url + path, { method: 'POST', body: '{"activities":[]}' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  }, 60_000);
  await expect
    .poll(async () => (await fetch(`${first.url}/health/ready`)).json())
    .toEqual({
      status: 'not ready',
      reasons: [{ part: 'deliveries', message: expect.stringContaining('Redis at 127.0.0.1:') }],
    });
  const address = `0x${'a1'.repeat(20)}`;
  const lookup = await first.query(
    `{ wallet(address: "${address}") { transactions(first: 1) { nodes { hash } } } }`,
  );
  expect(lookup.errors).toBeUndefined();
  const { errors } = await first.query('{ deliveries(first: 1) { nodes { id } } }');
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'LOG_UNAVAILABLE' });

  await redis.restart();
  await store(first.url, path, 1);
  await eventually(() => dashboard.edges.length === 2);
  expect(dashboard.edges.map(numberOf)).toEqual([0, 1]);
  expect(dashboard.faults).toEqual([]);
  await expect.poll(async () => (await fetch(`${first.url}/health/ready`)).status).toBe(200);
  const { sum } = await scrape(first.url);
  for (const outcome of ['replied', 'unavailable'])
    expect(sum('gateway_redis_command_duration_seconds_count', { outcome })).toBeGreaterThan(0);
});

test('a Redis that does not answer, or is full, is a 503 with its reason in the log', async (context) => {
  await needRedis(context);
  const redis = await startRedis({ settings: ['--maxmemory', '8mb'] });
  await using gateway = await start(redis.url, {}, { times: { redis: {} } });
  const path = await deliveryPathOf(gateway.url);
  let status: number | null = 200;
  const noise = () => Array.from({ length: 3000 }, () => Math.random());
  for (let sent = 0; status === 200 && sent < 2000; sent += 1) {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      body: JSON.stringify({ noise: noise() }),
    });
    await response.text();
    status = response.status;
  }
  expect(status).toBe(503);
  expect(gateway.logLines.join()).toContain('the memory of Redis is full (maxmemory)');

  redis.pause();
  expect(await post(gateway.url, path, 1)).toBe(503);
  expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
  redis.resume();
});

test('a cursor of a log that Redis has lost expires', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateway = await start(redis.url);
  const path = await deliveryPathOf(gateway.url);
  for (const number of [1, 2]) await store(gateway.url, path, number);
  const head = await headOf(gateway.url);
  await redis.empty();
  for (const number of [3, 4, 5]) await store(gateway.url, path, number);
  await using dashboard = subscribe(gateway.url, { after: head });
  await eventually(() => dashboard.faults.length > 0);
  expect(dashboard.faults[0]?.extensions).toMatchObject({ code: 'CURSOR_EXPIRED', reason: 'foreign' });
});

test('a delivery is acknowledged once REDIS_MIN_REPLICAS replicas have it', async (context) => {
  await needRedis(context);
  const primary = await startRedis();
  await using gateway = await start(primary.url, { REDIS_MIN_REPLICAS: '1' });
  const path = await deliveryPathOf(gateway.url);
  expect(await post(gateway.url, path, 0)).toBe(503);
  await startRedis({ of: primary });
  await store(gateway.url, path, 0);
  expect(await everythingStored(gateway.url)).toEqual([0]);
});
