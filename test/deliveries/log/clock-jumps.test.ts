import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { RetentionObserver } from '../../../src/deliveries/log/retention.ts';
import { needRedis } from '../../support/redis/server.ts';
import { delivery, HOUR_MS, numberOf, readAll } from '../support/builders.ts';
import { describeEachStore, redisOnOneServer, type Store } from '../support/stores.ts';

/** A clock that is wrong drops nothing by age. Retention keeps a week. */

const DAY_MS = 24 * HOUR_MS;
const START = 1_800_000_000_000;

describeEachStore(({ newPlace, openLog }: Store) => {
  /** A log whose clock and whose monotonic clock are set by hand. */
  const openAt = async (place: string, wall: number) => {
    const time = { wall, monotonic: 0 };
    const reports: string[] = [];
    const retentionObserver: RetentionObserver = {
      jumped: (ms) => reports.push(`jumped by ${Math.round(ms / HOUR_MS)} h`),
      settled: (reason) => reports.push(reason),
    };
    const log = await openLog({
      place,
      retentionHours: 168,
      now: () => time.wall,
      monotonic: () => time.monotonic,
      retentionObserver,
    });
    return {
      log,
      reports,
      set: (wall: number) => {
        time.wall = wall;
      },
      /** Both clocks go on. */
      pass: (ms: number) => {
        time.wall += ms;
        time.monotonic += ms;
      },
      store: (number: number) => log.append([delivery(number, { receivedAt: time.wall })]),
      left: async () => {
        await log.trim();
        return (await readAll(log)).map(numberOf);
      },
    };
  };

  test.for([
    ['ahead', 8 * DAY_MS],
    ['back', -8 * DAY_MS],
  ] as const)(
    'a clock that is set 8 days %s is reported once, drops nothing, and is over when it is right again',
    async ([, jumpMs]) => {
      const gateway = await openAt(await newPlace(), START);
      await gateway.store(1);
      gateway.pass(6 * DAY_MS);
      await gateway.store(2);
      expect(await gateway.left()).toEqual([1, 2]);

      gateway.set(START + 6 * DAY_MS + jumpMs);
      expect(await gateway.left()).toEqual([1, 2]);
      gateway.pass(HOUR_MS);
      expect(await gateway.left()).toEqual([1, 2]);
      expect(gateway.reports).toEqual([`jumped by ${jumpMs / HOUR_MS} h`]);

      gateway.set(START + 6 * DAY_MS + HOUR_MS);
      expect(await gateway.left()).toEqual([1, 2]);
      expect(gateway.reports.slice(1)).toEqual(['in step']);
      // It goes by the clock as before.
      gateway.pass(DAY_MS);
      expect(await gateway.left()).toEqual([2]);
    },
  );

  test('a gateway that starts with a clock that is 8 days ahead drops nothing, also when it starts again after a delivery', async () => {
    const place = await newPlace();
    const first = await openAt(place, START);
    await first.store(1);
    expect(await first.left()).toEqual([1]);
    await first.log.close();
    for (const number of [2, 3]) {
      const gateway = await openAt(place, START + 8 * DAY_MS);
      expect(await gateway.left()).toContain(1);
      expect(gateway.reports).toEqual(['jumped by 192 h']);
      await gateway.store(number);
      expect(await gateway.left()).toContain(1);
      await gateway.log.close();
    }
    const right = await openAt(place, START + HOUR_MS / 2);
    expect(await right.left()).toEqual([1, 2, 3]);
    expect(right.reports).toEqual([]);
  });

  test('after 10 days off, or idle, the log is trimmed: at once while the gateway ran, else once the clock has gone on for 12 hours', async () => {
    const place = await newPlace();
    const first = await openAt(place, START);
    await first.store(1);
    for (let days = 0; days < 10; days += 1) {
      expect(await first.left()).toEqual(days < 8 ? [1] : []);
      first.pass(DAY_MS);
    }
    await first.store(2);
    expect(await first.left()).toEqual([2]);
    expect(first.reports).toEqual([]);
    await first.log.close();

    const second = await openAt(place, START + 20 * DAY_MS);
    expect(await second.left()).toEqual([2]);
    second.pass(11 * HOUR_MS);
    expect(await second.left()).toEqual([2]);
    second.pass(HOUR_MS);
    expect(await second.left()).toEqual([]);
    expect(second.reports).toEqual(['jumped by 240 h', 'confirmed']);
  });

  /**
   * Starts gateways one after another, each with the clock moved on by a number of hours, for a time in which both clocks
   * run evenly.
   */
  const runs = async (place: string, hours: readonly (readonly [start: number, runs: number])[]) => {
    const left: number[][] = [];
    for (const [start, runs] of hours) {
      const gateway = await openAt(place, START + 20 * DAY_MS + start * HOUR_MS);
      await gateway.left();
      gateway.pass(runs * HOUR_MS);
      left.push(await gateway.left());
      await gateway.log.close();
    }
    return left;
  };

  test.for([
    ['each restarted at once', [0, 5, 10], [[1], [1], []]],
    ['each off for the night', [0, 24, 48], [[1], [1], []]],
    ['with a clock that has jumped again by 8 days', [0, 5, 192], [[1], [1], [1]]],
    ['with a clock that has gone back by two days', [0, 5, -48], [[1], [1], [1]]],
  ] as const)(
    'the 12 hours add up over gateways that run for 5 hours, %s, only as far as they are even',
    async ([, starts, expected]) => {
      const place = await newPlace();
      const first = await openAt(place, START);
      await first.store(1);
      expect(await first.left()).toEqual([1]);
      await first.log.close();
      expect(
        await runs(
          place,
          starts.map((start) => [start, 5]),
        ),
      ).toEqual(expected);
    },
  );

  test('while retention by age waits, retention by count goes on', async () => {
    const place = await newPlace();
    const time = { wall: START };
    const log = await openLog({ place, retentionCount: 2, now: () => time.wall, monotonic: () => 0 });
    time.wall += 10_000 * DAY_MS;
    await log.append([1, 2, 3].map((number) => delivery(number, { receivedAt: START })));
    await log.trim();
    expect((await readAll(log)).map(numberOf)).toEqual([2, 3]);
  });
});

describe('in Redis, whose clock is 8 days behind for a moment', () => {
  const redis = redisOnOneServer();
  beforeEach(needRedis);
  afterAll(() => redis.stop());

  test.for([0, HOUR_MS / 2])(
    'deliveries of a gateway that is ahead of the right time by %d ms are kept for a week',
    async (aheadMs) => {
      const time = { right: START, behindMs: 0 };
      const log = await redis.openLog({
        retentionHours: 168,
        now: () => time.right - time.behindMs,
        monotonic: () => time.right,
      });
      const left = async () => {
        await log.trim();
        return (await readAll(log)).map(numberOf);
      };
      await log.trim();
      time.behindMs = 8 * DAY_MS;
      await log.append([1, 2, 3].map((number) => delivery(number, { receivedAt: time.right + aheadMs })));
      expect(await left()).toEqual([1, 2, 3]);
      time.behindMs = 0;
      expect(await left()).toEqual([1, 2, 3]);
      time.right += 7 * DAY_MS;
      expect(await left()).toEqual([1, 2, 3]);
      time.right += HOUR_MS;
      expect(await left()).toEqual([]);
    },
  );
});
