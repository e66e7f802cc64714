import { expect, onTestFinished, test, vi } from 'vitest';
import { connectRedis } from '../../src/redis/connection.ts';
import { freePort } from '../support/free-port.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { PATIENT_TIMES } from '../support/redis/patience.ts';
import { NAME, startSentinels, startWatchedRedis } from '../support/redis/sentinel.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** Gateways whose Redis is found by Sentinels, real ones, which promote a replica. */

const ENV = { UPSTREAM_URL: nowhere, AUTH: 'open' };

const connect = async (url: string) => {
  const redis = await connectRedis({ urls: [url], times: PATIENT_TIMES });
  onTestFinished(() => redis.close());
  return redis;
};

test('a connection follows SENTINEL FAILOVER to the new primary, with its subscriptions', async (context) => {
  await needRedis(context);
  const { replica, sentinels } = await startWatchedRedis();
  const redis = await connect(sentinels.url);
  const messages: string[] = [];
  let reopened = 0;
  redis.onReopened(() => {
    reopened += 1;
  });
  await redis.subscribe('channel', (message) => void messages.push(message));
  expect(await redis.send('key', ['SET', 'key', '1'])).toBe('OK');
  await sentinels.run('SENTINEL', 'FAILOVER', NAME);
  await vi.waitFor(async () => {
    expect(String(await redis.send(null, ['CLIENT', 'INFO']))).toContain(` laddr=127.0.0.1:${replica.port} `);
    expect(await redis.send('key', ['SET', 'key', '2'])).toBe('OK');
  }, 120_000);
  await vi.waitFor(async () => {
    await redis.send(null, ['PUBLISH', 'channel', 'over']);
    expect(messages).toContain('over');
  }, 60_000);
  expect(reopened).toBeGreaterThan(0);
});

test('a primary that hangs is left as soon as its replica is promoted', async (context) => {
  await needRedis(context);
  const { primary, replica, sentinels } = await startWatchedRedis();
  const lost: string[] = [];
  const redis = await connectRedis({
    urls: [sentinels.url],
    // Only the Sentinels' announcement shows it in time.
    times: { silentMs: 600_000, pingMs: 300_000 },
    observer: { lost: (error) => void lost.push(error) },
  });
  onTestFinished(() => redis.close());
  primary.pause();
  await vi.waitFor(async () => expect(await redis.send('key', ['SET', 'key', '1'])).toBe('OK'), 120_000);
  expect(String(await replica.run('GET', 'key'))).toBe('1');
  expect(lost).toEqual([expect.stringMatching(/: the Sentinels have named another primary$/)]);
});

test('a Sentinel that has missed a failover is outvoted', async (context) => {
  await needRedis(context);
  const [former, current] = [await startRedis(), await startRedis()];
  const stale = await startSentinels({ primary: former });
  const others = [await startSentinels({ primary: current }), await startSentinels({ primary: current })];
  const hosts = [stale, ...others].map((sentinel) => sentinel.hosts);
  const redis = await connect(`redis+sentinel://${hosts.join(',')}/${NAME}`);
  await redis.send('key', ['SET', 'key', '1']);
  expect(String(await current.run('GET', 'key'))).toBe('1');
});

test('Sentinels and primary may want different passwords, and one that is down is no problem', async (context) => {
  await needRedis(context);
  const primary = await startRedis({ settings: ['--requirepass', 'pass/word', '--databases', '4'] });
  const settings = [`sentinel auth-pass ${NAME} pass/word`];
  const { hosts } = await startSentinels({ primary, settings, password: 'sentinel&secret' });
  const all = `127.0.0.1:${await freePort()},${hosts}`;
  const access = 'sentinel_password=sentinel%26secret';
  const redis = await connect(`redis+sentinel://:pass%2Fword@${all}/${NAME}/3?${access}`);
  expect(await redis.send('key', ['SET', 'key', '1'])).toBe('OK');
  expect(String(await redis.send(null, ['CLIENT', 'INFO']))).toContain(' db=3 ');
  const failure = await connect(`redis+sentinel://:hidden@${hosts}/${NAME}?${access}`).catch(String);
  expect(failure).toContain(`Redis ${NAME} of the Sentinels at ${hosts}: `);
  expect(failure).not.toContain('hidden');
});

test('a name that no Sentinel knows, no Sentinel, and no primary are named problems at start', async (context) => {
  await needRedis(context);
  const { hosts } = await startSentinels({ primary: await startRedis() });
  const start = (url: string) => startGateway({ ...ENV, REDIS_URL: url });
  await expect(start(`redis+sentinel://${hosts}/another`)).rejects.toThrow(
    `REDIS_URL: Redis another of the Sentinels at ${hosts}: no Sentinel knows a primary named another`,
  );
  const down = `127.0.0.1:${await freePort()}`;
  await expect(start(`redis+sentinel://:hidden@${down}/${NAME}`)).rejects.toThrow(
    `REDIS_URL: Redis ${NAME} of the Sentinels at ${down}: no Sentinel answers: connect ECONNREFUSED ${down}`,
  );
  const replica = await startRedis({ of: { port: Number(down.split(':')[1]) } });
  const wrong = await startSentinels({ primary: replica });
  await expect(start(wrong.url)).rejects.toThrow(/expected a primary, got a Redis with the role slave/);
});

test.each([
  'redis+sentinel://127.0.0.1:26379',
  'redis+sentinel://127.0.0.1:26379/name/db',
  'redis+sentinel://127.0.0.1:port/name',
  'redis+sentinel://127.0.0.1:26379/name?password=hidden',
  'redis+sentinel://127.0.0.1/name,redis://127.0.0.1',
  'http+sentinel://127.0.0.1/name',
])('%s is a named problem', async (url) => {
  await expect(startGateway({ ...ENV, REDIS_URL: url })).rejects.toThrow(
    /REDIS_URL: expected redis:\/\/ .*redis\+sentinel:\/\/host:port,host:port\/name of Sentinels, got something else/,
  );
});
