import { expect, test } from 'vitest';
import { sleep } from '../support/clients/queries.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { deliveryPathOf, everythingStored, headOf, numberOf, post } from '../support/gateway/on-redis.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { runs } from '../support/runs.ts';

/** Three shipped gateways on one Redis, of which one after another is killed with -9, and Redis, too, while deliveries arrive. */

const GATEWAYS = 3;
const SENDERS = 6;
const ROUNDS = runs(6);

type Running = Awaited<ReturnType<typeof spawnGateway>>;

const anyOf = <Value>(values: readonly Value[]): Value => {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Error('expected a value');
  return value;
};

test('kill -9 of gateways and of Redis loses no acknowledged delivery, and shows none twice', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using started = new AsyncDisposableStack();
  const env = {
    UPSTREAM_URL: 'http://127.0.0.1:9',
    UPSTREAM_API_KEY: 'unused',
    AUTH: 'open',
    REDIS_URL: redis.url,
  };
  const spawn = async () => started.use(await spawnGateway(env));
  const gateways: Running[] = await Promise.all(Array.from({ length: GATEWAYS }, spawn));
  const path = await deliveryPathOf(anyOf(gateways).url);

  const answered = new Set<number>();
  let isSending = true;
  let next = 0;
  /** As the service does, it repeats a delivery until it is answered 2xx, at whichever gateway the balancer chooses. */
  const send = async () => {
    while (isSending) {
      const number = next;
      next += 1;
      while ((await post(anyOf(gateways).url, path, number)) !== 200) await sleep(20);
      answered.add(number);
      await sleep(5);
    }
  };
  let isReading = true;
  const seenBy: number[][] = [];
  /** Resumes with its last cursor, at whichever gateway, and now and then leaves by itself. */
  const read = async (seen: number[], start: string) => {
    for (let after = start; isReading; await sleep(20)) {
      await using dashboard = subscribe(anyOf(gateways).url, { after });
      await Promise.race([dashboard.ended, sleep(500 + 1500 * Math.random())]);
      after = dashboard.edges.at(-1)?.cursor ?? after;
      seen.push(...dashboard.edges.map(numberOf));
      expect(dashboard.faults).toEqual([]);
    }
  };
  const head = await headOf(anyOf(gateways).url);
  const readers = [0, 1].map(async (index) => {
    const seen: number[] = [];
    seenBy[index] = seen;
    await read(seen, head);
  });
  const senders = Array.from({ length: SENDERS }, send);

  for (let round = 0; round < ROUNDS; round += 1) {
    const enough = answered.size + 60;
    await eventually(() => answered.size >= enough);
    if (round % 2 === 0) {
      const index = Math.floor(Math.random() * GATEWAYS);
      await gateways[index]?.end('SIGKILL');
      gateways[index] = await spawn();
    } else {
      await redis.crash();
      await sleep(300 * Math.random());
      await redis.restart();
    }
  }
  isSending = false;
  await Promise.all(senders);
  const stored = await everythingStored(anyOf(gateways).url);
  await eventually(() => seenBy.every((seen) => seen.length >= stored.length));
  isReading = false;
  await Promise.all(readers);

  expect(new Set(stored).size).toBe(stored.length);
  expect([...answered].filter((number) => !stored.includes(number))).toEqual([]);
  for (const seen of seenBy) expect(seen).toEqual(stored);
});
