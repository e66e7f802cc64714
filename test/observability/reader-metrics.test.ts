import { expect, test } from 'vitest';
import { createLog } from '../../src/logger.ts';
import { createTelemetry } from '../../src/telemetry/telemetry.ts';
import { readExposition } from '../support/gateway/prometheus.ts';

test('the lag is that of the slowest reader, as of the scrape, and of those that are there still', async () => {
  const { readers, scrape } = createTelemetry(
    createLog('error', () => {}),
    () => 0,
  );
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
  for (const end of ends) end();
  expect(await gauges()).toEqual([0, 0, 0]);
});
