import { expect, test, vi } from 'vitest';
import { deliveriesOf, deliverUntilStored } from '../../support/clients/deliver.ts';
import { subscribe } from '../../support/clients/subscribe.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';
import { needRedis, startRedis } from '../../support/redis/server.ts';
import {
  appendNumbers,
  delivery,
  HOUR_MS,
  numberOf,
  range,
  readAll,
  TENANT,
  temporaryDirectory,
} from '../support/builders.ts';
import { describeEachStore } from '../support/stores.ts';

/** Deliveries beyond the retention are trimmed, and the others stay unchanged. */

describeEachStore(({ newPlace, openLog }) => {
  test('trims by count from the front, and refuses a trimmed cursor', async () => {
    const log = await openLog({ retentionCount: 3 });
    const cursors = await appendNumbers(log, range(1, 600));
    await log.trim();

    expect((await readAll(log)).map(numberOf)).toEqual([598, 599, 600]);
    expect((await readAll(log, cursors[596])).map(numberOf)).toEqual([598, 599, 600]);
    await expect(readAll(log, cursors[595])).rejects.toEqual(
      expect.objectContaining({ name: 'CursorExpiredError', reason: 'trimmed' }),
    );
    expect(await log.get(TENANT, cursors[0] ?? '')).toBeNull();
  });

  test('trims by age, and retains every delivery after one that stays, also when the clock went back', async () => {
    let now = 0;
    const log = await openLog({ now: () => now });
    await log.append([10, 50, 20, 60].map((at, index) => delivery(index + 1, { receivedAt: at })));
    now = HOUR_MS + 30;
    await log.trim();
    expect((await readAll(log)).map(numberOf)).toEqual([2, 3, 4]);
  });

  test('never reuses a sequence number, also after everything was trimmed and the log was reopened', async () => {
    const place = await newPlace();
    let now = 1_000_000;
    const log = await openLog({ place, now: () => now });
    const [, old] = await appendNumbers(log, [1, 2]);
    now = HOUR_MS * 1000;
    await log.trim();
    expect(await readAll(log)).toEqual([]);
    await log.close();

    const reopened = await openLog({ place });
    expect(await reopened.head(TENANT)).toBe(old);
    const [again] = await reopened.append([delivery(2)]);
    expect(again).toMatchObject({ sequence: 3, duplicate: false });
    expect((await readAll(reopened, old)).map(({ sequence }) => sequence)).toEqual([3]);
  });

  test('all tenants together keep a limited number, at the cost of those that have most, each of its oldest', async () => {
    const log = await openLog({ retentionTotal: 60 });
    const sizes = { flood: 500, busy: 100, quiet: 10, single: 1 };
    const cursors = new Map<string, readonly string[]>();
    for (const [tenant, size] of Object.entries(sizes)) {
      const appended = await log.append(range(1, size).map((number) => delivery(number, { tenant })));
      cursors.set(
        tenant,
        appended.map(({ cursor }) => cursor),
      );
    }
    const kept = async (tenant: string) => (await log.read(tenant, { limit: 1000 })).deliveries.map(numberOf);
    // (60 - 10 - 1) / 2 of each that has more. Gateways on Redis look every 2 seconds.
    await vi.waitFor(async () => {
      await log.trim();
      expect(await kept('flood')).toEqual(range(477, 500));
    }, 60_000);
    expect(await kept('busy')).toEqual(range(77, 100));
    expect(await kept('quiet')).toEqual(range(1, 10));
    expect(await kept('single')).toEqual([1]);
    // A subscriber whose next deliveries are dropped is told, as for any retention; the others go on.
    const after = (tenant: string, number: number) => ({
      after: cursors.get(tenant)?.[number - 1],
      limit: 100,
    });
    await expect(log.read('busy', after('busy', 75))).rejects.toMatchObject({ reason: 'trimmed' });
    expect((await log.read('busy', after('busy', 76))).deliveries.map(numberOf)).toEqual(range(77, 100));
    // What fits again is no longer limited.
    await log.append(range(101, 101).map((number) => delivery(number, { tenant: 'busy' })));
    expect((await log.read('busy', { limit: 100 })).deliveries).toHaveLength(25);
  });

  test('with more tenants than all together may keep, each keeps its newest delivery', async () => {
    const log = await openLog({ retentionTotal: 2 });
    for (const tenant of ['a', 'b', 'c', 'd'])
      await log.append(range(1, 3).map((number) => delivery(number, { tenant })));
    for (const tenant of ['a', 'b', 'c', 'd'])
      await vi.waitFor(async () => {
        await log.trim();
        expect((await log.read(tenant, { limit: 10 })).deliveries.map(numberOf)).toEqual([3]);
      }, 60_000);
  });

  test('trims by itself when it is opened', async () => {
    const place = await newPlace();
    const full = await openLog({ place });
    await appendNumbers(full, range(1, 5));
    await full.close();
    const log = await openLog({ place, retentionCount: 2 });
    await vi.waitFor(async () => expect((await readAll(log)).map(numberOf)).toEqual([4, 5]), 120_000);
  });
});

const limited = async (place: Record<string, string>) => {
  await using gateway = await startGateway({
    ...{ UPSTREAM_URL: nowhere, AUTH: 'open', DELIVERY_RETENTION_TOTAL: '5', ...place },
  });
  const { deliveryUrl, head } = await deliveriesOf(gateway.url);
  for (let number = 0; number < 20; number += 1) await deliverUntilStored(deliveryUrl, { body: { number } });
  await vi.waitFor(async () => {
    const { data } = await gateway.query<{ deliveries: { nodes: object[] } }>(
      '{ deliveries { nodes { id } } }',
    );
    expect(data?.deliveries.nodes).toHaveLength(5);
  }, 60_000);
  await using late = subscribe(gateway.url, { after: head });
  await late.ended;
  expect(late.faults).toMatchObject([{ extensions: { code: 'CURSOR_EXPIRED', reason: 'trimmed' } }]);
};

test('the limit of all tenants is a setting, and a subscriber that comes too late is told', async () => {
  await limited({ DATA_DIR: await temporaryDirectory() });
});

test('the limit of all tenants holds for gateways on Redis as well', async (context) => {
  await needRedis(context);
  await limited({ REDIS_URL: (await startRedis()).url });
});
