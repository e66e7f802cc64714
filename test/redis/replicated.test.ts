import { expect, test } from 'vitest';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import {
  deliveryPathOf,
  everythingStored,
  headOf,
  numberOf,
  post,
  store,
} from '../support/gateway/on-redis.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { startForwarder } from '../support/redis/forwarder.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** With REDIS_MIN_REPLICAS, a delivery is shown once replicas have it. */

const STATE = 'gateway:{default}:state';

const startReplicated = async () => {
  const primary = await startRedis();
  const replica = await startRedis();
  const link = await startForwarder(primary);
  await replica.run('REPLICAOF', '127.0.0.1', String(link.port));
  const env = { UPSTREAM_URL: nowhere, AUTH: 'open', REDIS_URL: primary.url, REDIS_MIN_REPLICAS: '1' };
  return { primary, link, start: () => startGateway(env) };
};

test('a delivery that no replica has is not shown; once one has it, it is, though its gateway has ended', async (context) => {
  await needRedis(context);
  const { primary, link, start } = await startReplicated();
  await using first = await start();
  await using second = await start();
  const path = await deliveryPathOf(first.url);
  await store(first.url, path, 0);
  const head = await headOf(first.url);
  await using dashboard = subscribe(second.url, { after: head });
  await dashboard.opened;

  link.cut();
  expect(await post(first.url, path, 1)).toBe(503);
  expect(String(await primary.run('HGET', STATE, 'head'))).toBe('2');
  await first.stop();
  expect(await everythingStored(second.url)).toEqual([0]);
  expect(await headOf(second.url)).toBe(head);
  // One that is opened now begins where the other one is.
  await using late = subscribe(second.url);
  await late.opened;
  expect([dashboard.edges, late.edges]).toEqual([[], []]);

  link.lead(primary);
  for (const { edges } of [dashboard, late]) await eventually(() => edges.length === 1);
  expect([...dashboard.edges, ...late.edges].map(numberOf)).toEqual([1, 1]);
  expect(await everythingStored(second.url)).toEqual([0, 1]);
  // Its repeat is a duplicate.
  await store(second.url, path, 1);
  await store(second.url, path, 2);
  await eventually(() => dashboard.edges.length === 2);
  expect([...dashboard.faults, ...late.faults]).toEqual([]);
});

test('a gateway that starts finds what others have stored and left unreplicated', async (context) => {
  await needRedis(context);
  const { primary, link, start } = await startReplicated();
  const first = await start();
  const path = await deliveryPathOf(first.url);
  await store(first.url, path, 0);
  const head = await headOf(first.url);
  link.cut();
  expect(await post(first.url, path, 1)).toBe(503);
  await first[Symbol.asyncDispose]();
  link.lead(primary);
  await using second = await start();
  await using dashboard = subscribe(second.url, { after: head });
  await eventually(() => dashboard.edges.length === 1);
  expect(dashboard.edges.map(numberOf)).toEqual([1]);
});

test('what was stored before there was a mark is shown, and cursors of then resume', async (context) => {
  await needRedis(context);
  const { primary, link, start } = await startReplicated();
  await using gateway = await start();
  const path = await deliveryPathOf(gateway.url);
  const begin = await headOf(gateway.url);
  await store(gateway.url, path, 0);
  await store(gateway.url, path, 1);
  await primary.run('HDEL', STATE, 'replicated');
  expect(await everythingStored(gateway.url)).toEqual([0, 1]);
  link.cut();
  expect(await post(gateway.url, path, 2)).toBe(503);
  expect(await everythingStored(gateway.url)).toEqual([0, 1]);
  await using dashboard = subscribe(gateway.url, { after: begin });
  await eventually(() => dashboard.edges.length === 2);
  link.lead(primary);
  await eventually(() => dashboard.edges.length === 3);
  expect(dashboard.edges.map(numberOf)).toEqual([0, 1, 2]);
});

test('after a failover, a cursor ahead of the mark resumes', async (context) => {
  await needRedis(context);
  const { primary, start } = await startReplicated();
  await using gateway = await start();
  const path = await deliveryPathOf(gateway.url);
  for (const number of [0, 1, 2]) await store(gateway.url, path, number);
  const head = await headOf(gateway.url);
  // The replica had the deliveries, but not yet the newest mark.
  await primary.run('HSET', STATE, 'replicated', '1');
  await using dashboard = subscribe(gateway.url, { after: head });
  await dashboard.opened;
  await expect.poll(() => everythingStored(gateway.url)).toEqual([0, 1, 2]);
  await store(gateway.url, path, 3);
  await eventually(() => dashboard.edges.length === 1 || dashboard.faults.length > 0);
  expect([dashboard.faults, dashboard.edges.map(numberOf)]).toEqual([[], [3]]);
});
