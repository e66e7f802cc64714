import { expect, test } from 'vitest';
import { sleep } from '../support/clients/queries.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { deliveryPathOf, everythingStored, headOf, numberOf, post } from '../support/gateway/on-redis.ts';
import { superviseGateway } from '../support/gateway/supervise.ts';
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

const ascending = (numbers: Iterable<number>) => [...numbers].sort((one, other) => one - other);

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
  const path = await deliveryPathOf(await anyUrl());
  const head = await headOf(await anyUrl());

  const answered = new Set<number>();
  let isSending = true;
  let next = 0;
  /** As the service does, it repeats a delivery until it is answered 2xx, at any gateway. */
  const send = async () => {
    for (; isSending; await sleep(5)) {
      const number = next;
      next += 1;
      while ((await post(await anyUrl(), path, number)) !== 200) await sleep(20);
      answered.add(number);
    }
  };
  let isReading = true;
  const faults: unknown[] = [];
  /** Resumes with its last cursor, at any gateway, and now and then leaves by itself. */
  const read = async (seen: number[]) => {
    for (let after = head; isReading; await sleep(20)) {
      await using dashboard = subscribe(await anyUrl(), { after });
      await Promise.race([dashboard.ended, sleep(200 + 1000 * Math.random())]);
      after = dashboard.edges.at(-1)?.cursor ?? after;
      seen.push(...dashboard.edges.map(numberOf));
      faults.push(...dashboard.faults);
    }
  };
  const seenBy = Array.from({ length: READERS }, (): number[] => []);
  const readers = seenBy.map(read);
  const senders = Array.from({ length: SENDERS }, send);

  const killed = { gateway: 0, redis: 0 };
  const isOver = () => killed.gateway + killed.redis >= kills;
  const killAgain = async ({ name, killAndRestart }: Victim) => {
    for (;;) {
      const enough = answered.size + BETWEEN_KILLS;
      await eventually(() => answered.size >= enough || isOver());
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
  isSending = false;
  await Promise.all(senders);
  const stored = await everythingStored(await anyUrl());
  await eventually(() => faults.length > 0 || seenBy.every((seen) => seen.length >= stored.length));
  isReading = false;
  await Promise.all(readers);

  expect(faults).toEqual([]);
  expect(ascending(stored)).toEqual(ascending(answered));
  for (const seen of seenBy) expect(seen).toEqual(stored);
  return { ...killed, acknowledged: answered.size };
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
