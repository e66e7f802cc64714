import { expect, onTestFinished, test, vi } from 'vitest';
import { FeedCache } from '../../src/deliveries/feed/cache.ts';
import { ChangeNotifier } from '../../src/deliveries/feed/change-notifier.ts';
import { createDeliverySource } from '../../src/deliveries/feed/feed.ts';
import { createLog } from '../../src/lib/log.ts';
import { createTelemetry } from '../../src/telemetry/telemetry.ts';
import { appendNumbers, openLog, range, TENANT } from '../deliveries/support/builders.ts';
import { readExposition } from '../support/gateway/prometheus.ts';

const createSilentTelemetry = () =>
  createTelemetry(
    createLog('error', () => {}),
    () => 0,
    null,
    [],
  );

test('the lag is that of the slowest reader, as of the scrape, and of those that are there still', async () => {
  const { readers, scrape } = createSilentTelemetry();
  const gauges = async () => {
    const families = readExposition((await scrape()).body);
    return ['gateway_readers', 'gateway_readers_behind', 'gateway_reader_lag_deliveries'].map((name) =>
      families.get(name)?.series.get(name),
    );
  };
  expect(await gauges()).toEqual([0, 0, 0]);
  let behind = 0;
  const ends = [readers.reading(() => [behind, 0]), readers.reading(() => [0])];
  expect(await gauges()).toEqual([3, 0, 0]);
  behind = 7;
  expect(await gauges()).toEqual([3, 1, 7]);
  ends[1]?.();
  ends[1]?.();
  expect(await gauges()).toEqual([2, 1, 7]);
  for (const end of ends) end?.();
  expect(await gauges()).toEqual([0, 0, 0]);
});

test('a scrape asks each feed once, and decodes no cursor of its readers', async () => {
  const { readers, scrape } = createSilentTelemetry();
  const log = await openLog();
  const cursors = await appendNumbers(log, range(1, 20));
  let asked = 0;
  const feed = createDeliverySource({
    log,
    changeNotifier: new ChangeNotifier(log),
    tenant: TENANT,
    cache: new FeedCache(1_000_000),
    observer: {
      reading: (lags) =>
        readers.reading(() => {
          asked += 1;
          return lags();
        }),
    },
    after: null,
    filter: {},
  }).feed({ render: async ({ sequence }) => sequence, sizeOf: () => 8, onIdle: () => {} });
  const opened = cursors.flatMap((cursor) => range(1, 10).map(() => feed.read(cursor, () => {})));
  for (const reader of opened) reader.take();
  const decoded = vi.spyOn(Buffer, 'from');
  onTestFinished(() => decoded.mockRestore());
  await vi.waitFor(async () => {
    asked = 0;
    decoded.mockClear();
    const { body } = await scrape();
    expect(readExposition(body).get('gateway_reader_lag_deliveries')?.series).toEqual(
      new Map([['gateway_reader_lag_deliveries', 19]]),
    );
    expect(readExposition(body).get('gateway_readers_behind')?.series).toEqual(
      new Map([['gateway_readers_behind', 190]]),
    );
    expect(asked).toBe(1);
    // Readers decode cursors themselves, until they have read as much as they may hold.
    expect(decoded.mock.calls.filter((args: readonly unknown[]) => args[1] === 'base64url')).toEqual([]);
  }, 120_000);
  for (const reader of opened) reader.close();
});
