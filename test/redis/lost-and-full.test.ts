import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { activity, deliver } from '../support/clients/deliver.ts';
import { newestOf, poll } from '../support/clients/queries.ts';
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
import { type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { growing, redisServers, startOnRedis } from '../support/redis/sharing-gateways.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../support/upstream/wallets.ts';

/** What the operator learns of a Redis that is lost, full, or evicts. */

const linesOf = ({ logLines }: Gateway, message: string) =>
  logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message);

const lostOf = async (gateway: Gateway, variable: string) =>
  (await scrape(gateway.url)).sum('gateway_redis_connections_lost', { variable });

test('each Redis that is lost and back is one line each, however many commands fail meanwhile', async (context) => {
  await needRedis(context);
  const redis = await redisServers();
  await using fake = await startFakeWallets();
  await using gateway = await startOnRedis(fake, redis.log.url, {
    REDIS_CACHE_URL: redis.cache.url,
    CLIENT_COMPUTE_UNITS_PER_MINUTE: '100000',
  });
  const path = await deliveryPathOf(gateway.url);
  const isReady = async () => (await fetch(`${gateway.url}/health/ready`)).status;
  const lookups = async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => poll(gateway, growing(fake))));
    return replies.flatMap(({ errors }) => errors ?? []);
  };
  for (const [variable, server] of [
    ['REDIS_CACHE_URL', redis.cache],
    ['REDIS_URL', redis.log],
  ] as const) {
    await server.crash();
    await vi.waitFor(
      () => expect(linesOf(gateway, 'Redis is lost').at(-1)).toMatchObject({ variable }),
      60_000,
    );
    await vi.waitFor(async () => expect(await lostOf(gateway, variable)).toBeGreaterThan(0), 60_000);
    expect(await lookups()).toEqual([]);
    await vi.waitFor(async () => expect(await isReady()).toBe(variable === 'REDIS_URL' ? 503 : 200), 60_000);
    if (variable === 'REDIS_URL') expect(await post(gateway.url, path, 1)).toBe(503);
    await server.restart();
    await vi.waitFor(
      () => expect(linesOf(gateway, 'Redis is back').at(-1)).toMatchObject({ variable }),
      60_000,
    );
    expect(await lostOf(gateway, variable)).toBe(0);
    await vi.waitFor(async () => expect(await isReady()).toBe(200), 60_000);
  }
  expect(linesOf(gateway, 'Redis is lost')).toEqual([
    expect.objectContaining({
      level: 'warn',
      error: expect.stringContaining(`127.0.0.1:${redis.cache.port}`),
    }),
    expect.objectContaining({ level: 'warn', error: expect.stringContaining(`127.0.0.1:${redis.log.port}`) }),
  ]);
  expect(linesOf(gateway, 'Redis is back')).toHaveLength(2);
});

/** A wallet whose page takes about 20 KB of Redis, since its data can't be compressed further. */
const large = (fake: FakeWallets): string => {
  const address = freshAddress();
  const data = `0x${randomBytes(20_000).toString('hex')}`;
  fake.transactions.set(address, servingTransactions(history(2).map((item) => ({ ...item, data }))));
  return address;
};

const faultsOf = async (gateway: Gateway, addresses: readonly string[]) => {
  const replies = await Promise.all(addresses.map((address) => poll(gateway, address)));
  return replies.flatMap(({ errors }) => errors ?? []);
};

test('a full Redis of the log refuses deliveries with its reason, and answers all else; with room again it takes them', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  await using gateway = await startOnRedis(fake, redis.url, {
    CLIENT_COMPUTE_UNITS_PER_MINUTE: '100000',
    UPSTREAM_RPS: '1000',
  });
  const path = await deliveryPathOf(gateway.url);
  await store(gateway.url, path, 0);
  await using dashboard = subscribe(gateway.url, { after: await headOf(gateway.url) });
  await dashboard.opened;
  await redis.run('CONFIG', 'SET', 'maxmemory', '1');

  expect(await post(gateway.url, path, 1)).toBe(503);
  expect(await post(gateway.url, path, 2)).toBe(503);
  const full = { error: 'the memory of Redis is full (maxmemory)' };
  expect(linesOf(gateway, 'delivery log: unavailable')).toEqual([
    expect.objectContaining({ task: 'append', ...full }),
  ]);
  expect(await everythingStored(gateway.url)).toEqual([0]);
  expect(await faultsOf(gateway, [growing(fake), growing(fake), growing(fake)])).toEqual([]);
  const readiness = async () => (await fetch(`${gateway.url}/health/ready`)).json();
  expect(await readiness()).toEqual({
    status: 'not ready',
    reasons: [{ part: 'deliveries', message: 'the memory of Redis is full (maxmemory)' }],
  });
  // One line for pages, budgets and rates, which are refused as well.
  expect(linesOf(gateway, 'Redis refuses what gateways share')).toEqual([
    expect.objectContaining({ variable: 'REDIS_URL', error: expect.stringMatching(/^OOM /) }),
  ]);

  await redis.run('CONFIG', 'SET', 'maxmemory', '0');
  await store(gateway.url, path, 1);
  await expect.poll(readiness).toEqual({ status: 'ready' });
  await eventually(() => dashboard.edges.length === 1);
  expect(dashboard.edges.map(numberOf)).toEqual([1]);
  expect(linesOf(gateway, 'delivery log: appends recovered')).toHaveLength(1);
});

test('a Redis that has forgotten the scripts, or hides its settings, has refused nothing', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await redis.run('ACL', 'SETUSER', 'gateway', 'on', '>secret', '~*', '&*', '+@all', '-config', '-info');
  const REDIS_URL = redis.url.replace('redis://', 'redis://gateway:secret@');
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, AUTH: 'open', REDIS_URL });
  const path = await deliveryPathOf(gateway.url);
  for (const number of [0, 1]) {
    await redis.run('SCRIPT', 'FLUSH');
    await store(gateway.url, path, number);
  }
  expect(String(await redis.run('INFO', 'errorstats'))).toContain('errorstat_NOSCRIPT');
  const { sum } = await scrape(gateway.url);
  const settled = (outcome: string) => sum('gateway_redis_command_duration_seconds_count', { outcome });
  expect(settled('replied')).toBeGreaterThan(0);
  expect(settled('refused')).toBe(0);
  // What Redis does refuse is counted.
  await redis.run('ACL', 'SETUSER', 'gateway', '-eval', '-evalsha');
  expect(await post(gateway.url, path, 2)).toBe(503);
  expect(
    (await scrape(gateway.url)).sum('gateway_redis_command_duration_seconds_count', { outcome: 'refused' }),
  ).toBeGreaterThan(0);
});

/** Damage to what all tenants need, with what it is named by, and its repair. */
const DAMAGES: readonly (readonly [what: string, damage: string[][], reason: RegExp, repair: string[][]])[] =
  [
    [
      'refuses scripts',
      [['ACL', 'SETUSER', 'default', '-eval', '-evalsha']],
      /^NOPERM .*evalsha/,
      [['ACL', 'SETUSER', 'default', '+eval', '+evalsha']],
    ],
    [
      'takes no writes',
      [['ACL', 'SETUSER', 'default', 'resetkeys', '%R~*']],
      /^NOPERM /,
      [['ACL', 'SETUSER', 'default', '~*']],
    ],
    [
      'has a value of another type in place of the seed',
      [
        ['RENAME', 'gateway:seed', 'kept'],
        ['LPUSH', 'gateway:seed', 'another'],
      ],
      /^WRONGTYPE /,
      [['RENAME', 'kept', 'gateway:seed']],
    ],
  ];

test.for(DAMAGES)('a gateway whose Redis %s is not ready, and says why', async ([, ...damage], context) => {
  await needRedis(context);
  const [commands, reason, repair] = damage;
  const redis = await startRedis();
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, AUTH: 'open', REDIS_URL: redis.url });
  const path = await deliveryPathOf(gateway.url);
  await store(gateway.url, path, 0);
  const readiness = async () => (await fetch(`${gateway.url}/health/ready`)).json();
  await expect.poll(readiness).toEqual({ status: 'ready' });
  for (const command of commands) await redis.run(...command);
  await expect.poll(readiness).toEqual({
    status: 'not ready',
    reasons: [{ part: 'deliveries', message: expect.stringMatching(reason) }],
  });
  for (const command of repair) await redis.run(...command);
  await expect.poll(readiness).toEqual({ status: 'ready' });
  // Of what the checks have stored, nothing is left.
  expect(await redis.run('XLEN', 'gateway:check:{check}:stream')).toBe(0);
  expect(await everythingStored(gateway.url)).toEqual([0]);
});

test('a full Redis of pages fails no lookup and no delivery, and is one line', async (context) => {
  await needRedis(context);
  const log = await startRedis();
  const cache = await startRedis({ settings: ['--appendonly', 'no', '--maxmemory', '3mb'] });
  await using fake = await startFakeWallets();
  const env = { REDIS_CACHE_URL: cache.url };
  await using first = await startOnRedis(fake, log.url, env);
  await using second = await startOnRedis(fake, log.url, env);
  const path = await deliveryPathOf(first.url);
  await cache.run('CONFIG', 'SET', 'maxmemory', '1');
  const addresses = Array.from({ length: 30 }, () => large(fake));
  expect(await faultsOf(first, addresses)).toEqual([]);
  expect(await faultsOf(second, addresses)).toEqual([]);
  await store(first.url, path, 0);
  expect(linesOf(first, 'Redis refuses what gateways share')).toEqual([
    expect.objectContaining({ variable: 'REDIS_CACHE_URL', error: expect.stringMatching(/^OOM /) }),
  ]);
  expect(linesOf(first, 'delivery log: unavailable')).toEqual([]);
  expect((await fetch(`${first.url}/health/ready`)).status).toBe(200);
});

test('a cache that evicts what it was given fails no lookup, and no page of before an invalidation comes back', async (context) => {
  await needRedis(context);
  const log = await startRedis();
  const cache = await startRedis({
    settings: ['--appendonly', 'no', '--maxmemory', '2500kb', '--maxmemory-policy', 'allkeys-lru'],
  });
  await using fake = await startFakeWallets();
  const env = { REDIS_CACHE_URL: cache.url };
  await using first = await startOnRedis(fake, log.url, env);
  await using second = await startOnRedis(fake, log.url, env);
  const path = await deliveryPathOf(first.url);
  for (let round = 0; round < 10; round += 1) {
    const changing = growing(fake);
    const newest = newestOf(await poll(first, changing));
    const addresses = Array.from({ length: 20 }, () => large(fake));
    expect(await faultsOf(first, addresses)).toEqual([]);
    expect(await faultsOf(second, addresses)).toEqual([]);
    expect(await deliver(first.url + path, { body: activity(round, changing) })).toBe(200);
    await vi.waitFor(async () => expect(newestOf(await poll(second, changing))).not.toBe(newest), 60_000);
  }
  const stats = String(await cache.run('INFO', 'stats'));
  expect(Number(/evicted_keys:(\d+)/.exec(stats)?.[1])).toBeGreaterThan(0);
  for (const gateway of [first, second])
    expect(linesOf(gateway, 'Redis refuses what gateways share')).toEqual([]);
});
