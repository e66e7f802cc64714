import { expect, test } from 'vitest';
import { sleep } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { startTraffic } from '../support/gateway/traffic.ts';
import { spawnWorkers } from '../support/gateway/workers.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { runs } from '../support/runs.ts';

/** Two gateways behind one port: a worker is killed with -9 again and again, at random, while deliveries arrive. */

const KILLS = runs(15, 3);
/** The number of deliveries that are acknowledged between two kills. */
const BETWEEN_KILLS = 20;

test('kill -9 of workers loses no acknowledged delivery, and shows none twice', {
  timeout: 300_000 + KILLS * 30_000,
}, async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateway = await spawnWorkers(redis.url);
  const traffic = await startTraffic(async () => gateway.url, { senders: 8, readers: 3 });
  for (let kills = 1; kills <= KILLS; kills += 1) {
    const enough = traffic.acknowledged() + BETWEEN_KILLS;
    await eventually(() => traffic.acknowledged() >= enough);
    await sleep(300 * Math.random());
    const pids = await gateway.pids();
    process.kill(pids[Math.floor(Math.random() * pids.length)] ?? 0, 'SIGKILL');
    await eventually(() => gateway.said('worker ended').length === kills);
    // One is left, and serves.
    const meanwhile = traffic.acknowledged();
    await eventually(() => traffic.acknowledged() > meanwhile);
    await gateway.restarted(kills);
  }
  await traffic.finish();
  expect(await gateway.end('SIGTERM')).toBe(0);
});
