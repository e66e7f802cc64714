import { expect, test } from 'vitest';
import { poll } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { startGateway } from '../support/gateway/start.ts';
import { requestsToBe } from '../support/gateway/wait-for-requests.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** Neither the cache nor the metrics count a client that disconnects as a failure of upstream. */

/** Has no request time out by itself. */
const NO_TIMEOUT = { UPSTREAM_TIMEOUT_MS: '60000' };

const startQuery = (url: string, address: string) => {
  const controller = new AbortController();
  const query = `{ wallet(address: "${address}") { transactions { nodes { hash } } } }`;
  const closed = fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    signal: controller.signal,
  }).then(
    () => {},
    () => {},
  );
  return {
    disconnect() {
      controller.abort();
      return closed;
    },
  };
};

test('a client that disconnects while its page is fetched gets no stale page, and counts as a miss', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0', ...NO_TIMEOUT });
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(2)));
  await poll(gateway, address);

  fake.transactions.set(address, () => ({ silent: true }));
  const client = startQuery(gateway.url, address);
  await eventually(() => fake.requests.length === 2);
  await client.disconnect();
  await eventually(() => fake.requests[1]?.abandoned === true);

  const { sum } = await scrape(gateway.url);
  const served = (result: string) => sum('gateway_page_cache_requests_total', { result });
  expect({ stale: served('stale_if_error'), miss: served('miss') }).toEqual({ stale: 0, miss: 2 });
});

test('a client that disconnects while its request is queued counts as aborted, not as an open circuit breaker', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    UPSTREAM_CONNECTIONS: '1',
    ...NO_TIMEOUT,
  });
  const [first, second] = [freshAddress(), freshAddress()];
  const released = Promise.withResolvers<void>();
  const serve = servingTransactions(history(2));
  fake.transactions.set(first, async (request) => {
    await released.promise;
    return serve(request);
  });
  const running = poll(gateway, first);
  await eventually(() => fake.requests.length === 1);
  const queued = startQuery(gateway.url, second);
  const sumOf = async (name: string, labels = {}) => (await scrape(gateway.url)).sum(name, labels);
  await requestsToBe(gateway.url, 2);
  await queued.disconnect();
  const unsent = async () => ({
    aborted: await sumOf('gateway_upstream_rejected_before_send_total', { reason: 'aborted' }),
    all: await sumOf('gateway_upstream_rejected_before_send_total'),
  });
  await expect.poll(unsent).toEqual({ aborted: 1, all: 1 });
  released.resolve();
  await running;
  expect(fake.requests).toHaveLength(1);
});
