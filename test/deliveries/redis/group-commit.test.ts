import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { needRedis, startRedis } from '../../support/redis/server.ts';
import { appendNumbers, delivery, numberOf, range, readAll } from '../support/builders.ts';
import { redisOnOneServer } from '../support/stores.ts';

/** Deliveries share scripts, and so what a script and a sync cost. */

const redis = redisOnOneServer();
beforeEach(needRedis);
afterAll(() => redis.stop());

test('what arrives while Redis stores a delivery is stored by the next script, in its order', async () => {
  const server = await startRedis();
  const log = await redis.openLog({ place: server.url });
  await appendNumbers(log, [0]);
  await server.run('CONFIG', 'RESETSTAT');
  server.pause();
  const numbers = range(1, 40);
  const appended = [];
  for (const number of numbers) {
    appended.push(log.append([delivery(number)]));
    await setImmediate();
  }
  server.resume();
  await Promise.all(appended);
  const scripts = /cmdstat_evalsha:calls=(\d+)/.exec(String(await server.run('INFO', 'commandstats')))?.[1];
  // Two appends; on a busy machine, the retention as well.
  expect(Number(scripts)).toBeLessThan(10);
  expect((await readAll(log)).map(numberOf)).toEqual([0, ...numbers]);
});

test('deliveries that are sent while others are being stored keep their order, though some take long to compress', async () => {
  const log = await redis.openLog();
  await appendNumbers(log, [0]);
  const numbers = range(1, 100);
  const bodyOf = (number: number) =>
    Buffer.from(JSON.stringify({ number, more: 'x'.repeat(number % 7 === 0 ? 2_000_000 : 1000) }));
  await Promise.all(numbers.map((number) => log.append([delivery(number, { body: bodyOf(number) })])));
  const stored = (await readAll(log)).slice(1).map(({ body }) => JSON.parse(String(body)).number);
  expect(stored).toEqual(numbers);
});

test('deliveries of one batch are stored in its order, though some take long to compress', async () => {
  const log = await redis.openLog();
  const large = (number: number) =>
    delivery(number, { body: Buffer.from(`"${number} ${randomBytes(1_500_000).toString('hex')}"`) });
  const bodies: Uint8Array[] = [];
  for (const start of [0, 10, 20]) {
    const batch = [
      delivery(start),
      large(start + 1),
      delivery(start + 2),
      large(start + 3),
      delivery(start + 4),
    ];
    await log.append(batch);
    bodies.push(...batch.map(({ body }) => body));
  }
  const stored = await readAll(log);
  expect(stored.map(({ body }) => bodies.findIndex((one) => Buffer.compare(one, body) === 0))).toEqual(
    range(0, bodies.length - 1),
  );
});

test('duplicates among the deliveries of one script have the place of their original', async () => {
  const log = await redis.openLog();
  await appendNumbers(log, [1, 2]);
  const batch = [3, 1, 4, 3, 5, 2, 5, 6].map((number) => delivery(number));
  const appended = await log.append(batch);
  expect(appended.map(({ sequence, duplicate }) => [sequence, duplicate])).toEqual([
    ...[
      [3, false],
      [1, true],
      [4, false],
      [3, true],
    ],
    ...[
      [5, false],
      [2, true],
      [5, true],
      [6, false],
    ],
  ]);
  const stored = await readAll(log);
  expect(stored.map(numberOf)).toEqual([1, 2, 3, 4, 5, 6]);
  for (const [index, { sequence, cursor }] of appended.entries())
    expect(stored[sequence - 1]?.cursor, String(index)).toBe(cursor);
});
