import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import WebSocket from 'ws';
import { listenToEvents } from '../support/clients/event-stream.ts';
import { exchange } from '../support/clients/raw-exchange.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';
import { idOf, startTrusting } from '../support/gateway/trusted.ts';
import { startOtlpReceiver } from '../support/observability/otlp-receiver.ts';
import { runs } from '../support/runs.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** Who sent an operation, and which one it was: in metrics, log lines and spans, and only in the words of a list. */

type Line = { readonly msg: string } & Record<string, unknown>;

const operationLines = ({ logLines }: Pick<Gateway, 'logLines'>): Line[] =>
  logLines.map((line): Line => JSON.parse(line)).filter(({ msg }) => msg.startsWith('operation '));

const WALLET =
  'query Wallet($address: Address!) { wallet(address: $address) { transactions(first: 1) { nodes { hash } } } }';
const CHAINS = 'query Chains { chains { name } }';
const shortId = (document: string) => idOf(document).slice(0, 12);

test('requests, errors, time and compute units are those of the client and the trusted document', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startTrusting([WALLET, CHAINS], {
    UPSTREAM_URL: fake.url,
    CLIENT_NAMES: 'web, ios',
    CACHE_STALE_MS: '0',
  });
  const ask = (document: string, variables: object, headers: Record<string, string>) =>
    gateway.post(JSON.stringify({ documentId: idOf(document), variables }), headers);
  const web = { 'graphql-client-name': 'web', 'graphql-client-version': '3.1.4' };
  for (let times = 0; times < 3; times += 1) await ask(WALLET, { address: freshAddress() }, web);
  await ask(CHAINS, {}, { 'apollographql-client-name': 'ios', 'apollographql-client-version': 'v7' });
  const down = freshAddress();
  fake.transactions.set(down, () => ({ status: 503 }));
  await ask(WALLET, { address: down }, web);
  await gateway.query('{ __typename }', {}, web);

  const { sum } = await scrape(gateway.url);
  const ofWallet = { client: 'web', operation: 'Wallet', document: shortId(WALLET) };
  const ofChains = { client: 'ios', operation: 'Chains', document: shortId(CHAINS) };
  const unknown = { client: 'web', operation: 'other', document: 'other' };
  const counted = (labels: Record<string, string>) => sum('gateway_client_operations_total', labels);
  expect(counted({ ...ofWallet, outcome: 'ok' })).toBe(3);
  expect(counted({ ...ofWallet, outcome: 'failed' })).toBe(1);
  expect(counted({ ...ofChains, outcome: 'ok' })).toBe(1);
  expect(counted({ ...unknown, outcome: 'failed' })).toBe(1);
  expect(counted({})).toBe(6);
  const errors = (labels: Record<string, string>) => sum('gateway_client_errors_total', labels);
  expect(errors({ client: 'web', code: 'UPSTREAM_UNAVAILABLE' })).toBe(1);
  expect(errors({ client: 'web', code: 'FORBIDDEN' })).toBe(1);
  expect(errors({})).toBe(2);
  expect(sum('gateway_client_operation_duration_seconds_count', ofWallet)).toBe(4);
  expect(sum('gateway_client_compute_units_total', ofWallet)).toBe(fake.requests.length);
  expect(sum('gateway_client_compute_units_total')).toBe(sum('gateway_operation_compute_units_total'));

  expect(operationLines(gateway).map((line) => [line.client, line.clientVersion, line.operation])).toEqual([
    ...Array(3).fill(['web', '3.1.4', 'Wallet']),
    ['ios', 'v7', 'Chains'],
    ['web', '3.1.4', 'Wallet'],
    ['web', '3.1.4', 'other'],
  ]);
  expect(operationLines(gateway)[0]).toMatchObject({ document: shortId(WALLET), estimatedComputeUnits: 1 });
});

test('operations that are refused before they run are attributed too: 401, 402 and 429', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    ...byToken,
    CLIENT_NAMES: 'web',
    OPERATION_LABELS: 'Wallet',
    CLIENT_COMPUTE_UNITS_PER_MINUTE: '1',
  });
  const web = { 'graphql-client-name': 'web' };
  const asAlice = { ...web, ...bearer(await tokenOf()) };
  const codes: string[] = [];
  const ask = async (document: string, headers: Record<string, string>) => {
    const reply = await gateway.query(document, { address: freshAddress() }, headers);
    codes.push(...codesOf(reply));
  };
  await ask(WALLET, web);
  for (let times = 0; times < 2; times += 1) await ask(WALLET, asAlice);
  // New documents are limited, too. Each of these counts as 2,000 tokens of 200,000 a minute.
  for (let number = 0; !codes.includes('RATE_LIMITED'); number += 1)
    await ask(`{ ${number} ${' '.repeat(8000)}`, asAlice);

  const refused = operationLines(gateway).filter(({ msg }) => msg === 'operation failed');
  const shown = refused.map((line) => [line.codes, line.client, line.operation].join(' '));
  expect(shown.filter((line) => !line.startsWith('GRAPHQL_PARSE_FAILED'))).toEqual([
    'UNAUTHENTICATED web other',
    'COMPUTE_BUDGET_EXCEEDED web Wallet',
    'RATE_LIMITED web other',
  ]);
  const { sum } = await scrape(gateway.url);
  for (const code of ['UNAUTHENTICATED', 'COMPUTE_BUDGET_EXCEEDED', 'RATE_LIMITED'])
    expect([code, sum('gateway_client_errors_total', { client: 'web', code })]).toEqual([code, 1]);
});

/** Runs one operation over a WebSocket whose upgrade has these headers. */
const askWithHeaders = async (gatewayUrl: string, query: string, headers: Record<string, string>) => {
  const webSocketImpl = class extends WebSocket {
    constructor(url: string, protocols: string) {
      super(url, protocols, { headers });
    }
  };
  const client = createClient({ url: `${gatewayUrl.replace('http', 'ws')}/graphql`, webSocketImpl });
  for await (const _ of client.iterate({ query })) break;
  await client.dispose();
};

test('a WebSocket is of the client in connection_init, else in its headers; an event stream of that in its headers', async () => {
  await using gateway = await startGateway({
    UPSTREAM_URL: nowhere,
    CLIENT_NAMES: 'web,ios,android',
    OPERATION_LABELS: 'Feed',
  });
  const query = 'query Feed { __typename }';
  const named = { 'Apollographql-Client-Name': 'ios', 'apollographql-client-version': '9.0' };
  const events = 'subscription Feed { deliveries { cursor } }';
  await using one = subscribe(gateway.url, { query, connectionParams: named });
  await one.ended;
  await using stream = subscribe(gateway.url, { query: events, connectionParams: named });
  await eventually(() => operationLines(gateway).length === 2);
  await askWithHeaders(gateway.url, query, { 'graphql-client-name': 'android' });
  await using unnamed = subscribe(gateway.url, {
    query,
    connectionParams: { 'graphql-client-name': ['web'] },
  });
  await unnamed.ended;
  using _ = await listenToEvents(gateway.url, events, { 'graphql-client-name': 'web' });
  await eventually(() => operationLines(gateway).length === 5);
  expect(
    operationLines(gateway).map(({ transport, type, client, clientVersion, operation }) =>
      [transport, type, client, clientVersion, operation].join(' '),
    ),
  ).toEqual([
    'websocket query ios 9.0 Feed',
    'websocket subscription ios 9.0 Feed',
    'websocket query android  Feed',
    'websocket query other  Feed',
    'sse subscription web  Feed',
  ]);
  expect(stream.faults).toEqual([]);
});

test("Apollo Client's own client awareness names the client", async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, CLIENT_NAMES: 'web' });
  const client = new ApolloClient({
    link: new HttpLink({ uri: `${gateway.url}/graphql` }),
    cache: new InMemoryCache(),
    clientAwareness: { name: 'web', version: '3.1.4' },
  });
  await client.query({ query: gql(CHAINS) });
  client.stop();
  expect(operationLines(gateway)).toEqual([
    expect.objectContaining({ client: 'web', clientVersion: '3.1.4', msg: 'operation answered' }),
  ]);
});

test('the span of an operation says its client, and so does that of a refused request', async () => {
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, CLIENT_NAMES: 'web', ...receiver.env });
  const web = { 'graphql-client-name': 'web', 'graphql-client-version': '1.0.0-rc.1' };
  await gateway.query('{ __typename }', {}, web);
  await gateway.query('{ nothing }', {}, web);
  await receiver.named('query');
  await eventually(() => receiver.spans().filter(({ name }) => name === 'POST /graphql').length === 2);
  const client = { 'gateway.client.name': 'web', 'gateway.client.version': '1.0.0-rc.1' };
  expect(receiver.spans().find(({ name }) => name === 'query')?.attributes).toMatchObject(client);
  expect(
    receiver.spans().find(({ attributes }) => attributes['gateway.error.codes'] !== undefined)?.attributes,
  ).toMatchObject(client);
});

/** The gateway's series, without the values of those that are there from the start. */
const seriesOf = async ({ url }: Pick<Gateway, 'url'>): Promise<readonly string[]> =>
  [...(await scrape(url)).series.keys()].filter((key) => key.startsWith('gateway_')).sort();

const hostileNames = (count: number): readonly string[] => [
  ...Array.from({ length: count }, (_, number) => `made-up-${number}`),
  ...['web\u00e9', 'WEB', ' web', 'web,web', 'other', '__proto__', 'constructor', '"} 1\\', 'x'.repeat(8000)],
];

test('thousands of names, and absurd ones, make no series and no word in the log', async () => {
  await using gateway = await startGateway({
    UPSTREAM_URL: nowhere,
    CLIENT_NAMES: 'web',
    OPERATION_LABELS: 'Known',
  });
  const ask = (name: string, number: number) =>
    gateway.query(
      `query Made${number % 50} { __typename }`,
      {},
      {
        'graphql-client-name': name,
        'graphql-client-version': name,
      },
    );
  await ask('somebody', 0);
  await ask('web', 0);
  await seriesOf(gateway);
  const before = await seriesOf(gateway);
  const names = hostileNames(runs(10_000, 500));
  for (let at = 0; at < names.length; at += 50) await Promise.all(names.slice(at, at + 50).map(ask));
  for (const connectionParams of [
    { 'graphql-client-name': 'x'.repeat(15_000) },
    { 'graphql-client-name': { toString: 'web' } },
    { 'graphql-client-name': 'a\nb', 'graphql-client-version': '1\n{}' },
    { 'graphql-client-name': null },
  ]) {
    await using socket = subscribe(gateway.url, { query: '{ __typename }', connectionParams });
    await socket.ended;
  }
  const raw = (header: string) =>
    exchange(gateway.url, [
      `GET /graphql?query=%7B__typename%7D HTTP/1.1\r\nhost: ${new URL(gateway.url).host}\r\n${header}\r\nconnection: close\r\n\r\n`,
    ]);
  await raw('graphql-client-name: we\n b').catch(() => []);
  await raw(`graphql-client-name: ${'w'.repeat(1_000_000)}`).catch(() => []);

  const transports = ['websocket'];
  const after = await seriesOf(gateway);
  const added = after.filter(
    (key) => !before.includes(key) && !transports.some((each) => key.includes(each)),
  );
  expect(added.filter((key) => key.startsWith('gateway_client_'))).toEqual([]);
  const log = operationLines(gateway);
  expect(new Set(log.map(({ client }) => client))).toEqual(new Set(['other', 'web']));
  // "WEB" and "web,web" are not `web`; the surrounding space of a header's value is not part of it.
  expect(log.filter(({ client }) => client === 'web')).toHaveLength(2);
  expect(gateway.logLines.join('')).not.toMatch(/made-up|Made\d|xxxx|__proto__/);
});

test('at most 100 trusted documents have a label, or those that OPERATION_LABELS names', async () => {
  const documents = Array.from({ length: 150 }, (_, number) => `query Trusted${number} { __typename }`);
  const operationsIn = async (env: Record<string, string>) => {
    await using gateway = await startTrusting(documents, { UPSTREAM_URL: nowhere, ...env });
    for (const document of documents) await gateway.get(document);
    const series = await seriesOf(gateway);
    const counted = series.filter((key) => key.startsWith('gateway_client_compute_units_total'));
    return counted.map((key) => /operation="(\w+)"/.exec(key)?.[1]);
  };
  const firstOnes = await operationsIn({});
  expect(firstOnes).toHaveLength(101);
  expect(firstOnes).toEqual(expect.arrayContaining(['other', 'Trusted0', 'Trusted99']));
  expect(await operationsIn({ OPERATION_LABELS: 'Trusted149,Trusted3,Elsewhere' })).toEqual([
    'Trusted149',
    'Trusted3',
    'other',
  ]);
});

test('clients and operations that are told apart are at most 1,000 pairs', async () => {
  const documents = Array.from({ length: 60 }, (_, number) => `query Trusted${number} { __typename }`);
  const clients = Array.from({ length: 20 }, (_, number) => `client-${number}`);
  await using gateway = await startTrusting(documents, {
    UPSTREAM_URL: nowhere,
    CLIENT_NAMES: clients.join(),
  });
  for (const client of clients)
    await Promise.all(
      documents.map((document) => gateway.get(document, {}, { 'graphql-client-name': client })),
    );
  const { series, sum } = await scrape(gateway.url);
  const pairs = [...series.keys()].filter((key) => key.startsWith('gateway_client_compute_units_total'));
  expect(pairs.filter((key) => !key.includes('operation="other"'))).toHaveLength(1000);
  expect(sum('gateway_client_operations_total')).toBe(1200);
  expect(sum('gateway_client_operations_total', { operation: 'other' })).toBe(200);
});

test('tenants are told apart by keyed hashes, only where TENANT_METRICS is on, and the top 50 of them', async () => {
  await using fake = await startFakeWallets();
  const env = { UPSTREAM_URL: fake.url, ...byToken, TENANT_METRICS: 'on' };
  await using gateway = await startGateway(env);
  const ask = async (to: Pick<Gateway, 'query'>, tenant: string) => {
    const address = freshAddress();
    fake.transactions.set(address, servingTransactions(history(1)));
    await to.query(WALLET, { address }, bearer(await tokenOf({ tenant })));
  };
  for (const tenant of ['acme', 'acme', 'acme', 'globex']) await ask(gateway, tenant);
  const tenants = async () =>
    [...(await scrape(gateway.url)).series].filter(([key]) => key.startsWith('gateway_tenant_'));
  const spent = await tenants();
  expect(spent.map(([, units]) => units)).toEqual([3, 1]);
  for (const [key] of spent) expect(key).toMatch(/\{tenant="[0-9a-f]{12}"\}$/);
  const hashes = operationLines(gateway).map(({ tenant }) => tenant);
  expect(spent.map(([key]) => /"(\w+)"/.exec(key)?.[1])).toEqual([hashes[0], hashes[3]]);
  for (let number = 0; number < 60; number += 1) await ask(gateway, `tenant-${number}`);
  expect(await tenants()).toHaveLength(50);
  expect((await tenants())[0]?.[1]).toBe(3);
  expect(gateway.logLines.join('')).not.toMatch(/acme|globex/);

  await using silent = await startGateway({ ...env, TENANT_METRICS: 'off' });
  await ask(silent, 'acme');
  expect((await scrape(silent.url)).sum('gateway_tenant_compute_units_total')).toBe(0);
  expect(operationLines(silent)[0]).not.toHaveProperty('tenant');
});
