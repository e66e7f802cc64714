import { expect, test } from 'vitest';
import { eventually } from '../support/clients/subscribe.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { spawnWorkers } from '../support/gateway/workers.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** A worker that ends is replaced, and one that can't start is tried again, less and less often. */

const readiness = async (url: string) => (await fetch(`${url}/health/ready`)).json();

test('a worker that cannot start is tried again with pauses and one line, while the other one serves', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateway = await spawnWorkers(redis.url);
  const [first = 0, second] = await gateway.pids();
  await redis.crash();
  process.kill(first, 'SIGKILL');
  await eventually(() => gateway.said('worker ended').length > 0);
  expect(gateway.said('worker ended')).toMatchObject([
    { level: 'error', pid: first, signal: 'SIGKILL', restartInMs: 0 },
  ]);
  const { worker } = gateway.said('worker ended')[0] ?? {};

  const exits = async () => (await scrape(gateway.url)).sum('gateway_worker_exits_total');
  // The end that was seen, and three starts after it.
  while ((await exits()) < 4) expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
  expect(await gateway.pids()).toContain(second);
  expect((await scrape(gateway.url)).sum('gateway_workers')).toBe(1);
  expect(gateway.said('worker cannot start')).toMatchObject([
    {
      level: 'error',
      worker,
      code: 1,
      problems: [expect.stringContaining('REDIS_URL: ')],
      restartInMs: 1000,
    },
  ]);
  expect(await readiness(gateway.url)).toMatchObject({
    status: 'not ready',
    reasons: [{ part: 'deliveries' }],
  });

  await redis.restart();
  await gateway.restarted(1);
  await expect.poll(() => readiness(gateway.url)).toEqual({ status: 'ready' });
  expect(gateway.said('worker started')).toMatchObject([{ worker }]);
});

test('while a worker is missing the machine is degraded, and not ready while one does not answer', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateway = await spawnWorkers(redis.url);
  const [first = 0, second = 0] = await gateway.pids();
  process.kill(first, 'SIGKILL');
  await eventually(() => gateway.said('worker ended').length > 0);
  const degraded = await readiness(gateway.url);
  if (gateway.said('worker started').length === 0)
    expect(degraded).toEqual({
      status: 'degraded',
      reasons: [{ part: 'workers', message: '1 of 2 workers is being started again' }],
    });
  await gateway.restarted(1);
  expect(await readiness(gateway.url)).toEqual({ status: 'ready' });

  const number = gateway.said('worker ended')[0]?.worker === 1 ? 2 : 1;
  process.kill(second, 'SIGSTOP');
  // A connection that the halted one would answer waits until it goes on.
  const asked = Array.from({ length: 12 }, () => readiness(gateway.url));
  const answered: unknown[] = [];
  for (const each of asked) void each.then((answer) => answered.push(answer));
  await eventually(() => answered.length > 0);
  expect(answered[0]).toEqual({
    status: 'not ready',
    reasons: [{ part: 'workers', message: `worker ${number} does not answer` }],
  });
  process.kill(second, 'SIGCONT');
  await Promise.all(asked);
  await expect.poll(() => readiness(gateway.url)).toEqual({ status: 'ready' });
});
