import { expect, test, vi } from 'vitest';
import { sleep } from '../support/clients/queries.ts';
import { type Edge, eventually, subscribe } from '../support/clients/subscribe.ts';
import { deliveryPathOf, everythingStored, headOf, numberOf, store } from '../support/gateway/on-redis.ts';
import { type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';
import { startForwarder } from '../support/redis/forwarder.ts';
import { needRedis, type RedisServer, startRedis } from '../support/redis/server.ts';
import { runs } from '../support/runs.ts';

/** Three gateways over a primary of Redis, which is killed, and its replica, which is promoted, while deliveries arrive. */

const GATEWAYS = 3;
const READERS = 3;
const SENDERS = 6;
const ROUNDS = runs(2);

const anyOf = (gateways: readonly Gateway[]): string =>
  gateways[Math.floor(Math.random() * gateways.length)]?.url ?? '';

/** A dashboard that resumes at any gateway. */
const startReader = (gateways: readonly Gateway[], head: string) => {
  const edges: Edge[] = [];
  let shown: readonly Edge[] = [];
  let isReading = true;
  const reader = {
    faults: [] as ReturnType<typeof subscribe>['faults'],
    numbers: () => [...edges, ...shown].map(numberOf),
    async stop(): Promise<void> {
      isReading = false;
      await reading;
    },
  };
  const read = async () => {
    for (; isReading; await sleep(20)) {
      await using dashboard = subscribe(anyOf(gateways), { after: edges.at(-1)?.cursor ?? head });
      shown = dashboard.edges;
      await Promise.race([dashboard.ended, sleep(300 + 700 * Math.random())]);
      shown = [];
      edges.push(...dashboard.edges);
      reader.faults.push(...dashboard.faults);
    }
  };
  const reading = read();
  return reader;
};

/** How many deliveries the primary has that no replica is known to have. */
const unreplicatedIn = async (redis: RedisServer): Promise<number> => {
  const reply = await redis.run('HMGET', 'gateway:{default}:state', 'head', 'replicated');
  const [head, replicated] = (reply as readonly unknown[]).map(Number);
  return (head ?? 0) - (replicated ?? 0);
};

test('a replica that is promoted has all that was acknowledged and shown: no reader misses a delivery, gets one twice or expires', async (context) => {
  await needRedis(context);
  let [primary, replica] = [await startRedis(), await startRedis()];
  const name = await startForwarder(primary);
  const replication = await startForwarder(primary);
  await replica.run('REPLICAOF', '127.0.0.1', String(replication.port));
  await using started = new AsyncDisposableStack();
  const env = { UPSTREAM_URL: nowhere, AUTH: 'open', REDIS_URL: name.url, REDIS_MIN_REPLICAS: '1' };
  const gateways = await Promise.all(
    Array.from({ length: GATEWAYS }, async () => started.use(await startGateway(env))),
  );
  const path = await deliveryPathOf(anyOf(gateways));
  const head = await headOf(anyOf(gateways));
  const readers = Array.from({ length: READERS }, () => startReader(gateways, head));

  const acknowledged: number[] = [];
  let next = 0;
  const sendOne = async () => {
    const number = next;
    next += 1;
    await store(anyOf(gateways), path, number);
    acknowledged.push(number);
  };
  let isSending = true;
  const senders = Array.from({ length: SENDERS }, async () => {
    for (; isSending; await sleep(5)) await sendOne();
  });

  for (let round = 0; round < ROUNDS; round += 1) {
    const enough = acknowledged.length + 50;
    await eventually(() => acknowledged.length >= enough);
    // What follows is stored by the primary alone: it is neither acknowledged nor shown.
    replication.cut();
    const lost = next;
    senders.push(sendOne());
    await vi.waitFor(
      async () => expect(await unreplicatedIn(primary)).toBeGreaterThanOrEqual(SENDERS),
      60_000,
    );
    expect(acknowledged).not.toContain(lost);
    await primary.crash();
    await replica.run('REPLICAOF', 'NO', 'ONE');
    name.lead(replica);
    await primary.restart();
    replication.lead(replica);
    await primary.run('REPLICAOF', '127.0.0.1', String(replication.port));
    [primary, replica] = [replica, primary];
  }
  isSending = false;
  await Promise.all(senders);
  const stored = await everythingStored(anyOf(gateways));
  await eventually(
    () => readers.every((reader) => reader.numbers().at(-1) === stored.at(-1)),
    () => readers.map((reader) => [reader.faults.slice(-2), reader.numbers().slice(-5)]),
  );
  await Promise.all(readers.map(({ stop }) => stop()));

  expect(new Set(stored).size).toBe(stored.length);
  expect(acknowledged.toSorted((one, other) => one - other)).toEqual(
    stored.toSorted((one, other) => one - other),
  );
  for (const reader of readers) expect(reader.numbers()).toEqual(stored);
  expect(readers.flatMap(({ faults }) => faults)).toEqual([]);
});
