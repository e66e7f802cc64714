import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { DeliveryLog, DeliveryRange } from '../../../src/deliveries/log/log.ts';
import { openRedisLog } from '../../../src/deliveries/redis/log.ts';
import { connectRedis } from '../../../src/redis/connection.ts';
import { PATIENT_TIMES } from '../../support/redis/patience.ts';
import { needRedis } from '../../support/redis/server.ts';
import { address, delivery, numberOf, range, TENANT } from '../support/builders.ts';
import { redisOnOneServer } from '../support/stores.ts';

/** Filters over more than two segments of the index, which have 16,384 deliveries each. */

const redis = redisOnOneServer();
beforeEach(needRedis);
afterAll(() => redis.stop());

const COUNT = 40_000;
const RARE = [3, 16_383, 16_384, 20_000, 32_768, 39_999];

const openMany = async (place: string, retentionCount = COUNT): Promise<DeliveryLog> => {
  const log = await redis.openLog({ place, retentionCount });
  for (let from = 1; from <= COUNT; from += 2000)
    await log.append(
      range(from, from + 1999).map((number) =>
        delivery(number, { addresses: RARE.includes(number) ? [address(1), address(2)] : [address(2)] }),
      ),
    );
  return log;
};

const rare = { filter: { addresses: [[address(1)]], chainIds: [1], types: ['activities'] } } as const;

const walk = async (log: DeliveryLog, range: DeliveryRange) => {
  const found: number[] = [];
  let pages = 0;
  for (let at = range; ; ) {
    const page = await log.read(TENANT, at);
    found.push(...(range.take === 'newest' ? page.deliveries.toReversed() : page.deliveries).map(numberOf));
    pages += 1;
    if (!page.hasMore) return { found, pages };
    at = { ...at, ...(range.take === 'newest' ? { before: page.scannedTo } : { after: page.scannedTo }) };
  }
};

test('a rare filter finds all its deliveries, in either direction, also when the limit of scans cuts its pages', async () => {
  const place = await redis.newPlace();
  const log = await openMany(place);
  expect(await walk(log, { ...rare, limit: 4 })).toEqual({ found: RARE, pages: 2 });
  const newest = await walk(log, { ...rare, limit: 4, take: 'newest' });
  expect(newest).toEqual({ found: RARE.toReversed(), pages: 2 });
  // The first page reads one segment and ends, though it is not full.
  const cut = await log.read(TENANT, { ...rare, limit: 10, maxScanned: 1 });
  expect(cut).toMatchObject({ isCut: true, hasMore: true });
  expect(cut.deliveries.map(numberOf)).toEqual([3, 16_383]);
  expect(await walk(log, { ...rare, limit: 10, maxScanned: 1 })).toEqual({ found: RARE, pages: 3 });
  const never = { limit: 1, filter: { addresses: [[address(3)]] } };
  const nothing = await log.read(TENANT, never);
  expect(nothing).toMatchObject({ deliveries: [], hasMore: false });
  expect(nothing.scannedTo).toBe(nothing.head);
  // One string of each segment, and no delivery.
  expect(nothing.scanned).toBeLessThan(10);

  await log.close();
  const trimmed = await redis.openLog({ place, retentionCount: COUNT - 20_000 });
  await trimmed.trim();
  expect(await walk(trimmed, { ...rare, limit: 4 })).toEqual({ found: [32_768, 39_999], pages: 1 });
});

test('a search that retention overtakes is refused, and does not leave out what it has not looked at', async () => {
  const place = await redis.newPlace();
  const connection = await connectRedis({ urls: [place], times: PATIENT_TIMES });
  onTestFinished(() => connection.close());
  const log = await openRedisLog({ redis: connection, retentionHours: 1, retentionCount: COUNT });
  onTestFinished(() => log.close());
  const trimming = await redis.openLog({ place, retentionCount: 1, now: Date.now });
  const after = await log.head(TENANT);
  await Promise.all([log.trim(), trimming.trim(), log.read(TENANT, { after, limit: 1 })]);
  const receivedAt = Date.now();
  await log.append([1, 7, 7, 7, 1].map((chainId, index) => delivery(index, { chainId, receivedAt })));

  const send = connection.send.bind(connection);
  let hasTrimmed = false;
  connection.send = async (key, args) => {
    const reply = await send(key, args);
    if (args[0] === 'EVALSHA' && !hasTrimmed) {
      hasTrimmed = true;
      await trimming.trim();
    }
    return reply;
  };
  const page = log.read(TENANT, { after, limit: 10, filter: { chainIds: [7] } });
  await expect(page).rejects.toEqual(
    expect.objectContaining({ name: 'CursorExpiredError', reason: 'trimmed' }),
  );
  expect(hasTrimmed).toBe(true);
});
