import { describe, expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { askInParts, EVENT_STREAM, errorsIn, MULTIPART, NEWEST } from '../../support/clients/parts.ts';
import { type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { addressOf, collection, freshAddress, history } from '../../support/upstream/builders.ts';
import { servingCollectibles, servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** The limits of an operation hold for all parts of its answer together. */

const WALLET = addressOf(0xa11);

const listOf = (name: string, first = 1000) =>
  `... @defer(label: "${name}") { transactions(first: ${first}) { nodes { hash data } } }`;
const LIST = (names: readonly string[]) =>
  `{ wallet(address: "${WALLET}") { address ${names.map((name) => listOf(name)).join(' ')} } }`;

describe('before anything is asked', () => {
  test.each([
    ['the cost of deferred fields', { MAX_COMPUTE_UNITS: '5' }, LIST(['a']), 'OPERATION_TOO_COMPLEX'],
    [
      'the size of each deferred fragment',
      { MAX_ANSWER_MB: '1' },
      LIST(['a', 'b', 'c']),
      'OPERATION_TOO_COMPLEX',
    ],
    [
      'the labels of parts',
      { MAX_ANSWER_MB: '1' },
      `{ wallet(address: "${WALLET}") { transactions(first: 200) { nodes { ... @defer(label: "${'l'.repeat(10_000)}") { from } } } } }`,
      'OPERATION_TOO_COMPLEX',
    ],
    [
      'the paths of parts',
      { MAX_ANSWER_MB: '1' },
      `{ ${'l'.repeat(10_000)}: wallet(address: "${WALLET}") { transactions(first: 200) { nodes { logs @stream { data } } } } }`,
      'OPERATION_TOO_COMPLEX',
    ],
    [
      'later parts, each in all its objects',
      {},
      `{ wallet(address: "${WALLET}") { transactions(first: 501) { nodes { hash ... @defer { from } logs @stream { data } } } } }`,
      'OPERATION_TOO_COMPLEX',
    ],
    [
      'directives',
      {},
      `{ wallet(address: "${WALLET}") { ${Array.from({ length: 31 }, () => '... @defer { address }').join(' ')} } }`,
      'OPERATION_TOO_COMPLEX',
    ],
    ['one label twice', {}, LIST(['a', 'a']), 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a field that is no list',
      {},
      `{ wallet(address: "${WALLET}") @stream { id } }`,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a root field of a mutation',
      {},
      'mutation { ... @defer { unwatchWallet(input: { address: "0x" }) { __typename } } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a subscription',
      {},
      'subscription { deliveries { cursor ... @defer { node { id } } } }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
  ] as const)('%s is limited', async (_what, env, query, code) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...env });
    for (const accept of [MULTIPART, NEWEST]) {
      const { response } = await askInParts(gateway.url, { query, accept });
      const [error] = JSON.parse(await response.text()).errors;
      expect(error.extensions.code, error.message).toBe(code);
    }
    expect(fake.requests).toEqual([]);
  });

  test('the directives of a subscription may be there, and off', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const query =
      'subscription ($on: Boolean!) { deliveries { cursor ... @defer(if: $on) { node { events @stream(if: $on) { __typename } } } } }';
    const on = await askInParts(gateway.url, { query, variables: { on: true }, accept: EVENT_STREAM });
    expect(await on.rest()).toMatchObject([
      {
        errors: [
          { message: expect.stringContaining('subscription'), extensions: { code: 'BAD_USER_INPUT' } },
        ],
      },
    ]);
    const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
    const off = await askInParts(gateway.url, { query, variables: { on: false }, accept: EVENT_STREAM });
    expect(await deliver(deliveryUrl, { body: {} })).toBe(200);
    expect(await off.next()).toMatchObject({ data: { deliveries: { node: { events: [] } } } });
    off.leave();
  });
});

test('the objects that deferred fragments share with other parts are limited in the newest format', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  fake.transactions.set(WALLET, servingTransactions(history(3)));
  const sharing = (fragments: number) => {
    const fields = Array.from(
      { length: fragments },
      (_, index) =>
        `... @defer(label: "${index}") { transactions(first: 1000) { nodes { at${index}: hash } } }`,
    );
    return `{ wallet(address: "${WALLET}") { transactions(first: 1000) { nodes { hash } } ${fields.join(' ')} } }`;
  };
  const refused = await askInParts(gateway.url, { query: sharing(11), accept: NEWEST });
  expect(await refused.response.json()).toMatchObject({
    errors: [{ extensions: { code: 'OPERATION_TOO_COMPLEX' } }],
  });
  expect(fake.requests).toEqual([]);
  for (const [query, accept] of [
    [sharing(9), NEWEST],
    [sharing(11), MULTIPART],
  ] as const) {
    const parts = await (await askInParts(gateway.url, { query, accept })).rest();
    expect(errorsIn(parts)).toEqual([]);
    expect(parts.at(-1)).toMatchObject({ hasNext: false });
  }
});

test.each([
  ['MULTIPART', MULTIPART],
  ['NEWEST', NEWEST],
])(
  'deferred fragments are limited also in lists that are longer than estimated: %s',
  async (_name, accept) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const log = { address: WALLET, topics: [], data: '0x', log_index: 0 };
    const ask = async (logs: number) => {
      const address = freshAddress();
      const items = history(10).map((item) => ({ ...item, logs: Array(logs).fill(log) }));
      fake.transactions.set(address, servingTransactions(items));
      const query = `{ wallet(address: "${address}") { transactions(first: 10) { nodes { logs { data ... @defer { address } } } } } }`;
      return askInParts(gateway.url, { query, accept });
    };
    expect(await (await ask(1100)).response.json()).toMatchObject({
      errors: [{ extensions: { code: 'OPERATION_TOO_COMPLEX' } }],
    });
    const parts = await (await ask(900)).rest();
    expect(errorsIn(parts)).toEqual([]);
    expect(parts.at(-1)).toMatchObject({ hasNext: false });
  },
);

describe('an operation is not judged by the directives of the others in its document', () => {
  const ask = async (gateway: Gateway, query: string, accept: string, variables = {}) => {
    const body = JSON.stringify({ query, variables, operationName: 'Asked' });
    const headers = { 'content-type': 'application/json', accept };
    return fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body });
  };
  const OTHERS = `query Other($at: Int) { wallet(address: "${WALLET}") { ...Parts transactions { nodes @stream(initialCount: $at) { hash } } } }
    fragment Parts on Wallet { ... @defer { address } }`;

  test('a subscription beside a query that defers', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const { deliveryUrl, deliveries } = await gateway.data<{
      deliveryUrl: string;
      deliveries: { head: string };
    }>('{ deliveryUrl deliveries { head } }');
    await deliver(deliveryUrl, { body: {} });
    const query = `subscription Asked($after: String) { deliveries(after: $after) { node { type } } } ${OTHERS}`;
    const { body } = await ask(gateway, query, EVENT_STREAM, { after: deliveries.head });
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (!chunk.includes('data: {')) continue;
      expect(chunk).toContain('"data":{"deliveries":{"node":');
      break;
    }
  });

  test('a query whose variable has the name of another one', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const query = `query Asked($at: String) { deliveries(after: $at) { nodes { id } } } ${OTHERS}`;
    const response = await ask(gateway, query, MULTIPART, { at: null });
    expect(await response.json()).toMatchObject({ data: { deliveries: { nodes: [] } } });
  });
});

test('a part that exceeds the size of the answer ends it, and nothing comes after', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, MAX_ANSWER_MB: '1' });
  const large = history(1000).map((item) => ({ ...item, data: `0x${'ab'.repeat(2500)}` }));
  fake.transactions.set(WALLET, servingTransactions(large));
  const query = `{ wallet(address: "${WALLET}") { transactions(first: 1000) { nodes @stream(initialCount: 20) { hash data } } } }`;
  for (const accept of [MULTIPART, NEWEST]) {
    const answer = await askInParts(gateway.url, { query, accept });
    const parts = await answer.rest();
    expect(parts.length, accept).toBeGreaterThan(1);
    expect(JSON.stringify(parts.slice(0, -1)).length).toBeLessThan(1.1 * 1024 * 1024);
    expect(errorsIn(parts)).toMatchObject([
      { message: expect.stringContaining('MAX_ANSWER_MB'), extensions: { code: 'OPERATION_TOO_COMPLEX' } },
    ]);
    expect(errorsIn(parts.slice(-1))).toHaveLength(1);
    expect(parts.at(-1)).toMatchObject({ hasNext: false, extensions: { upstream: {} } });
  }
});

test('the bytes of all parts count, where each is below the limit and so are the characters of all', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, MAX_ANSWER_MB: '1' });
  // A character of three bytes.
  const named = collection(1000).map((item) => ({ ...item, name: '猫'.repeat(450) }));
  fake.collectibles.set(WALLET, servingCollectibles(named));
  const query = `{ wallet(address: "${WALLET}") { collectibles(first: 1000) { nodes @stream(initialCount: 200) { name } } } }`;
  const parts = await (await askInParts(gateway.url, { query })).rest();
  const bytes = parts.map((part) => Buffer.byteLength(JSON.stringify(part)));
  // The last part has the error.
  expect(bytes.slice(0, -1).reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(1024 * 1024);
  expect(errorsIn(parts)).toMatchObject([{ extensions: { code: 'OPERATION_TOO_COMPLEX' } }]);
});

test('each null has its error, however many they are', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  fake.transactions.set(
    WALLET,
    servingTransactions(history(300).map((item, index) => ({ ...item, hash: `no hash ${index}` }))),
  );
  const query = `{ wallet(address: "${WALLET}") { transactions(first: 1000) { nodes @stream(initialCount: 15) { hash } } } }`;
  const parts = await (await askInParts(gateway.url, { query })).rest();
  expect(parts[0]?.errors).toHaveLength(15);
  expect(errorsIn(parts)).toHaveLength(300);
  const items = parts.flatMap(({ incremental = [] }) => incremental.flatMap((each) => each.items ?? []));
  expect(items).toEqual(Array(285).fill(null));
});

test('what does not come of an answer that has ended is told without more than 20 errors', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    MAX_ANSWER_MB: '1',
    UPSTREAM_TIMEOUT_MS: '1000',
  });
  const addresses = Array.from({ length: 50 }, () => freshAddress());
  for (const address of addresses) fake.transactions.set(address, () => ({ silent: true }));
  const gate = Promise.withResolvers<void>();
  const large = history(20).map((item) => ({ ...item, data: `0x${'ab'.repeat(30_000)}` }));
  fake.transactions.set(WALLET, async (request) => {
    await gate.promise;
    return servingTransactions(large)(request);
  });
  const query = `query ($addresses: [Address!]!) {
    wallets(addresses: $addresses) { id ... @defer { transactions(first: 1) { nodes { hash } } } }
    ... @defer { wallet(address: "${WALLET}") { transactions { nodes { data } } } }
  }`;
  const answer = await askInParts(gateway.url, { query, variables: { addresses }, accept: NEWEST });
  const first = await answer.next();
  expect(first?.pending).toHaveLength(51);
  gate.resolve();
  const others = await answer.rest();
  expect(errorsIn(others)).toHaveLength(20);
  expect(others.at(-1)?.completed).toHaveLength(51);
  for (const entry of others.at(-1)?.completed ?? []) expect(entry).toHaveProperty('errors');
});
