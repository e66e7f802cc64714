import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { deliver } from '../support/clients/deliver.ts';
import { poll, sleep } from '../support/clients/queries.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The metrics agree with what happened, and clients can't make them grow. */

test('a scrape is of the format, each metric with its help and type', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { families, contentType } = await scrape(gateway.url);
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  const own = [...families.keys()].filter((name) => name.startsWith('gateway_'));
  expect(own.length).toBeGreaterThan(25);
  expect([...families.keys()]).toEqual(expect.arrayContaining(['process_resident_memory_bytes']));
  for (const name of own)
    expect(name).toMatch(families.get(name)?.type === 'counter' ? /_total$/ : /(?<!_total)$/);
});

test('requests, their outcomes and their cost are those that the service saw', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_STALE_MS: '0' });
  const [good, flaky, refused, wrong] = [freshAddress(), freshAddress(), freshAddress(), freshAddress()];
  fake.transactions.set(good, servingTransactions(history(3)));
  fake.transactions.set(flaky, () => ({ status: 503 }));
  fake.transactions.set(refused, () => ({ status: 404, json: { error: 'no' } }));
  fake.transactions.set(wrong, () => ({ text: '<html>' }));
  for (const address of [good, good, flaky, refused, wrong]) await poll(gateway, address);

  const seen = (address: string) => fake.requestsFor(address).length;
  const { sum } = await scrape(gateway.url);
  const outcome = (name: string) =>
    sum('gateway_upstream_requests_total', { resource: 'transactions', outcome: name });
  expect(outcome('success')).toBe(seen(good));
  expect(outcome('unavailable')).toBe(seen(flaky));
  expect(outcome('rejected')).toBe(seen(refused));
  expect(outcome('invalidResponse')).toBe(seen(wrong));
  expect(sum('gateway_upstream_requests_total')).toBe(fake.requests.length);
  expect(sum('gateway_upstream_request_duration_seconds_count')).toBe(fake.requests.length);
  expect(sum('gateway_upstream_retries_total')).toBe(seen(flaky) - 1);
  expect(seen(flaky)).toBe(3);
  expect(sum('gateway_upstream_compute_units_total')).toBe(fake.requests.length);
  expect(sum('gateway_operation_compute_units_total', { type: 'query' })).toBe(fake.requests.length);
  expect(sum('gateway_upstream_requests_in_flight')).toBe(0);
  expect(sum('gateway_page_cache_requests_total', { result: 'miss' })).toBe(4);
  expect(sum('gateway_page_cache_requests_total', { result: 'fresh' })).toBe(1);
  expect(sum('gateway_page_cache_bytes')).toBeGreaterThan(0);
});

test('each operation is counted once, by its type, its transport and the code of its failure', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    MAX_COMPUTE_UNITS: '10',
    CLIENT_COMPUTE_UNITS_PER_MINUTE: '5',
  });
  await gateway.query('{ __typename }');
  await gateway.query('{ nope }');
  await gateway.query('{');
  await gateway.query('{');
  await gateway.post('[]');
  await gateway.post('query=1', { 'content-type': 'text/plain' });
  const wallet = (field: string) => `{ wallet(address: "${freshAddress()}") { ${field} } }`;
  await gateway.query(wallet('collectibles { nodes { name } }'));
  await gateway.query(wallet('transactions(first: 1000) { nodes { hash } }'));
  await gateway.query(wallet('transactions(first: 1000) { nodes { hash } }'));
  await gateway.query(wallet('transactions(first: 1, after: "x") { nodes { hash } }'));
  await gateway.query(
    'mutation { updateWebhook(input: { webhookId: "0193f0a0-0000-7000-8000-000000000001", name: "x" }) { __typename } }',
  );
  const { sum } = await scrape(gateway.url);
  const count = (type: string, code: string) =>
    sum('gateway_operations_total', { type, code, transport: 'http' });
  expect(count('query', 'OK')).toBe(1);
  expect(count('none', 'GRAPHQL_VALIDATION_FAILED')).toBe(1);
  expect(count('none', 'GRAPHQL_PARSE_FAILED')).toBe(2);
  expect(count('none', 'BAD_USER_INPUT')).toBe(2);
  expect(count('query', 'OPERATION_TOO_COMPLEX')).toBe(1);
  expect(count('query', 'COMPUTE_BUDGET_EXCEEDED')).toBe(2);
  expect(count('query', 'INVALID_CURSOR')).toBe(1);
  expect(sum('gateway_operations_total', { type: 'mutation' })).toBe(1);
  expect(sum('gateway_operations_total')).toBe(11);
  expect(sum('gateway_compute_unit_rejections_total', { limit: 'operation' })).toBe(1);
  expect(sum('gateway_compute_unit_rejections_total', { limit: 'client' })).toBe(2);
  expect(sum('gateway_http_requests_total', { route: 'graphql' })).toBe(11);
});

test('pipelined requests are not in flight any more when their connection is cut', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  const request = (target: string) =>
    `${target} HTTP/1.1\r\nhost: ${hostname}\r\naccept: text/event-stream\r\ncontent-length: 0\r\n\r\n`;
  const query = encodeURIComponent('subscription { deliveries { cursor } }');
  socket.write(request(`GET /graphql?query=${query}`) + request('POST /deliveries/a/b').repeat(4));
  const inFlight = async () => (await scrape(gateway.url)).sum('gateway_http_requests_in_flight');
  const SCRAPE = 1;
  await expect.poll(inFlight).toBe(5 + SCRAPE);
  socket.destroy();
  await expect.poll(inFlight).toBe(SCRAPE);
  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_http_requests_total', { route: 'deliveries' })).toBe(4);
});

test('an event stream is counted while it is open', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const leave = new AbortController();
  await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { deliveries { cursor } }' }),
    signal: leave.signal,
  });
  const open = await scrape(gateway.url);
  expect(open.sum('gateway_event_streams')).toBe(1);
  expect(open.sum('gateway_operations_total', { type: 'subscription', transport: 'sse', code: 'OK' })).toBe(
    1,
  );
  leave.abort();
  const streams = async () => (await scrape(gateway.url)).sum('gateway_event_streams');
  while ((await streams()) !== 0) await sleep(10);
});

test('the breaker is seen to open, and to close when the service is back', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0' });
  const before = await scrape(gateway.url);
  for (const name of ['open', 'openings_total'])
    for (const resource of ['transactions', 'collectibles', 'webhooks'])
      expect(before.series.get(`gateway_upstream_circuit_breaker_${name}{resource="${resource}"}`)).toBe(0);
  await fake.goDown();
  for (let turn = 0; turn < 12; turn += 1) await poll(gateway, freshAddress());
  const down = await scrape(gateway.url);
  expect(down.sum('gateway_upstream_circuit_breaker_open')).toBe(1);
  expect(down.sum('gateway_upstream_circuit_breaker_openings_total')).toBe(1);
  expect(await (await fetch(`${gateway.url}/health/ready`)).json()).toEqual({
    status: 'degraded',
    reasons: [{ part: 'upstream', message: expect.stringContaining('transactions') }],
  });

  await fake.comeBack();
  const reply = async () => (await poll(gateway, freshAddress())).errors === undefined;
  while (!(await reply())) await sleep(50);
  expect((await scrape(gateway.url)).sum('gateway_upstream_circuit_breaker_open')).toBe(0);
});

test('deliveries are counted by what became of them, and the log by what it holds', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const bodies = [{ activities: [] }, { transactions: [] }];
  for (const body of [...bodies, ...bodies]) await deliver(deliveryUrl, { body });
  await deliver(deliveryUrl, { body: 'no JSON' });
  await deliver(`${deliveryUrl}x`, { body: {} });
  const { sum } = await scrape(gateway.url);
  const outcome = (name: string) => sum('gateway_deliveries_total', { outcome: name });
  expect(['stored', 'duplicate', '400', '404'].map(outcome)).toEqual([2, 2, 1, 1]);
  expect(sum('gateway_delivery_duration_seconds_count')).toBe(6);
  expect(sum('gateway_log_appended_total')).toBe(2);
  expect(sum('gateway_log_appended_bytes_total')).toBe(
    bodies.reduce((bytes, body) => bytes + JSON.stringify(body).length, 0),
  );
  expect(sum('gateway_log_append_duration_seconds_count')).toBe(4);
  expect(sum('gateway_log_pending_bytes')).toBe(0);
});

/** One of each kind of traffic, everything that a client may make up made up anew. */
const hostile = async (gateway: Awaited<ReturnType<typeof startGateway>>, number: number) => {
  const name = `Made${number}Up`;
  const headers = {
    'x-service-api-key': `key-${number}`,
    'x-request-id': `id-${number}`,
  };
  const operation = `query ${name} { wallet(address: "${freshAddress()}") { transactions(first: 1) { nodes { hash } } } }`;
  await Promise.all([
    gateway.query(operation, {}, headers),
    gateway.query(operation, {}, { ...headers, origin: `http://${name}.example` }),
    gateway.query(`query ${name} { ${name} }`, {}, headers),
    gateway.query(`mutation ${name} { ${name} }`, {}, headers),
    fetch(`${gateway.url}/${name}`),
    fetch(`${gateway.url}/metrics/${name}`),
    fetch(`${gateway.url}/deliveries/${name}/x`, { method: 'POST', body: name }),
    fetch(`${gateway.url}/graphql?query={${name}}`),
  ]);
};

test('hundreds of names, addresses, keys and paths make no more series than one', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    AUTH: 'key',
    UPSTREAM_API_KEY: undefined,
  });
  await hostile(gateway, 0);
  const seriesOf = async () => {
    const { series } = await scrape(gateway.url);
    return [...series.keys()].filter((key) => key.startsWith('gateway_')).sort();
  };
  await seriesOf();
  const before = await seriesOf();
  for (let number = 1; number <= 400; number += 20)
    await Promise.all(Array.from({ length: 20 }, (_, index) => hostile(gateway, number + index)));
  expect(await seriesOf()).toEqual(before);
  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_operations_total', { type: 'query', code: 'OK' })).toBe(401);
});
