import { expect, test } from 'vitest';
import { sleep } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { superviseGateway } from '../support/gateway/supervise.ts';
import { startTraffic } from '../support/gateway/traffic.ts';
import { launchRedis, needRedis } from '../support/redis/server.ts';
import { runs } from '../support/runs.ts';

/** Three shipped gateways on one Redis: each of the four is killed with -9 again and again, at random, while deliveries arrive. */

const GATEWAYS = 3;
const SENDERS = 12;
const READERS = 3;
/** At least: each of the four once, and one of them again. */
const KILLS = runs(12, 6);
/** The number of kills after which a new log begins, so that Redis reads a short one at each start. */
const KILLS_A_LOG = 50;
/** The number of deliveries that are acknowledged between two kills of one process. */
const BETWEEN_KILLS = 10;

type Victim = { readonly name: 'gateway' | 'redis'; killAndRestart(): Promise<void> };

/** Resolves with how often each was killed, and how many deliveries were acknowledged. */
const killOnOneLog = async (kills: number) => {
  await using started = new AsyncDisposableStack();
  const redis = await launchRedis();
  started.defer(() => redis.stop());
  const env = {
    UPSTREAM_URL: 'http://127.0.0.1:9',
    UPSTREAM_API_KEY: 'unused',
    AUTH: 'open',
    REDIS_URL: redis.url,
  };
  const gateways = await Promise.all(
    Array.from({ length: GATEWAYS }, async () => started.use(await superviseGateway(env))),
  );
  /** A gateway that runs: a balancer chooses no other. */
  const anyUrl = async (): Promise<string> => {
    for (;;) {
      const urls = gateways.flatMap(({ url }) => url ?? []);
      const url = urls[Math.floor(Math.random() * urls.length)];
      if (url !== undefined) return url;
      await sleep(10);
    }
  };
  const traffic = await startTraffic(anyUrl, { senders: SENDERS, readers: READERS });

  const killed = { gateway: 0, redis: 0 };
  const isOver = () => killed.gateway + killed.redis >= kills;
  const killAgain = async ({ name, killAndRestart }: Victim) => {
    for (;;) {
      const enough = traffic.acknowledged() + BETWEEN_KILLS;
      await eventually(() => traffic.acknowledged() >= enough || isOver());
      await sleep(300 * Math.random());
      if (isOver()) return;
      killed[name] += 1;
      await killAndRestart();
    }
  };
  const restartRedis = async () => {
    await redis.crash();
    await sleep(100 * Math.random());
    await redis.restart();
  };
  const victims: Victim[] = [
    { name: 'redis', killAndRestart: restartRedis },
    ...gateways.map(({ killAndRestart }): Victim => ({ name: 'gateway', killAndRestart })),
  ];
  await Promise.all(victims.map(killAgain));
  await traffic.finish();
  return { ...killed, acknowledged: traffic.acknowledged() };
};

test('kill -9 of gateways and of Redis loses no acknowledged delivery, and shows none twice', {
  timeout: 300_000 + KILLS * 10_000,
}, async (context) => {
  await needRedis(context);
  const total = { gateway: 0, redis: 0, acknowledged: 0 };
  for (let left = KILLS; left > 0; left = KILLS - total.gateway - total.redis) {
    const one = await killOnOneLog(Math.min(left, KILLS_A_LOG));
    for (const name of ['gateway', 'redis', 'acknowledged'] as const) total[name] += one[name];
    process.stdout.write(
      `${total.gateway + total.redis} kills (${total.gateway} of gateways, ${total.redis} of Redis): ` +
        `${total.acknowledged} deliveries acknowledged, none lost, none shown twice.\n`,
    );
  }
  expect(Math.min(total.gateway, total.redis)).toBeGreaterThan(0);
});
