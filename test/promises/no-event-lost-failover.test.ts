import { expect, test } from 'vitest';
import { sleep } from '../support/clients/queries.ts';
import { type Edge, eventually, subscribe } from '../support/clients/subscribe.ts';
import { deliveryPathOf, everythingStored, headOf, numberOf, store } from '../support/gateway/on-redis.ts';
import { type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';
import { startForwarder } from '../support/redis/forwarder.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { runs } from '../support/runs.ts';

/** Three gateways over a primary of Redis, which is killed, and its replica, which is promoted, while deliveries arrive. */

const GATEWAYS = 3;
const READERS = 3;
const SENDERS = 6;
const ROUNDS = runs(2);

type Place = Pick<Edge, 'cursor'> & { readonly number: number | null };

const anyOf = (gateways: readonly Gateway[]): string =>
  gateways[Math.floor(Math.random() * gateways.length)]?.url ?? '';

/** A dashboard that resumes at any gateway. When its cursor has expired, it goes back to an earlier one, further each time. */
const startReader = (gateways: readonly Gateway[], head: string) => {
  const places: Place[] = [{ cursor: head, number: null }];
  let shown: readonly Edge[] = [];
  let isReading = true;
  const reader = {
    faults: [] as ReturnType<typeof subscribe>['faults'],
    numbers: () => [...places.slice(1).map(({ number }) => number), ...shown.map(numberOf)],
    async stop(): Promise<void> {
      isReading = false;
      await reading;
    },
  };
  const read = async () => {
    for (let back = 1; isReading; await sleep(20)) {
      await using dashboard = subscribe(anyOf(gateways), { after: places.at(-1)?.cursor ?? '' });
      shown = dashboard.edges;
      await Promise.race([dashboard.ended, sleep(300 + 700 * Math.random())]);
      shown = [];
      places.push(...dashboard.edges.map((edge) => ({ cursor: edge.cursor, number: numberOf(edge) })));
      if (dashboard.faults.length === 0) {
        back = 1;
        continue;
      }
      reader.faults.push(...dashboard.faults);
      places.splice(Math.max(1, places.length - back));
      back *= 2;
    }
  };
  const reading = read();
  return reader;
};

test('a replica that is promoted has all that was acknowledged, and no reader misses a delivery or gets one twice', async (context) => {
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
    // What follows is stored by the primary alone: it is shown to readers, but not acknowledged.
    replication.cut();
    const lost = next;
    senders.push(sendOne());
    await eventually(() => readers.some((reader) => reader.numbers().includes(lost)));
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
  // No reader has seen this one as a lost delivery: one that ends here has gone back before.
  await sendOne();
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
  const faults = readers.flatMap((reader) => reader.faults);
  expect(faults.length).toBeGreaterThanOrEqual(ROUNDS);
  const expired = { code: 'CURSOR_EXPIRED', reason: expect.stringMatching(/^(ahead|replaced)$/) };
  for (const { extensions } of faults) expect(extensions).toMatchObject(expired);
});
