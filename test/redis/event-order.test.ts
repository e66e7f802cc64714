import { expect, test, vi } from 'vitest';
import { activity, deliver } from '../support/clients/deliver.ts';
import { newestOf, poll } from '../support/clients/queries.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { createTestClock } from '../support/gateway/clock.ts';
import { deliveryPathOf, everythingStored, headOf } from '../support/gateway/on-redis.ts';
import type { Gateway } from '../support/gateway/start.ts';
import { readersToBe } from '../support/gateway/wait-for-readers.ts';
import { startForwarder } from '../support/redis/forwarder.ts';
import { needRedis } from '../support/redis/server.ts';
import { growing, held, redisServers, startOnRedis, usageOf } from '../support/redis/sharing-gateways.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/**
 * The invalidation of a delivery goes over the Redis of pages, and its event over that of the log. A client that refetches
 * at the event must get no page from before it, however late the invalidation comes.
 */

/** Longer than an event and the request that follows it take. */
const LATE_MS = 5000;
/** By then an invalidation has arrived. */
const REPLAYED_MS = 31_000;

/** The first gateway reaches the Redis of pages through a connection that can be slow. */
const startWithSlowCache = async () => {
  await using started = new AsyncDisposableStack();
  const redis = await redisServers();
  const slow = await startForwarder(redis.cache);
  const fake = started.use(await startFakeWallets());
  const start = async (cacheUrl: string) =>
    started.use(await startOnRedis(fake, redis.log.url, { REDIS_CACHE_URL: cacheUrl }));
  const [first, second, third] = [
    await start(slow.url),
    await start(redis.cache.url),
    await start(redis.cache.url),
  ];
  const path = await deliveryPathOf(first.url);
  const running = started.move();
  return {
    fake,
    first,
    second,
    third,
    slow,
    /** Posts to the gateway an event of the address. */
    async post(gateway: Gateway, number: number, address: string) {
      expect(await deliver(gateway.url + path, { body: activity(number, address) })).toBe(200);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

test('a client that refetches at an event gets no page from before it, also while the invalidation is late', async (context) => {
  await needRedis(context);
  await using gateways = await startWithSlowCache();
  const { fake, first, second, slow, post } = gateways;
  const address = growing(fake);
  const seen = [newestOf(await poll(second, address))];
  await using events = subscribe(second.url);
  await readersToBe(second.url, 1);
  slow.delay(LATE_MS);
  for (const number of [1, 2, 3]) {
    await post(first, number, address);
    await eventually(() => events.edges.length === number);
    const newest = newestOf(await poll(second, address));
    expect(seen).not.toContain(newest);
    seen.push(newest);
  }
  // The gateway that stored the events serves none of them either.
  expect(seen).not.toContain(newestOf(await poll(first, address)));
});

test.for([
  [
    'resumes a subscription',
    async (url: string, after: string) => {
      await using events = subscribe(url, { after });
      await eventually(() => events.edges.length === 1);
    },
  ],
  [
    'reads the list of deliveries',
    async (url: string, after: string) => {
      const query = `{ deliveries(after: "${after}") { nodes { id } } }`;
      const headers = { 'content-type': 'application/json' };
      const read = async () => {
        const response = await fetch(`${url}/graphql`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ query }),
        });
        return ((await response.json()) as { data: { deliveries: { nodes: object[] } } }).data.deliveries
          .nodes;
      };
      await vi.waitFor(async () => expect(await read()).toHaveLength(1), 120_000);
    },
  ],
] as const)('nor one that %s and finds the event there', async ([, find], context) => {
  await needRedis(context);
  await using gateways = await startWithSlowCache();
  const { fake, first, second, slow, post } = gateways;
  const address = growing(fake);
  const after = await headOf(second.url);
  const before = newestOf(await poll(second, address));
  slow.delay(LATE_MS);
  await post(first, 1, address);
  await find(second.url, after);
  expect(newestOf(await poll(second, address))).not.toBe(before);
});

test('a page that was requested before an event is not shared after it', async (context) => {
  await needRedis(context);
  await using gateways = await startWithSlowCache();
  const { fake, first, second, third, slow, post } = gateways;
  const { address, open } = held(fake);
  await using events = subscribe(second.url);
  await readersToBe(second.url, 1);
  const old = poll(second, address);
  await eventually(() => fake.requests.length === 1);
  slow.delay(LATE_MS);
  await post(first, 1, address);
  await eventually(() => events.edges.length === 1);
  open();
  const before = newestOf(await old);
  expect(newestOf(await poll(third, address))).not.toBe(before);
  expect(newestOf(await poll(second, address))).not.toBe(before);
});

test('an invalidation that is in time is made once, however many gateways and subscribers get the event', async (context) => {
  await needRedis(context);
  await using gateways = await startWithSlowCache();
  const { fake, first, second, third, post } = gateways;
  const address = growing(fake);
  const all = [first, second, third];
  const filters = [{}, { types: ['ACTIVITIES'] }];
  const events = all.flatMap(({ url }) => filters.map((filter) => subscribe(url, { filter })));
  for (const { url } of all) await readersToBe(url, 2);
  for (const number of [1, 2, 3, 4, 5]) {
    await post(first, number, address);
    await eventually(() => events.every(({ edges }) => edges.length === number));
    const requests = fake.requests.length;
    for (const gateway of all) for (let again = 0; again < 3; again += 1) await usageOf(gateway, address);
    expect(fake.requests.length - requests).toBeLessThanOrEqual(1);
  }
  for (const each of events) await each[Symbol.asyncDispose]();
});

test.for([
  ['others read', true],
  ['nobody reads', false],
] as const)(
  'a delivery that is replayed drops no page of a gateway on which %s meanwhile',
  async ([, isRead], context) => {
    await needRedis(context);
    const [redis, clock] = [await redisServers(), createTestClock()];
    const cache = await startForwarder(redis.cache);
    await using fake = await startFakeWallets();
    await using reader = await startOnRedis(fake, redis.log.url, { REDIS_CACHE_URL: cache.url }, clock.now);
    await using poster = await startOnRedis(fake, redis.log.url, { REDIS_CACHE_URL: redis.cache.url });
    const [address, path] = [growing(fake), await deliveryPathOf(poster.url)];
    await headOf(reader.url);
    if (!isRead) clock.advance(REPLAYED_MS);
    // The reader misses the invalidation.
    cache.cut();
    expect(await deliver(poster.url + path, { body: activity(1, address) })).toBe(200);
    cache.lead(redis.cache);
    await vi.waitFor(async () => {
      const shared = growing(fake);
      expect(newestOf(await poll(reader, shared))).toBe(newestOf(await poll(poster, shared)));
    }, 60_000);
    if (isRead) {
      clock.advance(REPLAYED_MS);
      await reader.query('query ($after: String) { deliveries(after: $after) { head } }', {
        after: await headOf(poster.url),
      });
    }
    clock.advance(REPLAYED_MS);
    const before = newestOf(await poll(reader, address));
    expect(await everythingStored(reader.url)).toEqual([1]);
    expect(newestOf(await poll(reader, address))).toBe(before);
    expect(newestOf(await poll(poster, address))).toBe(before);
  },
);
