import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { connectRedis } from '../../../src/redis/connection.ts';
import { activity } from '../../support/clients/deliver.ts';
import { PATIENT_TIMES } from '../../support/redis/patience.ts';
import { needRedis } from '../../support/redis/server.ts';
import { appendNumbers, delivery, HOUR_MS, range, readAll, TENANT } from '../support/builders.ts';
import { redisOnOneServer } from '../support/stores.ts';

/** How deliveries lie in Redis. */

const redis = redisOnOneServer();
beforeEach(needRedis);
afterAll(() => redis.stop());

test('bodies of any size and content are read as they came, and usual ones take less than half of their size', async () => {
  const place = await redis.newPlace();
  const log = await redis.openLog({ place });
  const usual = range(1, 50).map((number) => Buffer.from(JSON.stringify(activity(number))));
  const others = [
    Buffer.from('{}'),
    Buffer.from(JSON.stringify({ text: 'é'.repeat(200) })),
    Buffer.from(JSON.stringify({ text: 'x'.repeat(3_000_000) })),
    randomBytes(1000),
    randomBytes(100_000),
  ];
  const bodies = [...usual, ...others];
  await log.append(bodies.map((body, index) => delivery(index, { body })));
  const stored = await readAll(log);
  // Lists of millions of bytes would take minutes to compare where they differ.
  expect(stored.map(({ body }, index) => Buffer.compare(body, bodies[index] ?? Buffer.alloc(0)))).toEqual(
    bodies.map(() => 0),
  );

  const connection = await connectRedis({ urls: [place], times: PATIENT_TIMES });
  const reply = await connection.send(null, ['XRANGE', `gateway:{${TENANT}}:stream`, '1-0', '50-0']);
  connection.close();
  const sizes = (reply as readonly [string, readonly Buffer[]][]).map(([, fields]) => fields[3]?.length ?? 0);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  expect(sizes).toHaveLength(50);
  expect(sum(sizes)).toBeLessThan(sum(usual.map(({ length }) => length)) / 2);
});

test('a body that is not what was stored is an error, not an answer', async () => {
  const place = await redis.newPlace();
  const log = await redis.openLog({ place });
  await appendNumbers(log, [1, 2, 3]);
  const connection = await connectRedis({ urls: [place], times: PATIENT_TIMES });
  const key = `gateway:{${TENANT}}:stream`;
  const reply = await connection.send(null, ['XRANGE', key, '2-0', '2-0']);
  const [[, [, header = Buffer.alloc(0)]] = ['', []]] = reply as [string, Buffer[]][];
  await connection.send(null, ['XDEL', key, '2-0']);
  await expect(readAll(log)).rejects.toThrow('delivery 2 is missing');
  await connection.send(null, ['DEL', key]);
  await connection.send(null, ['XADD', key, '1-0', 'h', header, 'b', '{}']);
  await expect(log.read(TENANT, { limit: 1 })).rejects.toThrow(
    'the body of delivery 1 is not what was stored',
  );
  connection.close();
});

test('retention finds a tenant by its age, also after Redis has lost the list of tenants', async () => {
  const place = await redis.newPlace();
  let now = 1000;
  const log = await redis.openLog({ place, now: () => now });
  await log.append([delivery(1, { receivedAt: now })]);
  const connection = await connectRedis({ urls: [place], times: PATIENT_TIMES });
  onTestFinished(() => connection.close());
  await vi.waitFor(
    async () => expect(await connection.send(null, ['DEL', 'gateway:tenants'])).toBe(1),
    120_000,
  );

  const other = await redis.openLog({ place, now: () => now });
  now += HOUR_MS / 2;
  await other.append([delivery(2, { receivedAt: now })]);
  await vi.waitFor(
    async () => expect(await connection.send(null, ['ZCARD', 'gateway:tenants'])).toBe(1),
    120_000,
  );
  now += HOUR_MS / 2 + 1;
  await other.trim();
  expect((await readAll(log)).map(({ sequence }) => sequence)).toEqual([2]);
  now += HOUR_MS;
  await log.trim();
  expect(await readAll(log)).toEqual([]);
});

test.for(['DEL', 'another type'])(
  'retention also finds a tenant without a new delivery when the list of tenants is lost (%s)',
  async (how) => {
    const place = await redis.newPlace();
    let now = 1000;
    const log = await redis.openLog({ place, now: () => now });
    await log.append([delivery(1, { receivedAt: now })]);
    await log.trim();
    const connection = await connectRedis({ urls: [place], times: PATIENT_TIMES });
    onTestFinished(() => connection.close());
    for (const key of ['gateway:tenants', 'gateway:seed']) {
      expect(await connection.send(null, ['DEL', key])).toBe(1);
      if (how === 'another type') await connection.send(null, ['HSET', key, 'another', 'type']);
      if (key === 'gateway:tenants') await log.trim();
    }
    now += HOUR_MS + 1;
    await log.trim();
    expect(await readAll(log)).toEqual([]);
    // A tenant without a log needs the seed.
    expect(await log.append([delivery(1, { tenant: 'another', receivedAt: now })])).toHaveLength(1);
  },
);
