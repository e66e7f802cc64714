import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { activity, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { listenToEvents } from '../support/clients/event-stream.ts';
import { askInParts } from '../support/clients/parts.ts';
import { poll } from '../support/clients/queries.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { requestsToBe } from '../support/gateway/wait-for-requests.ts';
import { PORTFOLIO, startPortfolio } from '../support/lookups/portfolio.ts';
import { startOtlpReceiver } from '../support/observability/otlp-receiver.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The spans that a real receiver of OTLP gets, and how they belong together. */

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;

test('a query is one trace, from its client to each attempt of an upstream request', async () => {
  await using fake = await startFakeWallets();
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...receiver.env });
  const address = freshAddress();
  const serve = servingTransactions(history(3));
  let attempts = 0;
  fake.transactions.set(address, (request) => {
    attempts += 1;
    return attempts === 1 ? { status: 503, text: 'busy' } : serve(request);
  });
  const query = 'query Newest($a: Address!) { wallet(address: $a) { transactions { nodes { hash } } } }';
  const { data } = await gateway.query(query, { a: address }, { traceparent: `00-${TRACE}-${SPAN}-01` });
  expect(data).toBeTruthy();

  const [request] = await receiver.named('POST /graphql');
  const spans = receiver.spans();
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  const child = (name: string, parent = request) => {
    const found = spans.filter((span) => span.name === name && span.parentSpanId === parent?.spanId);
    return found.toSorted((one, other) => one.startMs - other.startMs);
  };
  expect(request).toMatchObject({
    parentSpanId: SPAN,
    kind: SERVER,
    status: 0,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'http.response.status_code': 200,
      'network.protocol.version': '1.1',
    },
  });
  expect(child('graphql.parse')).toHaveLength(1);
  expect(child('graphql.validate')).toHaveLength(1);
  const [operation] = child('query');
  expect(operation?.attributes).toEqual({
    'graphql.operation.type': 'query',
    'graphql.operation.name': 'Newest',
    'gateway.document.sha256': createHash('sha256').update(query).digest('hex'),
    'gateway.transport': 'http',
    'gateway.client.name': 'other',
    'gateway.estimated_compute_units': 1,
    'gateway.upstream.requests': 2,
    'gateway.upstream.compute_units': 2,
    'gateway.upstream.cached': 0,
  });
  const [page] = child('page transactions', operation);
  expect(page?.attributes).toEqual({ 'gateway.resource': 'transactions', 'gateway.cache.result': 'miss' });
  const [failed, retried, ...more] = child('GET transactions', page);
  expect(more).toEqual([]);
  expect(failed).toMatchObject({
    kind: CLIENT,
    status: 2,
    attributes: {
      'http.response.status_code': 503,
      'error.type': 'unavailable',
      'server.address': '127.0.0.1',
      'gateway.upstream.compute_units': 1,
    },
  });
  expect(retried).toMatchObject({
    kind: CLIENT,
    status: 0,
    attributes: {
      'http.response.status_code': 200,
      'http.request.resend_count': 1,
      'gateway.upstream.compute_units': 1,
    },
  });
  // Upstream gets the ids of these very spans.
  expect(fake.requests.map(({ headers }) => headers.traceparent)).toEqual(
    [failed, retried].map((attempt) => `00-${TRACE}-${attempt?.spanId}-01`),
  );
  expect(gateway.logLines.some((line) => line.includes('operation answered') && line.includes(TRACE))).toBe(
    true,
  );
});

test('an answer in parts is one operation, which lasts until its last part', async () => {
  await using receiver = await startOtlpReceiver();
  await using portfolio = await startPortfolio(receiver.env);
  const { gateway, variables, release } = portfolio;
  const answer = await askInParts(gateway.url, { query: PORTFOLIO, variables });
  await answer.next();
  await receiver.named('page transactions');
  expect(receiver.spans().map(({ name }) => name)).not.toContain('query');
  release();
  await answer.rest();
  const [operation] = await receiver.named('query');
  expect(operation?.attributes).toMatchObject({ 'gateway.upstream.requests': 2 });
  const pages = await receiver.named('page transactions', 2);
  expect(pages.map(({ parentSpanId }) => parentSpanId)).toEqual([operation?.spanId, operation?.spanId]);
  await receiver.named('POST /graphql');
});

test('an attempt that is not sent is a span as well, which says why', async () => {
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...receiver.env });
  // Ten failures in a row open the circuit breaker.
  for (let turn = 0; turn < 12; turn += 1) await poll(gateway, freshAddress());
  await gateway.stop();
  const attempts = receiver.spans().filter(({ name }) => name === 'GET transactions');
  const unsent = attempts.filter(({ attributes }) => attributes['gateway.upstream.sent'] === false);
  const sent = attempts.filter((attempt) => !unsent.includes(attempt));
  expect(sent.length).toBeGreaterThanOrEqual(10);
  expect(unsent.length).toBeGreaterThan(0);
  for (const { kind, status, attributes } of sent)
    expect([kind, status, attributes['error.type']]).toEqual([CLIENT, 2, 'unavailable']);
  for (const { kind, status, attributes } of unsent)
    expect([kind, status, attributes['error.type']]).toEqual([INTERNAL, 2, 'unavailable']);
});

test('a document that is known is not parsed again, and a page of the cache causes no request', async () => {
  await using fake = await startFakeWallets();
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...receiver.env });
  const address = freshAddress();
  const alias = `query ($a: Address!) { w: wallet(address: $a) { transactions(first: 5) { nodes { hash } } } }`;
  for (const _ of [1, 2, 3]) await poll(gateway, address);
  await gateway.query(alias, { a: address });
  await receiver.named('POST /graphql', 4);
  const of = (name: string) => receiver.spans().filter((span) => span.name === name);
  expect(of('graphql.parse')).toHaveLength(2);
  expect(of('GET transactions')).toHaveLength(1);
  expect(
    new Set(of('page transactions').map(({ attributes }) => attributes['gateway.cache.result'])),
  ).toEqual(new Set(['miss', 'fresh']));
  const shared = of('query').map(({ attributes }) => attributes['gateway.answer.shared']);
  expect(shared.filter(Boolean)).toHaveLength(1);
});

test('an operation that joins the request of another is linked to it', async () => {
  await using fake = await startFakeWallets();
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...receiver.env });
  const address = freshAddress();
  const release = Promise.withResolvers<void>();
  fake.transactions.set(address, async (request) => {
    await release.promise;
    return servingTransactions(history(1))(request);
  });
  const first = poll(gateway, address);
  await eventually(() => fake.requests.length === 1);
  const second = gateway.query(`{ wallet(address: "${address}") { transactions { nodes { hash } } } }`);
  await requestsToBe(gateway.url, 2);
  release.resolve();
  await Promise.all([first, second]);
  const [made, joined] = await receiver.named('page transactions', 2);
  expect(made?.attributes['gateway.cache.result']).toBe('miss');
  expect(joined?.attributes['gateway.cache.result']).toBe('coalesced');
  expect(joined?.links).toEqual([made?.spanId]);
  expect(joined?.traceId).not.toBe(made?.traceId);
  const [request] = await receiver.named('GET transactions');
  expect(request?.parentSpanId).toBe(made?.spanId);
});

test('each operation of a WebSocket has a span, also one that is rejected', async () => {
  await using fake = await startFakeWallets();
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...receiver.env });
  const query = `query Mine { wallet(address: "${freshAddress()}") { transactions { nodes { hash } } } }`;
  await using good = subscribe(gateway.url, { query });
  await good.ended;
  await using bad = subscribe(gateway.url, { query: '{ nope }' });
  await bad.ended;
  const [answered, rejected] = await receiver.named('WEBSOCKET /graphql', 2);
  expect(answered).toMatchObject({ kind: SERVER, parentSpanId: '' });
  const below = (span = answered) =>
    receiver.spans().filter(({ parentSpanId }) => parentSpanId === span?.spanId);
  expect(below().map(({ name }) => name)).toEqual(
    expect.arrayContaining(['graphql.parse', 'graphql.validate', 'query']),
  );
  expect(rejected?.attributes['gateway.error.codes']).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  expect(below(rejected).find(({ name }) => name === 'graphql.validate')?.status).toBe(2);
});

test('an event has a trace of its own, linked to the append of its delivery and to its subscription', async () => {
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...receiver.env });
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  await using socket = subscribe(gateway.url, {
    query: 'subscription Live { deliveries { cursor node { type } } }',
  });
  using stream = await listenToEvents(
    gateway.url,
    'subscription Live { deliveries { cursor node { type } } }',
  );
  // The requests of subscriptions have ended for their spans, although they are open.
  const [begun] = await receiver.named('GET /graphql');
  expect(begun?.attributes['http.response.status_code']).toBe(200);
  const subscriptions = await receiver.named('subscription', 2);
  expect(await deliver(deliveryUrl, { type: 'activities', body: activity(1) })).toBe(200);
  await eventually(() => stream.text().includes('event: next') && socket.edges.length === 1);

  const [post] = await receiver.named('POST /deliveries/{tenant}/{token}');
  const [append] = await receiver.named('delivery log append');
  const events = await receiver.named('event');
  expect(append?.parentSpanId).toBe(post?.spanId);
  expect(append?.attributes).toEqual({ 'gateway.deliveries.stored': 1, 'gateway.deliveries.duplicates': 0 });
  for (const event of events) {
    expect(event.parentSpanId).toBe('');
    expect(event.traceId).not.toBe(append?.traceId);
    expect(event.links[0]).toBe(append?.spanId);
    expect(subscriptions.map(({ spanId }) => spanId)).toContain(event.links[1]);
    expect(event.attributes).toMatchObject({ 'graphql.operation.name': 'Live' });
  }
});
