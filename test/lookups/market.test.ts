import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { addressOf, freshAddress } from '../support/upstream/builders.ts';
import { type FakeService, type Reply, startFakeService } from '../support/upstream/fake-service.ts';

/** What the service says about a token now: one request for all that ask, of two compute units. */

const FIELDS = 'symbol name decimals logo priceUsd poolSizeUsd totalSupply fullyDilutedValueUsd marketCapUsd';

const BILLED = { 'x-compute-units-cost': '2' };

let reply: (address: string) => Reply | Promise<Reply>;
let fake: FakeService;
let gateway: Gateway;
beforeEach(async () => {
  reply = (address) => ({ json: { contract_address: address, tokens: [{ symbol: 'T' }] }, headers: BILLED });
  fake = await startFakeService({
    other: async ({ address }) => ({ headers: BILLED, ...(await reply(address)) }),
  });
  gateway = await startGateway({ UPSTREAM_URL: fake.url });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const usdc = (address = addressOf(0xc0), chainId = 1) =>
  `token(token: { contract: { chainId: ${chainId}, address: "${address}" } })`;

const marketOf = async (parent = usdc(), fields = FIELDS) =>
  await gateway.query<{ token: { market: Record<string, unknown> | null } }>(
    `{ token: ${parent} { market { ${fields} } } }`,
  );

const seen = () => fake.requests.map(({ path, query }) => `${path}?${query}`);

test('every digit of a market reaches the client, of numbers in any form', async () => {
  reply = () => ({
    text: `{ "contract_address": "0xc0", "tokens": [{ "chain": "ethereum", "chain_id": 1, "symbol": "USDC", "name": "USD Coin",
      "decimals": 6, "price_usd": 2959.30609483726, "pool_size": 735917502571333, "total_supply": "41264412423343287",
      "fully_diluted_value": 1.233346836175539e+21, "market_cap": 8.852246853764e-6, "logo": "https://service.test/token/logo/1/0xc0" }] }`,
    headers: { ...BILLED, 'content-type': 'application/json' },
  });
  const { data, extensions } = await marketOf();
  expect(data?.token.market).toEqual({
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
    logo: 'https://service.test/token/logo/1/0xc0',
    priceUsd: '2959.30609483726',
    poolSizeUsd: '735917502571333',
    totalSupply: '41264412423343287',
    fullyDilutedValueUsd: '1233346836175539000000',
    marketCapUsd: '0.000008852246853764',
  });
  expect(extensions.upstream).toEqual({ requests: 1, computeUnits: 2, cached: 0 });
  expect(seen()).toEqual([`/v1/evm/token-info/${addressOf(0xc0)}?chain_ids=1`]);
});

test('what a contract is called costs its market, once together with it; a chain is called without a request', async () => {
  reply = () => ({ json: { tokens: [{ symbol: 'T', name: 'Tee', decimals: 3 }] }, headers: BILLED });
  const named = 'symbol name decimals logo';
  const { data, extensions } = await gateway.query(
    `{ a: ${usdc()} { ${named} market { symbol } } b: ${usdc()} { ${named} } c: token(token: { nativeOf: 1 }) { ${named} } }`,
  );
  const called = { symbol: 'T', name: 'Tee', decimals: 3, logo: null };
  expect(data).toEqual({
    a: { ...called, market: { symbol: 'T' } },
    b: called,
    c: { symbol: 'ETH', name: 'Ether', decimals: 18, logo: null },
  });
  expect(extensions.upstream).toMatchObject({ requests: 1, computeUnits: 2 });
  const id = btoa(`Token:1:${addressOf(0xc1)}`);
  const node = await gateway.query(`{ node(id: "${id}") { ... on Token { ${named} } } }`);
  expect(node).toMatchObject({ data: { node: called }, extensions: { upstream: { computeUnits: 2 } } });
});

test('what the service omits or sends as null is null', async () => {
  reply = () => ({ json: { tokens: [{ chain: 'base', logo: null, name: null }] } });
  const { data, errors } = await marketOf('token(token: { nativeOf: 8453 })');
  expect(errors).toBeUndefined();
  expect(Object.values(data?.token.market ?? {})).toEqual(Array(9).fill(null));
  expect(seen()).toEqual(['/v1/evm/token-info/native?chain_ids=8453']);
});

describe('one request serves', () => {
  test('all fields of an operation, and all operations for half a minute', async () => {
    const { extensions } = await gateway.query(
      `{ a: ${usdc()} { market { symbol } again: market { priceUsd } } b: ${usdc()} { market { name } } }`,
    );
    expect(extensions.upstream).toMatchObject({ requests: 1, computeUnits: 2 });
    expect((await marketOf()).extensions.upstream).toEqual({ requests: 0, computeUnits: 0, cached: 1 });
  });

  test('operations that ask at the same time', async () => {
    const answers = await Promise.all([marketOf(), marketOf(usdc(), 'symbol'), marketOf(usdc(), 'name')]);
    expect(answers.map(({ extensions }) => extensions.upstream.requests).toSorted()).toEqual([0, 0, 1]);
  });

  test('but no other token or chain', async () => {
    await marketOf();
    await marketOf(usdc(addressOf(0xc1)));
    await marketOf(usdc(addressOf(0xc0), 10));
    expect(seen()).toHaveLength(3);
  });
});

describe('a token that the service does not know is null without an error, and not asked for again', () => {
  test.each([
    { kind: '404 in plain text', answer: { status: 404, text: 'Token not found' } },
    { kind: 'an empty list', answer: { json: { contract_address: 'x', tokens: [] } } },
    { kind: 'null', answer: { json: { tokens: null } } },
  ])('$kind', async ({ answer }) => {
    reply = () => answer;
    for (const requests of [1, 0]) {
      const { data, errors, extensions } = await marketOf();
      expect([data?.token.market, errors, extensions.upstream.requests]).toEqual([null, undefined, requests]);
    }
  });
});

describe('a failure nulls the market alone', () => {
  test.each([
    { answer: { status: 400, text: 'Invalid address' }, code: 'UPSTREAM_REJECTED' },
    { answer: { status: 401, json: { error: 'invalid API Key' } }, code: 'UPSTREAM_REJECTED' },
    { answer: { json: [] }, code: 'UPSTREAM_INVALID_RESPONSE' },
    { answer: { json: { tokens: [7] } }, code: 'UPSTREAM_INVALID_RESPONSE' },
    { answer: { json: { tokens: [{ price_usd: 'dear' }] } }, code: 'UPSTREAM_INVALID_RESPONSE' },
  ])('$code', async ({ answer, code }) => {
    reply = () => answer;
    const faulty = await gateway.query<{ token: object }>(
      `{ token: ${usdc()} { chainId market { symbol } } }`,
    );
    expect(faulty.data?.token).toEqual({ chainId: 1, market: null });
    expect(codesOf(faulty)).toEqual([code]);
  });
});

describe('the prices of earlier hours', () => {
  const PRICES = new Map(
    [1, 2, 3, 6, 12, 24, 48, 72, 96, 120, 144, 168, 720].map((hours) => [hours, 100 - hours / 10]),
  );
  const hoursIn = (query: URLSearchParams) =>
    (query.get('historical_prices') ?? '').split(',').filter(Boolean).map(Number);

  beforeEach(() => {
    fake.script.other = ({ query }) => ({
      headers: BILLED,
      json: {
        tokens: [
          {
            price_usd: 99,
            historical_prices: hoursIn(query)
              .filter((hours) => hours !== 720)
              .map((hours) => ({ offset_hours: hours, price_usd: hours === 168 ? 0 : PRICES.get(hours) })),
          },
        ],
      },
    });
  });

  const asked = () => fake.requests.map(({ query }) => query.get('historical_prices'));

  test('come with the market, in the order of the argument, with the exact change since', async () => {
    const { data, errors, extensions } = await gateway.query(
      `{ token: ${usdc()} { market { priceUsd priceHistory(hoursAgo: [24, 1, 720, 24]) { hoursAgo priceUsd changeRatio } } } }`,
    );
    const day = { hoursAgo: 24, priceUsd: '97.6', changeRatio: '0.014344262295081967' };
    expect([data, errors]).toEqual([
      {
        token: {
          market: {
            priceUsd: '99',
            priceHistory: [
              day,
              { hoursAgo: 1, priceUsd: '99.9', changeRatio: '-0.009009009009009009' },
              { hoursAgo: 720, priceUsd: null, changeRatio: null },
              day,
            ],
          },
        },
      },
      undefined,
    ]);
    expect(asked()).toEqual(['1,24,720']);
    expect(extensions.upstream).toMatchObject({ requests: 1, computeUnits: 2 });
  });

  test('of all uses in an operation become one request for every three', async () => {
    const prices = (hours: string) => `priceHistory(hoursAgo: [${hours}]) { hoursAgo changeRatio }`;
    const { data, extensions } = await gateway.query<Record<string, { market: object }>>(
      `{
        a: ${usdc()} { market { x: ${prices('1, 168')} ...F } }
        b: ${usdc()} { market { ...F } }
      }
      fragment F on TokenMarket { ${prices('24')} }`,
    );
    expect(data?.a?.market).toMatchObject({ x: [{ hoursAgo: 1 }, { hoursAgo: 168, changeRatio: null }] });
    expect(data?.b?.market).toMatchObject({ priceHistory: [{ hoursAgo: 24 }] });
    expect(asked()).toEqual(['1,24,168']);
    expect(extensions.upstream.computeUnits).toBe(2);
  });

  test('are at most twelve, for eight compute units, as estimated before', async () => {
    const twelve = [...PRICES.keys()].slice(0, 12);
    const query = (hours: readonly number[]) =>
      `{ token: ${usdc()} { market { priceHistory(hoursAgo: [${hours}]) { priceUsd } } } }`;
    await using cheap = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '7' });
    const refused = await cheap.query(query(twelve));
    expect(refused.errors).toMatchObject([{ extensions: { estimatedComputeUnits: 8 } }]);
    expect(fake.requests).toEqual([]);
    const { errors, extensions } = await gateway.query(query(twelve));
    expect([errors, extensions.upstream.computeUnits]).toEqual([undefined, 8]);
    expect(asked().toSorted()).toEqual(['1,2,3', '120,144,168', '48,72,96', '6,12,24']);
    for (const hours of [[...PRICES.keys()], [0], [1, -1]])
      expect(codesOf(await gateway.query(query(hours)))).toEqual(['BAD_USER_INPUT']);
  });
});

test('while the service fails, what it said last is served', async () => {
  await using impatient = await startGateway({ UPSTREAM_URL: fake.url, CACHE_NEWEST_MS: 'market=0' });
  const query = `{ token: ${usdc()} { market { symbol } } }`;
  const good = await impatient.query(query);
  reply = () => ({ status: 500, text: 'Failed to read from store' });
  const { data, errors } = await impatient.query(query);
  expect([data, errors]).toEqual([good.data, undefined]);
});

test('an operation that may cost too much is refused with its price and the cheaper way', async () => {
  await using cheap = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '39' });
  const addresses = Array.from({ length: 20 }, freshAddress);
  const tokens = addresses.map((address) => ({ contract: { chainId: 1, address } }));
  const { errors } = await cheap.query(
    'query ($tokens: [TokenInput!]!) { tokens(tokens: $tokens) { market { symbol } } }',
    { tokens },
  );
  expect(errors).toMatchObject([
    { extensions: { code: 'OPERATION_TOO_COMPLEX', estimatedComputeUnits: 40 } },
  ]);
  expect(errors?.[0]?.message).toContain('priceUsd');
  expect(fake.requests).toEqual([]);
  // Repeated tokens count once.
  const repeated = await cheap.query(
    'query ($tokens: [TokenInput!]!) { tokens(tokens: $tokens) { market { symbol } } }',
    { tokens: Array(20).fill(tokens[0]) },
  );
  expect([repeated.errors, repeated.extensions.upstream.computeUnits]).toEqual([undefined, 2]);
});

test('a chain that the gateway does not know is refused before it is billed', async () => {
  const answer = await marketOf(usdc(addressOf(1), 123456789));
  expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
  expect(fake.requests).toEqual([]);
});
