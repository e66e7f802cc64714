import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { AppOptions } from '../../src/app.ts';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/variable.ts';
import { freePort } from '../support/free-port.ts';
import { deliveryPathOf, post } from '../support/gateway/on-redis.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** What the gateway says of its Redis at start. */

const start = (env: Record<string, string>, options?: AppOptions) =>
  startGateway({ UPSTREAM_URL: nowhere, ...env }, options);

test('a Redis that is down is a named problem', async () => {
  const port = await freePort();
  await expect(start({ REDIS_URL: `redis://user:hidden@127.0.0.1:${port}` })).rejects.toThrow(
    new RegExp(`REDIS_URL: Redis at 127.0.0.1:${port}: connect ECONNREFUSED`),
  );
});

test.for([
  ['--appendonly', 'no'],
  ['--appendfsync', 'everysec'],
  ['--no-appendfsync-on-rewrite', 'yes'],
  ['--maxmemory-policy', 'allkeys-lru'],
])('a Redis with %s %s is refused, unless the loss is accepted', async ([name = '', value = ''], context) => {
  await needRedis(context);
  const redis = await startRedis({ settings: [name, value] });
  await expect(start({ REDIS_URL: redis.url })).rejects.toThrow(
    new RegExp(`REDIS_URL: expected ${name.slice(2)} \\w+, got ${value}; REDIS_DURABILITY=relaxed`),
  );
  await using relaxed = await start({ REDIS_URL: redis.url, REDIS_DURABILITY: 'relaxed' });
  expect(relaxed.url).toMatch(/^http/);
});

test('a log of a later format is refused and left as it is; one without a format gets that of this version', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using first = await start({ REDIS_URL: redis.url });
  const path = await deliveryPathOf(first.url);
  expect(await redis.run('GET', 'gateway:format')).toBe('1');
  await redis.run('FLUSHALL');
  await redis.run('SET', 'gateway:format', '2');
  await expect(start({ REDIS_URL: redis.url })).rejects.toThrow(
    'REDIS_URL: expected a log in format 1, got format 2: a later version of the gateway has written it, so start that one',
  );
  // The one that runs does not mistake it for an emptied Redis.
  expect(await post(first.url, path, 1)).toBe(503);
  expect(await redis.run('GET', 'gateway:seed')).toBeNull();
});

test('a Redis of an older version is refused', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  // The real server, except for what it says of its version.
  const old = createServer((client) => {
    const server = connect(redis.port, '127.0.0.1');
    client.pipe(server);
    server.on('data', (data) =>
      client.write(data.toString('latin1').replace(/redis_version:\d/, 'redis_version:6'), 'latin1'),
    );
    client.on('error', () => {}).on('close', () => server.destroy());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void old.close());
  await once(old, 'listening');
  const { port } = old.address() as AddressInfo;
  await expect(start({ REDIS_URL: `redis://127.0.0.1:${port}` })).rejects.toThrow(
    /REDIS_URL: expected Redis 7 or later, got 6\./,
  );
});

test('a Redis that answers late delays the start, and does not end it', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  // Longer than a read of the shared cache may take.
  const lateMs = 600;
  const late = createServer((client) => {
    const server = connect(redis.port, '127.0.0.1');
    client.pipe(server);
    server.on('data', (data) => setTimeout(() => client.write(data), lateMs));
    client.on('error', () => {}).on('close', () => server.destroy());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void late.close());
  await once(late, 'listening');
  const { port } = late.address() as AddressInfo;
  await using gateway = await start({ REDIS_URL: `redis://127.0.0.1:${port}` }, { times: { shared: {} } });
  expect(gateway.url).toMatch(/^http/);
});

test('a Redis that does not show its settings is one warning', async (context) => {
  await needRedis(context);
  const redis = await startRedis({ settings: ['--rename-command', 'CONFIG', ''] });
  await using gateway = await start({ REDIS_URL: redis.url });
  const warnings = gateway.logLines.filter((line) => line.includes('"level":"warn"'));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('Redis does not show how durable it is');
});

test.each([
  [{ REDIS_URL: 'http://127.0.0.1:6379' }, 'REDIS_URL'],
  [{ REDIS_URL: 'redis://127.0.0.1/name' }, 'REDIS_URL'],
  [{ REDIS_URL: 'redis://127.0.0.1:1/1,redis://127.0.0.1:2/1' }, 'REDIS_URL'],
  [{ REDIS_URL: 'redis://a:b@127.0.0.1:1,redis://127.0.0.1:2' }, 'REDIS_URL'],
  [{ REDIS_URL: 'redis://127.0.0.1', REDIS_DURABILITY: 'none' }, 'REDIS_DURABILITY'],
  [{ REDIS_MIN_REPLICAS: '1' }, 'REDIS_MIN_REPLICAS'],
])('%j is a named problem', async (env, name) => {
  await expect(start(env)).rejects.toThrow(new RegExp(`^The configuration has problems:\\n {2}${name}: `));
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
