import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { RedisTimes } from '../../src/redis/client.ts';
import { RedisReplyError, RedisUnavailableError } from '../../src/redis/client.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { freePort } from '../support/free-port.ts';
import { startForwarder } from '../support/redis/forwarder.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

const connect = async (url: string, times: Partial<RedisTimes> = {}) => {
  const redis = await connectRedis({ urls: [url], times });
  onTestFinished(() => redis.close());
  return redis;
};

test('a Redis that is not there is named, without its password', async () => {
  const port = await freePort();
  for (const host of ['127.0.0.1', 'localhost']) {
    const urls = [`redis://user:hidden@${host}:${port}/1`];
    const failure = await connectRedis({ urls }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RedisUnavailableError);
    expect(String(failure)).toContain(`Redis at ${host}:${port}: connect ECONNREFUSED`);
    expect(String(failure)).not.toContain('hidden');
  }
});

test('replies are bytes, and a refused command says why', async (context) => {
  await needRedis(context);
  const server = await startRedis();
  const redis = await connect(server.url);
  const bytes = Buffer.from([0, 255, 13, 10]);
  expect(await redis.send('key', ['SET', 'key', bytes])).toBe('OK');
  expect(await redis.send('key', ['GET', 'key'])).toEqual(bytes);
  const refused = await redis.send('key', ['LPUSH', 'key', 'x']).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RedisReplyError);
  expect(refused).toMatchObject({ code: 'WRONGTYPE' });
});

test('a user with a password needs them', async (context) => {
  await needRedis(context);
  const server = await startRedis({
    settings: ['--user', 'gateway', 'on', '>pass,word', '~*', '&*', '+@all', '--user', 'default', 'off'],
  });
  await expect(connect(server.url)).rejects.toThrow(/NOAUTH/);
  const redis = await connect(server.url.replace('//', '//gateway:pass%2Cword@'));
  expect(await redis.send(null, ['ACL', 'WHOAMI'])).toEqual(Buffer.from('gateway'));
});

test('a Redis that does not answer delays no command for long, and answers again later', async (context) => {
  await needRedis(context);
  const server = await startRedis();
  // A busy machine may take longer than this to connect.
  const times = { commandMs: 1500, silentMs: 3000, pingMs: 500 };
  const redis = await vi.waitFor(() => connect(server.url, times), 60_000);
  server.pause();
  await expect(redis.send('key', ['GET', 'key'])).rejects.toThrow(/has not answered within 1500 ms/);
  // Later ones don't wait at all.
  await expect(redis.send('key', ['GET', 'key'])).rejects.toThrow(/does not answer/);
  // Meanwhile the silent connection is dropped.
  await delay(4000);
  server.resume();
  await vi.waitFor(async () => expect(await redis.send('key', ['GET', 'key'])).toBeNull(), 60_000);
});

test('a lost connection is opened again, with its subscriptions', async (context) => {
  await needRedis(context);
  const server = await startRedis();
  const redis = await connect(server.url);
  const messages: string[] = [];
  let reopened = 0;
  redis.onReopened(() => {
    reopened += 1;
  });
  await redis.subscribe('channel', (message) => void messages.push(message));
  await redis.send(null, ['PUBLISH', 'channel', 'one']);
  await vi.waitFor(() => expect(messages).toEqual(['one']), 60_000);

  await server.crash();
  await vi.waitFor(
    () => expect(redis.send('key', ['GET', 'key'])).rejects.toThrow(RedisUnavailableError),
    120_000,
  );
  await server.restart();
  await vi.waitFor(async () => {
    expect(await redis.send(null, ['PUBLISH', 'channel', 'two'])).toBe(1);
    expect(messages).toContain('two');
  }, 60_000);
  expect(reopened).toBeGreaterThan(0);
  redis.close();
  await expect(redis.send('key', ['GET', 'key'])).rejects.toThrow(/closed/);
});

test('counts the replicas that have what was written', async (context) => {
  await needRedis(context);
  const primary = await startRedis();
  const redis = await connect(primary.url);
  await vi.waitFor(
    async () =>
      expect(await redis.sendReplicated('key', ['SET', 'key', '1'], 1, 50)).toEqual({
        reply: 'OK',
        replicas: 0,
      }),
    60_000,
  );
  await startRedis({ of: primary });
  await vi.waitFor(
    async () =>
      expect(await redis.sendReplicated('key', ['SET', 'key', '2'], 1, 100)).toMatchObject({ replicas: 1 }),
    60_000,
  );
});

test('after a failover, a connection to the former primary is opened anew', async (context) => {
  await needRedis(context);
  const first = await startRedis();
  const second = await startRedis({ of: first });
  const primary = await startForwarder(first);
  const redis = await connect(primary.url);
  await vi.waitFor(
    async () =>
      expect(await redis.sendReplicated('key', ['SET', 'key', '1'], 1, 100)).toMatchObject({ replicas: 1 }),
    60_000,
  );
  await second.run('REPLICAOF', 'NO', 'ONE');
  primary.lead(second);
  await first.run('REPLICAOF', '127.0.0.1', String(second.port));
  await expect(redis.send('key', ['SET', 'key', '2'])).rejects.toMatchObject({ code: 'READONLY' });
  await vi.waitFor(async () => expect(await redis.send('key', ['SET', 'key', '3'])).toBe('OK'), 60_000);
  expect(String(await second.run('GET', 'key'))).toBe('3');
});
