import { generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../deliveries/support/builders.ts';
import { deliver } from '../support/clients/deliver.ts';
import { poll } from '../support/clients/queries.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { acceptingKeys, byKey, withKey } from '../support/gateway/keys.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { codesOf, type Gateway, heldKey, nowhere, startGateway } from '../support/gateway/start.ts';
import { bearer, claimsOf, startIssuer } from '../support/gateway/tokens.ts';
import { requestsToBe } from '../support/gateway/wait-for-requests.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The log lines of an operation, found by the id of its response; and what no line contains. */

type Line = Record<string, unknown> & { level: string; msg: string };

const linesOf = ({ logLines }: Gateway, msg: string): Line[] =>
  logLines.map((line): Line => JSON.parse(line)).filter((line) => line.msg === msg);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test('an operation is one line at debug, under the id that its reply carries', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const made = await poll(gateway, freshAddress());
  const given = await poll(gateway, freshAddress(), { 'x-request-id': 'cart-7:retry.2_a' });
  expect(made.headers.get('x-request-id')).toMatch(UUID);
  expect(given.headers.get('x-request-id')).toBe('cart-7:retry.2_a');

  const lines = linesOf(gateway, 'operation answered');
  expect(lines.map(({ requestId }) => requestId)).toEqual([
    made.headers.get('x-request-id'),
    'cart-7:retry.2_a',
  ]);
  const { durationMs, ...line }: Partial<Line> = lines[0] ?? {};
  expect(durationMs).toBeGreaterThan(0);
  expect(line).toMatchObject({
    level: 'debug',
    type: 'query',
    transport: 'http',
    requests: 1,
    computeUnits: 1,
    cached: 0,
  });
});

test('a failure is one line whose level shows whose fault it is, and each upstream attempt has a line', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_STALE_MS: '0' });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ status: 503, text: 'down' }));
  const down = await poll(gateway, address, { 'x-request-id': 'down' });
  expect(down.errors).toHaveLength(1);
  await gateway.query('{ nope }', {}, { 'x-request-id': 'nope' });

  expect(linesOf(gateway, 'operation failed')).toEqual([
    expect.objectContaining({ level: 'warn', codes: ['UPSTREAM_UNAVAILABLE'], requestId: 'down' }),
    expect.objectContaining({ level: 'info', codes: ['GRAPHQL_VALIDATION_FAILED'], requestId: 'nope' }),
  ]);
  expect(linesOf(gateway, 'upstream request failed')).toEqual(
    [1, 2, 3].map((attempt) =>
      expect.objectContaining({
        level: 'warn',
        resource: 'transactions',
        method: 'GET',
        attempt,
        status: 503,
        failure: 'unavailable',
        requestId: 'down',
      }),
    ),
  );
});

test('an operation whose client disconnects before the answer is not counted as a failure', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const silentWallet = () => {
    const address = freshAddress();
    fake.transactions.set(address, () => ({ silent: true }));
    return `{ wallet(address: "${address}") { transactions { nodes { hash } } } }`;
  };
  const leave = new AbortController();
  const answer = fetch(`${gateway.url}/graphql?query=${encodeURIComponent(silentWallet())}`, {
    signal: leave.signal,
  });
  const socket = subscribe(gateway.url, { query: silentWallet() });
  await eventually(() => fake.requests.length === 2);
  leave.abort();
  await expect(answer).rejects.toThrow();
  await socket[Symbol.asyncDispose]();
  await eventually(() => linesOf(gateway, 'operation failed').length === 2);
  expect(linesOf(gateway, 'operation failed').map(({ level, abandoned }) => [level, abandoned])).toEqual([
    ['debug', true],
    ['debug', true],
  ]);
  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_operations_total', { type: 'query', code: 'ABANDONED' })).toBe(2);
  expect(sum('gateway_upstream_requests_total', { outcome: 'aborted' })).toBe(2);
});

test('over WebSocket each operation has an id of its own, which its errors carry', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_STALE_MS: '0' });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ status: 400, json: { error: 'no' } }));
  const query = `{ wallet(address: "${address}") { transactions { nodes { hash } } } }`;
  await using first = subscribe(gateway.url, { query });
  await using second = subscribe(gateway.url, { query });
  await Promise.all([first.ended, second.ended]);
  const extensions = [first, second].map(({ faults }) => faults[0]?.extensions as { requestId?: string });
  const lines = linesOf(gateway, 'operation failed');
  expect(lines.map(({ transport }) => transport)).toEqual(['websocket', 'websocket']);
  expect(new Set(lines.map(({ requestId }) => requestId))).toEqual(
    new Set(extensions.map(({ requestId }) => requestId)),
  );
  expect(new Set(extensions.map(({ requestId }) => requestId)).size).toBe(2);
});

test('a fault of the gateway is an error with its stack, of which the client learns the id alone', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, DATA_DIR: await temporaryDirectory() });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  await deliver(deliveryUrl, { body: {} });
  // A delivery that came when no calendar has a day is no client's business.
  const intruder = new DatabaseSync(join(gateway.dataDir, 'deliveries.db'));
  intruder.exec('UPDATE delivery SET received = 9007199254740991');
  intruder.close();
  const query = '{ deliveries { nodes { receivedAt } } }';
  const reply = await gateway.query(query, {}, { 'x-request-id': 'broken' });
  expect(codesOf(reply)).toEqual(['INTERNAL_SERVER_ERROR']);
  expect(reply.body).not.toContain(gateway.dataDir);

  const [line, ...more] = linesOf(gateway, 'operation failed');
  expect(more).toEqual([]);
  expect(line).toMatchObject({ level: 'error', codes: ['INTERNAL_SERVER_ERROR'], requestId: 'broken' });
  expect(line?.errors).toEqual([expect.stringMatching(/^RangeError: .*\n {4}at /)]);
});

/** An issuer whose RSA key is shorter than jose accepts, which jose reports by a TypeError, and a token signed with it. */
const startIssuerOfShortKey = async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const issuer = await startIssuer({ ...publicKey.export({ format: 'jwk' }), kid: 'short', alg: 'RS256' });
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encoded({ alg: 'RS256', kid: 'short' })}.${encoded(claimsOf())}`;
  return {
    issuer,
    token: `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`,
  };
};

test('an unexpected error before the operation runs is one line as well, with its stack and the request id', async () => {
  const { issuer, token } = await startIssuerOfShortKey();
  await using _ = issuer;
  await using gateway = await startGateway({ AUTH: 'jwt', JWT_JWKS_URL: issuer.url });
  const reply = await gateway.query('{ __typename }', {}, { ...bearer(token), 'x-request-id': 'short-key' });
  expect(codesOf(reply)).toEqual(['INTERNAL_SERVER_ERROR']);
  await using socket = subscribe(gateway.url, { query: '{ __typename }', connectionParams: bearer(token) });
  await socket.ended;
  const { requestId } = { ...socket.faults[0]?.extensions } as { requestId?: string };

  const lines = gateway.logLines
    .map((line): Line => JSON.parse(line))
    .filter(({ level }) => level === 'error');
  expect(lines.map((line) => [line.transport, line.requestId])).toEqual([
    ['http', 'short-key'],
    ['websocket', requestId],
  ]);
  for (const { errors } of lines) expect(errors).toEqual([expect.stringMatching(/^TypeError: .*\n {4}at /)]);
});

test('no line holds a key, a delivery url or what the service said, at any level', async () => {
  await using fake = await startFakeWallets();
  const clientKey = 'a-clients-own-key-77aa';
  const secret = 'the-secret-that-signs-urls';
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    ...byKey,
    DELIVERY_SECRET: secret,
    CACHE_STALE_MS: '0',
  });
  const headers = withKey(clientKey);
  fake.script.other = acceptingKeys;
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, headers);
  const token = deliveryUrl.split('/').at(-1) ?? '';
  const said = 'the sentence of the service';
  fake.script.other = () => ({ status: 400, json: { error: `${said}: ${deliveryUrl} ${clientKey}` } });
  const update = `mutation ($input: UpdateWebhookInput!) { updateWebhook(input: $input) { __typename } }`;
  const webhookId = '0193f0a0-0000-7000-8000-000000000001';
  for (const status of [401, 403, 402, 429, 500, 503]) {
    const address = freshAddress();
    fake.transactions.set(address, () => ({ status, json: { error: `${said} ${clientKey}` } }));
    await poll(gateway, address, headers);
  }
  await gateway.query(update, { input: { webhookId, url: deliveryUrl } }, headers);
  await gateway.query(update, { input: { webhookId: deliveryUrl, url: clientKey } }, headers);
  await gateway.query(`{ wallet(address: "${deliveryUrl}") { id } }`, {}, headers);
  await gateway.query('{ __typename }', {}, { 'x-service-api-key': `${clientKey} \u00e9` });
  await gateway.query('{ __typename }');
  await deliver(deliveryUrl, { body: {} });
  await deliver(`${deliveryUrl}x`, { body: {} });
  await using socket = subscribe(gateway.url, { connectionParams: { 'X-Service-Api-Key': clientKey } });
  await socket.opened;
  await eventually(() => linesOf(gateway, 'operation answered').some(({ type }) => type === 'subscription'));
  await gateway.stop();

  const log = gateway.logLines.join('');
  expect(gateway.logLines.length).toBeGreaterThan(10);
  for (const hidden of [
    clientKey,
    heldKey,
    token,
    deliveryUrl,
    '/deliveries/',
    secret,
    said,
    clientKey.slice(5),
  ])
    expect([hidden, log.includes(hidden)]).toEqual([hidden, false]);
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a valid traceparent goes on to each upstream request under a span id of its own', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_STALE_MS: '0' });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ status: 503 }));
  await poll(gateway, address, { traceparent: `00-${TRACE}-${SPAN}-01` });
  const sent = fake.requests.map(({ headers }) => String(headers.traceparent));
  expect(sent).toHaveLength(3);
  for (const traceparent of sent) expect(traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  expect(new Set([...sent, SPAN].map((traceparent) => traceparent.split('-').at(-2) ?? SPAN)).size).toBe(4);
  expect(linesOf(gateway, 'operation failed')).toEqual([expect.objectContaining({ traceId: TRACE })]);
});

test.each([
  ['later versions are passed on as version 00', `cc-${TRACE}-${SPAN}-03-more`, `00-${TRACE}-`],
  ['what is not sampled stays so', `00-${TRACE}-${SPAN}-00`, `00-${TRACE}-`],
])('%s', async (_what, traceparent, expected) => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  await poll(gateway, freshAddress(), { traceparent });
  const sent = String(fake.requests[0]?.headers.traceparent);
  expect(sent.startsWith(expected)).toBe(true);
  expect(sent.endsWith(traceparent.includes('-03') ? '-01' : '-00')).toBe(true);
});

test.each([
  '',
  'nonsense',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `cc-${TRACE}-${SPAN}-01-${'x'.repeat(600)}`,
])('an invalid traceparent is not passed on: %s', async (traceparent) => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  await poll(gateway, freshAddress(), { traceparent });
  expect(fake.requests[0]?.headers.traceparent).toBeUndefined();
});

test('a request that operations share belongs to the trace of the operation that started it', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const release = Promise.withResolvers<void>();
  const serve = servingTransactions(history(1));
  fake.transactions.set(address, async (request) => {
    await release.promise;
    return serve(request);
  });
  const first = poll(gateway, address, { traceparent: `00-${TRACE}-${SPAN}-01` });
  await eventually(() => fake.requests.length === 1);
  const second = poll(gateway, address, { traceparent: `00-${'1'.repeat(32)}-${SPAN}-01` });
  await requestsToBe(gateway.url, 2);
  release.resolve();
  await Promise.all([first, second]);
  expect(fake.requests.map(({ headers }) => String(headers.traceparent).slice(3, 35))).toEqual([TRACE]);
});
