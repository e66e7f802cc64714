import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { freePort } from '../support/free-port.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { spawnWorkers } from '../support/gateway/workers.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** WORKERS starts several gateways, which are one to all who look from outside. */

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

test('workers need a log that they share, and one service', () => {
  const redis = { REDIS_URL: 'redis://127.0.0.1:6379' };
  const service = { UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: 'a-key' };
  for (const WORKERS of ['2', 'auto']) {
    expect(problemsOf({ ...redis, ...service, WORKERS })).toEqual([]);
    expect(problemsOf({ ...service, WORKERS })).toEqual([
      `WORKERS: expected REDIS_URL beside it when it is ${WORKERS}, got none: workers share its log`,
    ]);
    expect(problemsOf({ ...redis, WORKERS })).toEqual([
      expect.stringMatching(/^WORKERS: expected UPSTREAM_URL beside it when it is .*npm run sandbox/),
    ]);
  }
  expect(problemsOf({ WORKERS: '1' })).toEqual([]);
  for (const WORKERS of ['0', '-1', '2.5', 'all'])
    expect(problemsOf({ WORKERS })).toEqual([
      `WORKERS: expected auto or an integer from 1 to 1024, got "${WORKERS}"`,
    ]);
});

test('they choose one port, say once that they listen, and share it with no other gateway', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateway = await spawnWorkers(redis.url, { PORT: '0' });
  expect(gateway.said('listening')).toMatchObject([{ url: gateway.url, workers: 2 }]);
  expect(await gateway.pids()).toHaveLength(2);
  for (let again = 0; again < 20; again += 1) {
    const response = await fetch(`${gateway.url}/graphql?query={__typename}`, {
      headers: { connection: 'close' },
    });
    expect(await response.json()).toMatchObject({ data: { __typename: 'Query' } });
  }
  expect(await (await fetch(`${gateway.url}/health/ready`)).json()).toEqual({ status: 'ready' });

  const { port } = new URL(gateway.url);
  await expect(startGateway({ UPSTREAM_URL: nowhere, PORT: port })).rejects.toThrow('EADDRINUSE');
});

test('what is wrong with the configuration is said once, and the exit code is 1', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using other = await startGateway({ UPSTREAM_URL: nowhere });
  const { port } = new URL(other.url);
  const nothing = `redis://127.0.0.1:${await freePort()}`;
  const wrong = [
    { env: { REDIS_URL: nothing }, problem: 'REDIS_URL: ' },
    { env: { REDIS_URL: redis.url, PORT: port }, problem: `HOST, PORT: 127.0.0.1:${port} cannot be bound` },
    { env: { REDIS_URL: redis.url, TRUSTED_DOCUMENTS: '/nowhere.json' }, problem: 'TRUSTED_DOCUMENTS: ' },
  ];
  for (const { env, problem } of wrong) {
    const started = spawnGateway({ UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: 'unused', WORKERS: '2', ...env });
    const { message }: Error = await started.then(
      () => expect.fail('it has started'),
      (error) => error,
    );
    expect(message).toContain('exited with 1: ');
    // Before it finds its port, the first worker has asked the service that is not there.
    const errors = message
      .slice(message.indexOf('{'))
      .split('\n')
      .filter((line) => line.includes('"level":"error"'));
    expect(errors.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'the configuration has problems', problems: [expect.stringContaining(problem)] },
    ]);
  }
});
