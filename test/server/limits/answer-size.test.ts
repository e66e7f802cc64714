import { type GraphQLNamedType, getNamedType, isAbstractType, isObjectType, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createEstimate } from '../../../src/graph/cost/estimate.ts';
import { costOf } from '../../../src/graph/cost/field-cost.ts';
import { schema } from '../../../src/schema.ts';
import { ALL_SCOPES } from '../../../src/scopes.ts';
import { createChainPricing } from '../../../src/upstream/client/request.ts';
import { activity, deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { listenToEvents } from '../../support/clients/event-stream.ts';
import { listenTo, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { type GraphQLFault, nowhere, startGateway } from '../../support/gateway/start.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** The limit of an answer's weight allows every page that a client shows, and holds for each answer and event. */

const MB = 1024 * 1024;
const WALLET = addressOf(0xa);

/** A selection of all fields of a type that need no request of their own, each once. */
const allOf = (type: GraphQLNamedType, above: readonly GraphQLNamedType[] = []): string => {
  if (isAbstractType(type))
    return schema
      .getPossibleTypes(type)
      .map((each) => `... on ${each.name} { ${allOf(each, above)} }`)
      .join(' ');
  if (!isObjectType(type)) return '';
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const named = getNamedType(field.type);
    if (costOf(field).lookup !== undefined || above.includes(named)) return [];
    const below = allOf(named, [...above, type]);
    return below === '' ? field.name : `${field.name} { ${below} }`;
  });
  return ['__typename', ...fields].join(' ');
};
const everyFieldOf = (name: string) => allOf(schema.getType(name) ?? expect.fail(name));

const TRANSACTION = everyFieldOf('Transaction');
const COLLECTIBLE = everyFieldOf('Collectible');

describe('the estimate', () => {
  const estimate = createEstimate(schema, createChainPricing(14));
  const megabytesOf = (query: string, variableValues: Record<string, unknown> = {}) =>
    estimate({ document: parse(query), variableValues }, ALL_SCOPES).bytes / MB;
  const hundred = Array.from({ length: 100 }, (_, index) => addressOf(index + 1));
  const wallets = `query ($all: [Address!]!) { wallets(addresses: $all) {
    transactions { edges { cursor node { ${TRANSACTION} } } } collectibles { nodes { ${COLLECTIBLE} } } } }`;

  test.each([
    [
      'a thousand transactions with all fields',
      `{ wallet(address: "${WALLET}") { transactions(first: 1000) { edges { cursor node { ${TRANSACTION} } } } } }`,
    ],
    [
      'five thousand collectibles with all fields',
      `{ wallet(address: "${WALLET}") { collectibles(first: 5000) { edges { cursor node { ${COLLECTIBLE} } } } } }`,
    ],
    ['a hundred wallets with both lists', wallets],
    [
      'a thousand deliveries with events and payload',
      `{ deliveries(first: 1000) { nodes { payload ${everyFieldOf('WebhookDelivery')} } } }`,
    ],
  ])('lets %s pass', (_what, query) => {
    expect(megabytesOf(query, { all: hundred })).toBeGreaterThan(1);
    expect(megabytesOf(query, { all: hundred })).toBeLessThan(32);
  });

  test('counts a list for each alias, a wallet once, and each item of nodes', () => {
    const list = `transactions(first: 1000) { nodes { ${TRANSACTION} } }`;
    const once = megabytesOf(`{ wallet(address: "${WALLET}") { ${list} } }`);
    expect(megabytesOf(`{ wallet(address: "${WALLET}") { a: ${list} b: ${list} } }`)).toBeCloseTo(
      2 * once,
      2,
    );
    const ofWallets = `query ($all: [Address!]!) { wallets(addresses: $all) { ${list} } }`;
    expect(megabytesOf(ofWallets, { all: Array(100).fill(WALLET) })).toBeCloseTo(once, 2);
    const id = Buffer.from(`Wallet:${WALLET}`).toString('base64');
    const ofNodes = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Wallet { ${list} } } }`;
    expect(megabytesOf(ofNodes, { ids: Array(5).fill(id) })).toBeCloseTo(5 * once, 2);
    expect(
      megabytesOf(
        `{ wallet(address: "${WALLET}") { ${list.replace('transactions(first: 1000)', 'transactions(first: 1000) @skip(if: true)')} } }`,
      ),
    ).toBeLessThan(0.01);
  });
});

test('a long name is cut where an error shows the heaviest field', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, MAX_ANSWER_MB: '1' });
  const name = 'a'.repeat(20_000);
  const { errors = [] } = await gateway.query(
    `{ wallet(address: "${WALLET}") { ${name}: transactions(first: 1000) { nodes { ${TRANSACTION} } } } }`,
  );
  const path = `wallet.${name}`.slice(0, 200);
  expect(errors[0]?.extensions).toMatchObject({ code: 'OPERATION_TOO_COMPLEX', heaviestField: path });
  expect(errors[0]?.message).toContain(`its heaviest field is ${path}, with`);
});

test('all transactions of the sandbox are answered with all fields', async () => {
  await using gateway = await startGateway();
  const { data, errors, body } = await gateway.query<{ wallet: { transactions: { nodes: unknown[] } } }>(
    `{ wallet(address: "0xc7928e7865fb684cc7629937d4064aa69989eab4") { transactions(first: 1000) { nodes { ${TRANSACTION} } } } }`,
  );
  expect(errors).toBeUndefined();
  expect(data?.wallet.transactions.nodes).toHaveLength(1000);
  // Heavy enough to be serialised in slices.
  expect(body.length).toBeGreaterThan(MB);
});

test('a wallet that nodes names many times is looked up once', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  fake.transactions.set(WALLET, servingTransactions(history(3)));
  const id = Buffer.from(`Wallet:${WALLET}`).toString('base64');
  const { nodes } = await gateway.data<{ nodes: unknown[] }>(
    'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Wallet { transactions { nodes { hash } } } } }',
    { ids: Array(100).fill(id) },
  );
  expect(nodes).toHaveLength(100);
  expect(new Set(nodes.map((node) => JSON.stringify(node))).size).toBe(1);
  expect(fake.requests).toHaveLength(1);
});

const body = (activities: number) => ({
  activities: Array.from({ length: activities }, (_, number) => activity(number).activities[0]),
});
const EVENTS = `subscription { deliveries { cursor node { ${everyFieldOf('WebhookDelivery')} } } }`;

type Told = { data: { deliveries: { cursor: string; node: unknown } } | null; errors?: GraphQLFault[] };

test('an event above the limit is an error with its cursor, and the subscription continues', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, MAX_ANSWER_MB: '1' });
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  using socket = await listenTo(gateway);
  socket.write(subscribeMessage(EVENTS));
  await readersToBe(gateway.url, 1);
  for (const activities of [2000, 1])
    expect(await deliver(deliveryUrl, { body: body(activities) })).toBe(200);
  await eventually(() => socket.received.length === 2);
  const [heavy, next] = socket.received.map(({ payload }) => payload as Told);
  const { deliveries } = await gateway.data<{ deliveries: { edges: { cursor: string }[] } }>(
    '{ deliveries(first: 1) { edges { cursor } } }',
  );
  expect(heavy?.data).toBeNull();
  expect(heavy?.errors).toMatchObject([
    {
      message: expect.stringContaining('at most 1.0 MB (MAX_ANSWER_MB)'),
      extensions: { code: 'OPERATION_TOO_COMPLEX', cursor: deliveries.edges[0]?.cursor },
    },
  ]);
  expect(next).toMatchObject({ data: { deliveries: { node: { events: [{ __typename: 'Activity' }] } } } });
});

test('a heavy event is the same over WebSocket, over server-sent events and in a query', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  using socket = await listenTo(gateway);
  socket.write(subscribeMessage(EVENTS));
  using stream = await listenToEvents(gateway.url, EVENTS);
  await readersToBe(gateway.url, 2);
  expect(await deliver(deliveryUrl, { body: body(2000) })).toBe(200);
  await eventually(() => socket.received.length === 1 && stream.text().endsWith('}\n\n'));
  const { deliveries } = await gateway.data<{ deliveries: { edges: Told['data'][] } }>(
    `{ deliveries(first: 1) { edges { cursor node { ${everyFieldOf('WebhookDelivery')} } } } }`,
  );
  const bySocket = socket.received[0]?.payload as Told;
  expect(bySocket.data?.deliveries).toEqual(deliveries.edges[0]);
  expect(JSON.stringify(bySocket).length).toBeGreaterThan(MB);
  expect(JSON.parse(/^data: (.*)$/m.exec(stream.text())?.[1] ?? '')).toEqual(bySocket);
});

test('an answer stops when its client disconnects', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    CACHE_HEAD_MS: '600000',
    CACHE_TAIL_MS: '600000',
  });
  fake.transactions.set(WALLET, servingTransactions(history(1000)));
  const lists = (count: number) =>
    Array.from(
      { length: count },
      (_, index) => `a${index}: transactions(first: 1000) { edges { cursor node { id hash } } }`,
    ).join(' ');
  // No two are equal, since equal ones share an answer.
  const heavy = (number: number) =>
    JSON.stringify({ query: `{ n${number}: __typename wallet(address: "${WALLET}") { ${lists(30)} } }` });
  const ask = (number: number, signal: AbortSignal | null = null) =>
    fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: heavy(number),
      signal,
    });
  const cpuOf = async (task: () => Promise<void>): Promise<number> => {
    const { user, system } = process.cpuUsage();
    await task();
    const { user: userNow, system: systemNow } = process.cpuUsage();
    return userNow + systemNow - user - system;
  };
  const underWay = async () => (await scrape(gateway.url)).sum('gateway_http_requests_in_flight');
  const POLL = { interval: 20 };
  await gateway.query(`{ wallet(address: "${WALLET}") { ${lists(1)} } }`);
  const one = await cpuOf(async () => void (await (await ask(0)).arrayBuffer()));
  const twelve = await cpuOf(async () => {
    const leaving = new AbortController();
    const answers = Array.from({ length: 12 }, (_, index) => ask(index + 1, leaving.signal));
    // The scrape is one of the requests.
    await expect.poll(underWay, POLL).toBe(12 + 1);
    leaving.abort();
    await Promise.allSettled(answers);
    await expect.poll(underWay, POLL).toBe(1);
  });
  expect(twelve).toBeLessThan(6 * one);
});
