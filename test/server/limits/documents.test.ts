import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../../support/clients/transports.ts';
import { codesOf, type Gateway, startGateway } from '../../support/gateway/start.ts';
import { addressOf } from '../../support/upstream/builders.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

/** docs/errors-and-limits.md: a document within a limit passes, and one beyond it is rejected before any upstream request. */

let fake: FakeWallets;
let gateway: Gateway;
beforeAll(async () => {
  fake = await startFakeWallets();
  gateway = await startGateway({ UPSTREAM_URL: fake.url });
});
beforeEach(() => {
  fake.requests.length = 0;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const times = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');

/** `ofType`s below `__schema { types { …` so that the deepest field lies at `depth`, each of them counted. */
const introspection = (depth: number) =>
  `{ __schema { types { fields { type ${'{ ofType '.repeat(depth - 5)} { name } ${'}'.repeat(depth - 5)} } } } }`;

/** Wallets below wallets, a field of the innermost one at `depth`. It is a multiple of 3, and one more. */
const deep = (depth: number) => {
  const [first, ...others] = Array.from({ length: (depth - 1) / 3 }, () => 'wallet');
  const outer = [`${first}(address: "${addressOf(1)}")`, ...others];
  return `{ ${outer.map((name) => `${name} { activity(first: 0) { nodes { `).join('')} chainId ${'}'.repeat(depth - 1)} }`;
};

const wallet = `wallet(address: "${addressOf(1)}")`;

const ofTokens = (tokens: number) =>
  `{ ${wallet} { transactions(first: 0, chainIds: [${times(tokens - 26, () => '1')}]) { nodes { hash } } } }`;

describe('useful documents are within the limits', () => {
  test.each([
    [
      'all that introspection tells',
      getIntrospectionQuery({
        descriptions: true,
        inputValueDeprecation: true,
        specifiedByUrl: true,
        directiveIsRepeatable: true,
        schemaDescription: true,
        oneOf: true,
      }),
    ],
    [
      "a wallet's logs with their decoded inputs",
      `{ wallets(addresses: ["${addressOf(1)}"]) { transactions { edges { node { logs { decoded { inputs { name type value } } } } } } } }`,
    ],
    [
      "a delivery's logs with their decoded inputs",
      '{ deliveries { edges { node { events { ... on TransactionEvent { transaction { logs { decoded { inputs { name type value } } } } } } } } } }',
    ],
    [
      'the same, by way of a node',
      `{ node(id: "${Buffer.from(`Wallet:${addressOf(1)}`).toString('base64')}") { ... on Wallet { transactions { edges { node { logs { decoded { inputs { value } } } } } } } } }`,
    ],
    ['16 levels', deep(16)],
    ['32 levels, some of them ofType', introspection(32)],
    ['50 aliases', `{ ${wallet} { ${times(50, (index) => `a${index}: __typename`)} } }`],
    ['30 root fields', `{ ${times(30, (index) => `a${index}: __typename`)} }`],
    ['30 directives', `{ ${wallet} { ${times(30, () => '__typename @include(if: true)')} } }`],
    ['2,000 tokens', ofTokens(2000)],
    ['64 KB', `{ __typename } #${'x'.repeat(64 * 1024 - 16)}`],
  ])('%s', async (_what, query) => {
    const reply = await gateway.query(query);
    expect(reply.errors).toBeUndefined();
  });
});

describe('beyond a limit no upstream request is sent', () => {
  const cases: [what: string, query: string][] = [
    ['17 levels', deep(16).replace(' chainId ', ' chainInfo { name } ')],
    [
      '17 levels through a fragment',
      `${deep(16).replace(' chainId ', ' ...F ')} fragment F on Activity { chainInfo { name } }`,
    ],
    ['33 levels, some of them ofType', introspection(33)],
    [
      'many fields of one name below 29 levels of ofType',
      introspection(31).replace('{ name }', `{ ${times(65, () => 'name')} }`),
    ],
    ['51 aliases', `{ ${wallet} { ${times(51, (index) => `a${index}: __typename`)} } }`],
    [
      '51 aliases through fragments',
      `{ ${wallet} { ...A } b: ${wallet} { ...A } } fragment A on Wallet { ${times(25, (index) => `a${index}: id`)} }`,
    ],
    ['31 root fields', `{ ${times(31, () => '__typename')} }`],
    [
      '31 root fields through fragments',
      `{ ...A ... { ...A } __typename } fragment A on Query { ${times(15, () => '__typename')} }`,
    ],
    ['31 directives', `{ ${wallet} { ${times(31, () => '__typename @include(if: true)')} } }`],
    [
      '31 directives, some on a fragment, a spread and an operation',
      `query @a @a { ${wallet} { ...A @a ${times(27, () => '__typename @include(if: true)')} } } fragment A on Wallet @a { id }`,
    ],
    ['2,001 tokens', ofTokens(2001)],
    ['64 KB and one byte', `{ __typename } #${'x'.repeat(64 * 1024 - 15)}`],
    ['64 KB in fewer characters', `{ __typename } #${'€'.repeat(22 * 1024)}`],
  ];
  for (const [transport, send] of TRANSPORTS)
    test.each(cases)(`%s, over ${transport}`, async (_what, query) => {
      expect(codesOf(await send(gateway.url, { query }))).toEqual(['OPERATION_TOO_COMPLEX']);
      expect(fake.requests).toEqual([]);
    });

  test.each(TRANSPORTS)('a directive twice on a field, over %s', async (_transport, send) => {
    const query = `{ ${wallet} { transactions @skip(if: false) @skip(if: false) { nodes { hash } } } }`;
    expect(codesOf(await send(gateway.url, { query }))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(fake.requests).toEqual([]);
  });

  const filters: [what: string, filter: object][] = [
    ['webhooks', { webhookIds: Array(101).fill('019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41') }],
    ['types', { types: Array(101).fill('BALANCES') }],
    ['chains', { chainIds: Array(101).fill(1) }],
  ];
  for (const [transport, send] of TRANSPORTS.slice(1))
    test.each(filters)(`a subscription to more than 100 %s, over ${transport}`, async (_what, filter) => {
      const query = 'subscription ($filter: DeliveryFilter) { deliveries(filter: $filter) { cursor } }';
      const reply = await send(gateway.url, { query, variables: { filter } });
      expect(reply).toMatchObject({
        errors: [{ extensions: { code: 'OPERATION_TOO_COMPLEX' } }],
        extensions: { upstream: { requests: 0, computeUnits: 0, cached: 0 } },
      });
    });

  test.each(filters)('a query of more than 100 %s', async (_what, filter) => {
    const query = 'query ($filter: DeliveryFilter) { deliveries(filter: $filter) { head } }';
    expect(codesOf(await gateway.query(query, { filter }))).toEqual(['OPERATION_TOO_COMPLEX']);
  });

  test('a batch', async () => {
    const reply = await gateway.post(
      JSON.stringify([{ query: '{ __typename }' }, { query: '{ __typename }' }]),
    );
    expect(codesOf(reply)).toEqual(['BAD_USER_INPUT']);
  });
});

describe('a response without data has at most 20 errors', () => {
  const cases: [what: string, payload: { query: string; variables?: object }][] = [
    ['of a document', { query: `{ ${wallet} { ${times(1000, (index) => `x${index}`)} } }` }],
    [
      'of variables',
      {
        query: 'query ($all: [Address!]!) { wallets(addresses: $all) { id } }',
        variables: { all: Array(1000).fill('no address') },
      },
    ],
  ];
  for (const [transport, send] of TRANSPORTS)
    test.each(cases)(`%s, over ${transport}`, async (_what, payload) => {
      expect((await send(gateway.url, payload)).errors).toHaveLength(20);
      expect(fake.requests).toEqual([]);
    });
});

test.each(TRANSPORTS)('beside data, each null has its error, over %s', async (_transport, send) => {
  const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
  const reply = await send(gateway.url, { query, variables: { ids: Array(100).fill('no id') } });
  expect(reply.data).toEqual({ nodes: Array(100).fill(null) });
  expect(reply.errors?.map(({ path }) => path?.join('.'))).toEqual(
    Array.from({ length: 100 }, (_, index) => `nodes.${index}`),
  );
});
