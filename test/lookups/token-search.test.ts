import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { addressOf } from '../support/upstream/builders.ts';
import { type FakeService, type Reply, startFakeService } from '../support/upstream/fake-service.ts';

/** Tokens by a part of their symbols or names: one request for all that ask for the same text. */

const found = (number: number) => ({
  chain_id: number,
  address: addressOf(number).toUpperCase().replace('0X', '0x'),
  token_type: 'ERC20',
  symbol: `T${number}`,
  name: `Token ${number}`,
  logo: null,
  decimals: 18,
});

let answer: Reply;
let fake: FakeService;
let gateway: Gateway;
beforeEach(async () => {
  answer = { json: Array.from({ length: 50 }, (_, index) => found(index + 1)) };
  fake = await startFakeService({ other: () => ({ headers: { 'x-compute-units-cost': '2' }, ...answer }) });
  gateway = await startGateway({ UPSTREAM_URL: fake.url });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

type Found = { searchTokens: { nodes: Record<string, unknown>[]; partialErrors: unknown } | null };

const search = (args: string) =>
  gateway.query<Found>(
    `{ searchTokens(${args}) { nodes { id chainId address isNative symbol name logo decimals } partialErrors } }`,
  );

const seen = () => fake.requests.map(({ path, query }) => `${path}?${query}`);

test('finds tokens, the first ten of fifty, at the price of one request', async () => {
  const { data, extensions } = await search('query: "tok"');
  expect(data?.searchTokens?.nodes).toHaveLength(10);
  expect(data?.searchTokens?.nodes[1]).toEqual({
    id: btoa(`Token:2:${addressOf(2)}`),
    chainId: 2,
    address: addressOf(2),
    isNative: false,
    symbol: 'T2',
    name: 'Token 2',
    logo: null,
    decimals: 18,
  });
  expect(data?.searchTokens?.partialErrors).toBeNull();
  expect(extensions.upstream).toEqual({ requests: 1, computeUnits: 2, cached: 0 });
  expect(seen()).toEqual(['/v1/evm/search/tokens?limit=50&query=tok']);
});

test('what is asked of each token that may be found is in the estimate', async () => {
  await using strict = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '3' });
  const { errors } = await strict.query(
    '{ searchTokens(query: "tok", first: 50) { nodes { market { priceUsd } } } }',
  );
  expect(errors?.[0]?.extensions).toMatchObject({ estimatedComputeUnits: 2 + 50 * 2 });
  expect(seen()).toEqual([]);
});

test('every spelling and size shares the request, other chains do not', async () => {
  const sizes = [];
  for (const args of ['query: " ToKen "', 'query: "token", first: 50', 'query: "TOKEN\\n", first: 1'])
    sizes.push((await search(args)).data?.searchTokens?.nodes.length);
  expect(sizes).toEqual([10, 50, 1]);
  await search('query: "token", chainIds: [8453, 1], chainTags: ["testnet"]');
  expect(seen()).toEqual([
    '/v1/evm/search/tokens?limit=50&query=token',
    '/v1/evm/search/tokens?limit=50&chain_ids=1%2C8453%2Ctestnet&query=token',
  ]);
});

test.each(['query: ""', 'query: " ab "', 'query: "é✨"', 'query: "token", first: 0'])(
  'finds nothing, without a request: %s',
  async (args) => {
    const { data, extensions } = await search(args);
    expect([data?.searchTokens?.nodes, extensions.upstream.requests, fake.requests]).toEqual([[], 0, []]);
  },
);

describe('what is wrong is BAD_USER_INPUT, before a request', () => {
  test.each([
    'query: "token", first: 51',
    'query: "token", first: -1',
    `query: "${'t'.repeat(201)}"`,
    'query: "token", chainIds: [123456789]',
    'query: "to", chainTags: ["mainet"]',
  ])('%s', async (args) => {
    const refused = await search(args);
    expect(refused.data?.searchTokens).toBeNull();
    expect(codesOf(refused)).toEqual(['BAD_USER_INPUT']);
    expect(fake.requests).toEqual([]);
  });
});

test('what is no token is left out, and everything that can be absent is null', async () => {
  answer = {
    json: [7, null, { symbol: 'NO' }, { chain_id: 1 }, { chain_id: 1, address: addressOf(9), symbol: 3 }],
  };
  const { data, errors } = await search('query: "token"');
  expect(data?.searchTokens?.nodes).toMatchObject([
    { address: addressOf(9), symbol: null, name: null, decimals: null },
  ]);
  expect(errors).toBeUndefined();
});

test('chains that could not be searched are named beside what was found on others', async () => {
  const warnings = [
    { code: 'CHAIN_UNAVAILABLE', message: 'The tokens of base are missing', chain_ids: [8453] },
  ];
  answer = { json: { tokens: [found(1)], warnings } };
  const { data, errors } = await search('query: "token"');
  expect(data?.searchTokens).toMatchObject({ nodes: [{ symbol: 'T1' }], partialErrors: { warnings } });
  expect(errors).toBeUndefined();
});

test.each([
  { failure: { json: { tokens: [] } }, code: 'UPSTREAM_INVALID_RESPONSE' },
  {
    failure: { status: 400, json: { error: { message: 'no', code: 'BAD_REQUEST' } } },
    code: 'UPSTREAM_REJECTED',
  },
])('a failed search is null with $code', async ({ failure, code }) => {
  answer = failure;
  const failed = await search('query: "token"');
  expect([failed.data?.searchTokens, ...codesOf(failed)]).toEqual([null, code]);
});
