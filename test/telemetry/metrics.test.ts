import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../deliveries/support/builders.ts';
import { deliver } from '../support/clients/deliver.ts';
import { poll, sleep } from '../support/clients/queries.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';
import { root } from '../support/pages.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
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

test('pipelined requests are no longer in flight when their connection is cut', async () => {
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

const idOf = (number: number): string => `0190aaaa-bbbb-7ccc-8ddd-${String(number).padStart(12, '0')}`;

/** The values of a metric by the webhook in its labels. */
const byWebhook = async ({ url }: { readonly url: string }, metric: string) =>
  [...(await scrape(url)).series].flatMap(([key, value]): (readonly [string, number])[] =>
    key.startsWith(`${metric}{`) ? [[/webhook="([^"]*)"/.exec(key)?.[1] ?? '', value]] : [],
  );

test('each webhook shows when its last delivery was stored, and what was rejected', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const [one, two] = [idOf(1), idOf(2)];
  const startedAt = Date.now() / 1000;
  await deliver(deliveryUrl, { webhookId: one, body: { activities: [] } });
  // As upstream repeats it, and as a deployment that names the webhook in the URL alone.
  await deliver(`${deliveryUrl}?webhook=${two}`, { body: { activities: [] } });
  await deliver(deliveryUrl, { webhookId: two, body: 'no JSON' });
  await deliver(deliveryUrl, { webhookId: two, body: 'no JSON' });
  await deliver(deliveryUrl, { body: {} });
  await deliver(`${deliveryUrl}x`, { webhookId: idOf(3), body: {} });
  const last = await byWebhook(gateway, 'gateway_webhook_last_delivery_timestamp_seconds');
  expect(last.map(([webhook]) => webhook)).toEqual([one, two]);
  for (const [, at] of last) expect(at).toBeGreaterThanOrEqual(startedAt);
  expect(await byWebhook(gateway, 'gateway_webhook_rejections_total')).toEqual([[two, 2]]);
});

test('a tenant that invents webhooks makes at most 50, and displaces none of another tenant', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...byToken });
  const urlOf = async (tenant: string) => {
    const headers = bearer(await tokenOf({ tenant }));
    return (await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, headers)).deliveryUrl;
  };
  const [honest, inventive] = await Promise.all([urlOf('honest'), urlOf('inventive')]);
  await deliver(honest, { webhookId: idOf(1), body: {} });
  for (let number = 2; number < 152; number += 1)
    await deliver(inventive, { webhookId: idOf(number), body: { number } });
  await deliver(honest, { webhookId: idOf(500), body: {} });
  await deliver(inventive, { webhookId: idOf(1), body: 'no JSON' });
  const webhooks = (await byWebhook(gateway, 'gateway_webhook_last_delivery_timestamp_seconds')).map(
    ([id]) => id,
  );
  expect(webhooks).toHaveLength(52);
  expect(webhooks).toEqual(expect.arrayContaining([idOf(1), idOf(500)]));
  expect(await byWebhook(gateway, 'gateway_webhook_rejections_total')).toEqual([]);
});

/** `where` is the environment of the log. */
const showsItsSize = async (where: Record<string, string>): Promise<void> => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...byToken, ...where });
  const startedAt = Date.now() / 1000;
  for (const [tenant, count] of Object.entries({ acme: 3, globex: 2 })) {
    const headers = bearer(await tokenOf({ tenant }));
    const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, headers);
    for (let number = 0; number < count; number += 1)
      expect(await deliver(deliveryUrl, { body: { number } })).toBe(200);
  }
  await vi.waitFor(async () => {
    const { sum } = await scrape(gateway.url);
    expect([sum('gateway_log_deliveries'), sum('gateway_log_tenants')]).toEqual([5, 2]);
    expect(sum('gateway_log_bytes')).toBeGreaterThan(500);
    expect(sum('gateway_log_oldest_timestamp_seconds')).toBeGreaterThan(startedAt - 60);
    expect(sum('gateway_log_oldest_timestamp_seconds')).toBeLessThan(Date.now() / 1000 + 1);
  }, 120_000);
};

test('a log in a folder shows how much it holds, how large it is and how old', async () => {
  await showsItsSize({ DATA_DIR: await temporaryDirectory() });
});

test('a log in Redis shows how much it holds, how large it is and how old', async (context) => {
  await needRedis(context);
  await showsItsSize({ REDIS_URL: (await startRedis()).url });
});

test('an empty log has no oldest delivery', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, DATA_DIR: await temporaryDirectory() });
  const { sum, series } = await scrape(gateway.url);
  expect([sum('gateway_log_deliveries'), sum('gateway_log_tenants')]).toEqual([0, 0]);
  expect(sum('gateway_log_bytes')).toBeGreaterThan(0);
  expect(series.has('gateway_log_oldest_timestamp_seconds')).toBe(false);
});

test('the build says which version runs', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const { series } = await scrape(gateway.url);
  const name = `gateway_build_info{version="${version}",node="${process.versions.node}"}`;
  expect(series.get(name)).toBe(1);
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
  for (let number = 1; number <= 200; number += 20)
    await Promise.all(Array.from({ length: 20 }, (_, index) => hostile(gateway, number + index)));
  expect(await seriesOf()).toEqual(before);
  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_operations_total', { type: 'query', code: 'OK' })).toBe(201);
});
