import { expect, onTestFinished, test, vi } from 'vitest';
import { FeedCache } from '../../src/deliveries/feed/cache.ts';
import { ChangeNotifier } from '../../src/deliveries/feed/change-notifier.ts';
import { createDeliverySource } from '../../src/deliveries/feed/feed.ts';
import { MergedReads } from '../../src/deliveries/feed/merged-reads.ts';
import { createLog } from '../../src/lib/log.ts';
import { UNATTRIBUTED } from '../../src/server/graphql/attribution.ts';
import { createTelemetry } from '../../src/telemetry/telemetry.ts';
import { appendNumbers, openLog, range, TENANT } from '../deliveries/support/builders.ts';
import { deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { openRawSocket, subscribeMessage } from '../support/clients/raw-socket.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { readExposition, scrape } from '../support/gateway/prometheus.ts';
import { type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';

/** Who reads the log, and who falls behind. */

const linesOf = ({ logLines }: Gateway, msg: string) =>
  logLines.map((line): Record<string, unknown> => JSON.parse(line)).filter((line) => line.msg === msg);

test('a subscriber that falls behind shows by its client, in metrics and in a line of the log, until it has caught up', async () => {
  await using gateway = await startGateway(
    { UPSTREAM_URL: nowhere, CLIENT_NAMES: 'web,slow', OPERATION_LABELS: 'Feed' },
    { times: { lagCheckMs: 20 } },
  );
  const query = 'subscription Feed { deliveries { node { payload } } }';
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  await using quick = subscribe(gateway.url, { connectionParams: { 'graphql-client-name': 'web' } });
  using slow = await openRawSocket(gateway.url, () => {}, {
    'graphql-client-name': 'slow',
    'graphql-client-version': '2.0',
  });
  slow.write(subscribeMessage(query, {}));
  const readers = async () => (await scrape(gateway.url)).sum('gateway_readers');
  await expect.poll(readers, { timeout: 60_000 }).toBe(2);
  slow.stall();
  let posted = 0;
  const post = () => deliver(deliveryUrl, { body: { number: posted++, filler: 'x'.repeat(100_000) } });
  while (linesOf(gateway, 'subscriber falls behind').length === 0) {
    await Promise.all(range(1, 10).map(post));
    await eventually(() => quick.edges.length === posted);
  }

  const [line, ...more] = linesOf(gateway, 'subscriber falls behind');
  expect(more).toEqual([]);
  expect(line).toMatchObject({ level: 'info', client: 'slow', clientVersion: '2.0', operation: 'Feed' });
  expect(line?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(line?.behind).toBeGreaterThan(100);
  // A feed whose readers all wait for their connections hears of new deliveries by its next poll.
  await vi.waitFor(async () => {
    const { sum } = await scrape(gateway.url);
    const lag = sum('gateway_client_reader_lag_deliveries', { client: 'slow' });
    expect(lag).toBeGreaterThan(100);
    expect(sum('gateway_client_reader_lag_deliveries', { client: 'web' })).toBe(0);
    expect(sum('gateway_reader_lag_deliveries')).toBe(lag);
    expect(sum('gateway_readers_behind')).toBe(1);
    expect(sum('gateway_client_event_lag_seconds_count', { client: 'web' })).toBe(posted);
    expect(sum('gateway_client_event_lag_seconds_count', { client: 'slow' })).toBe(posted - lag);
  }, 60_000);

  slow.resume();
  await eventually(() => linesOf(gateway, 'subscriber has caught up').length === 1);
  expect(linesOf(gateway, 'subscriber has caught up')[0]).toMatchObject({
    client: 'slow',
    requestId: line?.requestId,
  });
  const taken = async () => (await scrape(gateway.url)).sum('gateway_client_event_lag_seconds_count');
  await expect.poll(taken, { timeout: 60_000 }).toBe(2 * posted);
  slow.socket.destroy();
  await quick[Symbol.asyncDispose]();
  await expect.poll(readers, { timeout: 60_000 }).toBe(0);
  const { series } = await scrape(gateway.url);
  expect([...series.keys()].filter((key) => key.startsWith('gateway_client_reader_lag'))).toEqual([]);
});

test('a scrape decodes no cursor of readers, however many there are', async () => {
  const { events, scrape: scrapeAll } = createTelemetry({
    log: createLog('error', () => {}),
    cacheBytes: () => 0,
    traces: null,
    resources: [],
    version: '',
    worker: null,
  });
  const log = await openLog();
  const cursors = await appendNumbers(log, range(1, 20));
  const feed = createDeliverySource({
    log,
    reads: new MergedReads(log),
    changeNotifier: new ChangeNotifier(log),
    tenant: TENANT,
    cache: new FeedCache(1_000_000),
    after: null,
    filter: {},
  }).feed({ render: async ({ sequence }) => sequence, sizeOf: () => 8, onIdle: () => {} });
  const opened = cursors.flatMap((cursor) => range(1, 10).map(() => feed.read(cursor, () => {})));
  for (const reader of opened) {
    const lag = () => reader.lag();
    const subscribed = events.subscribed?.({ attributed: UNATTRIBUTED, requestId: '', lag });
    onTestFinished(() => subscribed?.closed());
    reader.take();
  }
  const decoded = vi.spyOn(Buffer, 'from');
  onTestFinished(() => decoded.mockRestore());
  await vi.waitFor(async () => {
    decoded.mockClear();
    const families = readExposition((await scrapeAll()).body);
    const read = (name: string) => families.get(name)?.series.get(name);
    expect(read('gateway_readers')).toBe(200);
    expect(read('gateway_reader_lag_deliveries')).toBe(19);
    expect(read('gateway_readers_behind')).toBe(190);
    // Readers decode cursors themselves, until they have read as much as they may hold.
    expect(decoded.mock.calls.filter((args: readonly unknown[]) => args[1] === 'base64url')).toEqual([]);
  }, 120_000);
  for (const reader of opened) reader.close();
});
