import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { upgrade } from '../../support/clients/raw-http.ts';
import { subscribe } from '../../support/clients/subscribe.ts';
import { pageAt } from '../../support/clients/walk.ts';
import { codesOf, nowhere, startGateway } from '../../support/gateway/start.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { startFakeService } from '../../support/upstream/fake-service.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** Requests of hostile or broken clients. */

test('a rejected upgrade whose peer resets the connection does not affect other clients', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { hostname, port } = new URL(gateway.url);
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(
      'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://evil.example\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    if (attempt % 2) await new Promise((resolve) => setImmediate(resolve));
    socket.resetAndDestroy();
  }
  expect(await gateway.data('{ __typename }')).toEqual({ __typename: 'Query' });
});

test('the connection of a rejected upgrade is destroyed if its peer does not close it', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere }, { times: { closeMs: 1000 } });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(upgrade('/graphql', 'origin: http://evil.example'));
  socket.resume();
  await once(socket, 'end');
  // A peer notices a destroyed connection only when it sends.
  const sending = setInterval(() => socket.write('x'), 100);
  await closed;
  clearInterval(sending);
});

test.each([
  ['application/x-www-form-urlencoded', 'query=mutation{__typename}'],
  ['text/plain', '{"query":"{ __typename }"}'],
  ['application/graphql', '{ __typename }'],
])('a post of %s, which other sites can make a browser send, is not executed', async (type, body) => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const reply = await gateway.post(body, { 'content-type': type });
  expect(reply.status).toBe(415);
  expect(codesOf(reply)).toEqual(['BAD_USER_INPUT']);
  expect(reply.data).toBeUndefined();
});

test('a document nested too deeply for the stack is rejected, and the socket stays open', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  await using deep = subscribe(gateway.url, { query: `{ a(b: ${'['.repeat(1990)}` });
  await deep.ended;
  // The free space on the stack decides which of the two it is.
  expect(codesOf({ errors: deep.faults }).join()).toMatch(/^(OPERATION_TOO_COMPLEX|GRAPHQL_PARSE_FAILED)$/);
  expect(deep.closes).toEqual([]);
  expect(gateway.logLines.every((line) => line.startsWith('{'))).toBe(true);
});

test('an error over WebSocket has a code, and no extension that is meant for HTTP', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  await using wrong = subscribe(gateway.url, { query: '{ nope }' });
  await wrong.ended;
  expect(wrong.faults.map(({ extensions }) => extensions)).toEqual([
    { code: 'GRAPHQL_VALIDATION_FAILED', requestId: expect.any(String) },
  ]);
});

test('a delivery of a hundred thousand items is stored whole, and shows the first ten thousand events', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const body = { activities: Array.from({ length: 100_000 }, () => ({})) };
  expect(await deliver(deliveryUrl, { body })).toBe(200);
  const { deliveries } = await gateway.data<{
    deliveries: { nodes: { payload: unknown; events: unknown[] }[] };
  }>('{ deliveries { nodes { payload events { __typename } } } }');
  expect(deliveries.nodes[0]?.events).toHaveLength(10_000);
  expect(deliveries.nodes[0]?.payload).toEqual(body);
});

test('a delivery of a million items is stored whole and shown as its text; no address is indexed for it', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const address = freshAddress();
  const body = `{"activities":[${'{},'.repeat(1_000_000)}{"to":"${address}"}]}`;
  expect(await deliver(deliveryUrl, { body })).toBe(200);
  const { all, concerning } = await gateway.data<{ [list: string]: { nodes: unknown[] } }>(
    `{ all: deliveries { nodes { type payload events { __typename } } }
       concerning: deliveries(filter: { address: "${address}" }) { nodes { type } } }`,
  );
  expect(all?.nodes).toEqual([{ type: null, payload: body, events: [] }]);
  expect(concerning?.nodes).toEqual([]);
});

test('a URL with a line break never reaches upstream', async () => {
  await using service = await startFakeService();
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  const reply = await gateway.query(
    'mutation ($input: UpdateWebhookInput!) { updateWebhook(input: $input) { __typename } }',
    { input: { webhookId: '0193f0a0-0000-7000-8000-000000000001', url: 'https://x.example/\r\nX: y' } },
  );
  expect(codesOf(reply)).toEqual(['BAD_USER_INPUT']);
  expect(service.requests).toEqual([]);
});

test('nested fragments that double at each level are rejected for the sum of their fields, without an upstream request', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const levels = Array.from(
    { length: 99 },
    (_, level) => `fragment F${level + 1} on TransactionConnection { ...F${level} ...F${level} }`,
  );
  const document = `fragment F0 on TransactionConnection { nodes { hash } } ${levels.join(' ')}
    query ($address: Address!) { wallet(address: $address) { transactions(first: 1) { ...F99 } } }`;
  expect(codesOf(await gateway.query(document, { address: freshAddress() }))).toEqual([
    'OPERATION_TOO_COMPLEX',
  ]);
  expect(fake.requests).toEqual([]);
});

test('the search for a cursor whose item no longer exists costs at most MAX_COMPUTE_UNITS', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    MAX_COMPUTE_UNITS: '10',
    CACHE_TAIL_MS: '0',
  });
  const address = freshAddress();
  const items = history(500);
  fake.transactions.set(address, servingTransactions(items.slice(-1)));
  const { pageInfo } = await pageAt(gateway, 'transactions', address, 1);
  fake.transactions.set(address, servingTransactions(items.slice(0, -1), { by: 'item', sizes: [5] }));
  fake.requests.length = 0;
  const reply = await gateway.query(
    'query ($address: Address!, $after: String) { wallet(address: $address) { transactions(first: 1, after: $after) { nodes { hash } } } }',
    { address, after: pageInfo.endCursor },
  );
  expect(codesOf(reply)).toEqual(['OPERATION_TOO_COMPLEX']);
  expect(reply.extensions.upstream.computeUnits).toBe(10);
  expect(fake.requests.length).toBeLessThanOrEqual(10);
});
