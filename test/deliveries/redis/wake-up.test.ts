import { afterAll, beforeEach, expect, test } from 'vitest';
import { FeedCache } from '../../../src/deliveries/feed/cache.ts';
import { ChangeNotifier } from '../../../src/deliveries/feed/change-notifier.ts';
import { createDeliverySource } from '../../../src/deliveries/feed/feed.ts';
import { MergedReads } from '../../../src/deliveries/feed/merged-reads.ts';
import { connectRedis } from '../../../src/redis/connection.ts';
import { PATIENT_TIMES } from '../../support/redis/patience.ts';
import { needRedis } from '../../support/redis/server.ts';
import { delivery, numberOf, range } from '../support/builders.ts';
import { iterateSource } from '../support/iterate.ts';
import { redisOnOneServer } from '../support/stores.ts';

/** Readers on one gateway are woken by appends on another, over one connection. */

const redis = redisOnOneServer();
beforeEach(needRedis);
afterAll(() => redis.stop());

const TENANTS = range(1, 50).map((number) => `tenant ${number}`);
/** So long that no poll finds what a lost message has missed. */
const NEVER = 2 ** 30;

test('readers of many tenants share one connection, and miss nothing when it is lost', async () => {
  const place = await redis.newPlace();
  const here = await redis.openLog({ place });
  const admin = await connectRedis({ urls: [place], times: PATIENT_TIMES });
  const clients = async () => String(await admin.send(null, ['CLIENT', 'LIST'])).split('\n').length;
  const before = await clients();
  const there = await redis.openLog({ place });
  expect((await clients()) - before).toBe(2);

  const changeNotifier = new ChangeNotifier(there, NEVER);
  const reads = new MergedReads(there);
  const cache = new FeedCache(1_000_000);
  const readers = await Promise.all(
    TENANTS.map(async (tenant) => {
      const after = await there.head(tenant);
      return iterateSource(
        createDeliverySource({ log: there, reads, changeNotifier, tenant, cache, after, filter: {} }),
      );
    }),
  );
  const append = (number: number) => here.append(TENANTS.map((tenant) => delivery(number, { tenant })));
  const nextOfAll = async () =>
    (await Promise.all(readers.map((reader) => reader.next()))).map(({ value }) => value && numberOf(value));
  const all = (number: number) => TENANTS.map(() => number);

  const first = nextOfAll();
  await append(1);
  expect(await first).toEqual(all(1));
  expect((await clients()) - before).toBe(2);

  const second = nextOfAll();
  await admin.send(null, ['CLIENT', 'KILL', 'TYPE', 'pubsub']);
  await append(2);
  expect(await second).toEqual(all(2));

  const third = nextOfAll();
  await append(3);
  expect(await third).toEqual(all(3));
  await Promise.all(readers.map((reader) => reader.return?.()));
  admin.close();
});
