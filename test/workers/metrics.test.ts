import { expect, test } from 'vitest';
import { activity, deliveriesOf, deliverUntilStored } from '../support/clients/deliver.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { spawnWorkers } from '../support/gateway/workers.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { freshAddress } from '../support/upstream/builders.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** A scrape reaches one worker, and shows what all of them have done. */

const [LOOKUPS, DELIVERIES, READERS] = [40, 30, 6];

/** Over a connection of its own, so that the system spreads them. */
const lookUp = async (url: string): Promise<void> => {
  const query = `{ wallet(address: "${freshAddress()}") { transactions(first: 1) { nodes { hash } } } }`;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'graphql-client-name': 'web', 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ query }),
  });
  expect(await response.json()).toMatchObject({ data: { wallet: { transactions: { nodes: [] } } } });
};

/** What has been counted of lookups, each of which is one request to the service. */
const lookupsIn = ({ sum }: Awaited<ReturnType<typeof scrape>>) => ({
  operations: sum('gateway_client_operations_total', { client: 'web', outcome: 'ok' }),
  durations: sum('gateway_client_operation_duration_seconds_count', { client: 'web' }),
  computeUnits: sum('gateway_client_compute_units_total', { client: 'web' }),
  requests: sum('gateway_upstream_requests_total', { resource: 'transactions', outcome: 'success' }),
  answers: sum('gateway_upstream_request_duration_seconds_count', { resource: 'transactions' }),
});

const all = (count: number) => ({
  operations: count,
  durations: count,
  computeUnits: count,
  requests: count,
  answers: count,
});

test('the metrics of all workers are summed as those of one process, and no count falls when a worker ends', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  await using made = new AsyncDisposableStack();
  const gateway = made.use(
    await spawnWorkers(redis.url, { UPSTREAM_URL: fake.url, CLIENT_NAMES: 'web', TENANT_METRICS: 'on' }),
  );
  const { url } = gateway;
  const { deliveryUrl } = await deliveriesOf(url);
  const readers = Array.from({ length: READERS }, () => made.use(subscribe(url)));
  const open = async (count: number) =>
    expect.poll(async () => (await scrape(url)).sum('gateway_readers')).toBe(count);
  await open(READERS);
  for (let number = 0; number < DELIVERIES; number += 1)
    await deliverUntilStored(deliveryUrl, { body: activity(number) });
  for (let count = 0; count < LOOKUPS; count += 1) await lookUp(url);
  await eventually(() => readers.every(({ edges }) => edges.length === DELIVERIES));

  const before = await scrape(url);
  expect(lookupsIn(before)).toEqual(all(LOOKUPS));
  expect(before.sum('gateway_deliveries_total', { outcome: 'stored' })).toBe(DELIVERIES);
  expect(before.sum('gateway_log_appended_total')).toBe(DELIVERIES);
  expect(before.sum('gateway_client_event_lag_seconds_count')).toBe(DELIVERIES * READERS);
  expect(before.sum('gateway_websockets')).toBe(READERS);
  expect(before.sum('gateway_workers')).toBe(2);
  // A sum of these would say what is not so.
  expect(before.sum('gateway_build_info')).toBe(1);
  // The size of the log is measured now and then.
  await expect.poll(async () => (await scrape(url)).sum('gateway_log_deliveries')).toBe(DELIVERIES);
  // The tenants of each worker are its own series: it may show others at any time.
  expect(before.sum('gateway_tenant_compute_units_total')).toBe(LOOKUPS);
  for (const worker of ['1', '2'])
    expect(before.sum('gateway_tenant_compute_units_total', { worker })).toBeGreaterThan(0);

  const [killed = 0] = await gateway.pids();
  process.kill(killed, 'SIGKILL');
  await eventually(() => gateway.said('worker ended').length === 1);
  const without = await scrape(url);
  expect(lookupsIn(without)).toEqual(all(LOOKUPS));
  expect(without.sum('gateway_client_event_lag_seconds_count')).toBe(DELIVERIES * READERS);
  await gateway.restarted(1);
  await lookUp(url);
  const after = await scrape(url);
  expect(lookupsIn(after)).toEqual(all(LOOKUPS + 1));
  expect(after.sum('gateway_websockets')).toBe(readers.filter(({ closes }) => closes.length === 0).length);
  expect([after.sum('gateway_workers'), after.sum('gateway_worker_exits_total')]).toEqual([2, 1]);
});
