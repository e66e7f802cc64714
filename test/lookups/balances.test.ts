import { expect, test } from 'vitest';
import { balances as lookup } from '../../src/lookups/balances/balances.ts';
import { startGateway } from '../support/gateway/start.ts';
import {
  addressOf,
  balance,
  balancesEnvelope,
  type Fields,
  freshAddress,
  nativeBalance,
} from '../support/upstream/builders.ts';
import { type FakeService, inTurn } from '../support/upstream/fake-service.ts';
import { serving } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

type Connection = {
  nodes: (Fields | null)[];
  edges?: { cursor: string; node: Fields }[];
  pageInfo?: { hasNextPage: boolean; endCursor: string | null };
  requestTime: string | null;
  partialErrors: unknown;
};
type Data = { wallet: { balances: Connection } };

const start = async (env: Record<string, string | undefined> = {}) => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, ...env }));
  return { fake, gateway, address: freshAddress(), [Symbol.asyncDispose]: () => made.disposeAsync() };
};

const asked = ({ requests }: Pick<FakeService, 'requests'>) =>
  requests.map(({ path, query }) => [path, Object.fromEntries(query)]);

const everything = `query ($address: Address!) {
  wallet(address: $address) {
    balances(chainIds: [1]) {
      requestTime responseTime partialErrors
      nodes {
        id wallet { id address } chain chainId amount valueUsd priceUsd lowLiquidity poolSizeUsd tokenUrl
        token {
          id chain chainId address isNative symbol name decimals logo
        }
        priceHistory(hoursAgo: [24, 1]) { hoursAgo priceUsd changeRatio }
        pool { type address chainId tokens }
      }
    }
  }
}`;

const id = (text: string) => Buffer.from(text).toString('base64');

test('every field of a balance reaches the client, of a token and of the native asset', async () => {
  await using over = await start();
  const { fake, gateway, address } = over;
  const token = addressOf(0xabcd);
  fake.balances.set(address, () => ({
    json: balancesEnvelope([
      balance({
        address: token.toUpperCase().replace('0X', '0x'),
        low_liquidity: false,
        token_metadata: { logo: 'https://example.com/logo.png', url: 'https://example.com' },
        historical_prices: [
          { offset_hours: 1, price_usd: 3 },
          { offset_hours: 24, price_usd: 1.2 },
        ],
        pool: { pool_type: 'uniswap_v3', address: addressOf(7), chain_id: 1, tokens: [token, addressOf(8)] },
      }),
      nativeBalance({ historical_prices: [{ offset_hours: 1, price_usd: 2000 }] }),
    ]),
  }));
  const { wallet } = await gateway.data<Data>(everything, { address });
  const [held, native] = wallet.balances.nodes;
  expect(held).toEqual({
    id: id(`Balance:${address}:1:${token}`),
    wallet: { id: id(`Wallet:${address}`), address },
    chain: 'ethereum',
    chainId: 1,
    amount: '573000000',
    valueUsd: '859.5',
    priceUsd: '1.5',
    lowLiquidity: false,
    poolSizeUsd: '48210330.5',
    tokenUrl: 'https://example.com',
    token: {
      id: id(`Token:1:${token}`),
      chain: 'ethereum',
      chainId: 1,
      address: token,
      isNative: false,
      symbol: 'USDC',
      name: 'USD Coin',
      decimals: 6,
      logo: 'https://example.com/logo.png',
    },
    priceHistory: [
      { hoursAgo: 24, priceUsd: '1.2', changeRatio: '0.25' },
      { hoursAgo: 1, priceUsd: '3', changeRatio: '-0.5' },
    ],
    pool: { type: 'uniswap_v3', address: addressOf(7), chainId: 1, tokens: [token, addressOf(8)] },
  });
  expect(native).toMatchObject({
    id: id(`Balance:${address}:1:native`),
    lowLiquidity: false,
    poolSizeUsd: null,
    token: {
      id: id('Token:1:native'),
      address: null,
      isNative: true,
      name: 'Ether',
      logo: null,
    },
    priceHistory: [
      { hoursAgo: 24, priceUsd: null, changeRatio: null },
      { hoursAgo: 1, priceUsd: '2000', changeRatio: '0.5' },
    ],
    pool: null,
  });
  expect(asked(fake)).toEqual([
    [
      `/v1/evm/balances/${address}`,
      { limit: '1000', chain_ids: '1', metadata: 'logo,url,pools', historical_prices: '1,24' },
    ],
  ]);
});

const shown = async (...items: Fields[]) => {
  await using over = await start();
  over.fake.balances.set(over.address, () => ({ json: balancesEnvelope(items) }));
  const { wallet } = await over.gateway.data<Data>(everything, { address: over.address });
  return wallet.balances.nodes;
};

test('decimals that no token can have are null, and the balance is there', async () => {
  const decimals = [0, 255, '18', 256, -1, 1e9, 1e12, 1.5, 'many', {}];
  const nodes = await shown(
    ...decimals.map((each, index) => balance({ address: addressOf(index + 1), decimals: each })),
  );
  expect(nodes.map((node) => (node?.token as Fields | undefined)?.decimals)).toEqual([
    ...[0, 255, 18],
    ...[null, null, null, null, null, null, null],
  ]);
});

test('a field that the service omits, or sends as null, is null', async () => {
  const omitted = { symbol: undefined, name: undefined, decimals: undefined, price_usd: undefined };
  const [thin, nulls] = await shown(
    balance({ ...omitted, value_usd: undefined, pool_size: undefined }),
    balance({
      address: addressOf(2),
      price_usd: null,
      value_usd: null,
      pool_size: null,
      token_metadata: null,
    }),
  );
  expect(thin).toMatchObject({
    valueUsd: null,
    priceUsd: null,
    lowLiquidity: null,
    tokenUrl: null,
    token: { symbol: null, name: null, decimals: null, logo: null },
  });
  expect(nulls).toMatchObject({ valueUsd: null, priceUsd: null, poolSizeUsd: null, token: { logo: null } });
});

test.each([
  [1.233346836175539e21, '1233346836175539000000'],
  ['1.233346836175539e+21', '1233346836175539000000'],
  [8.852246853764e-6, '0.000008852246853764'],
  ['2.3754275952306002e-11', '0.000000000023754275952306002'],
])('a price of %s keeps its digits, without an exponent', async (price, digits) => {
  const [node] = await shown(balance({ price_usd: Number(price) }));
  expect(node?.priceUsd).toBe(digits);
});

test.each([
  [{ pool_size: 1233 }, true],
  [{ pool_size: 9_999.99 }, true],
  [{ pool_size: 10_000 }, false],
  [{ pool_size: 1233, low_liquidity: false }, false],
  [{ pool_size: undefined, low_liquidity: true }, true],
  [{ pool_size: undefined }, null],
])('a balance with %j has lowLiquidity %s', async (fields, low) => {
  const [node] = await shown(balance(fields));
  expect(node).toMatchObject({ lowLiquidity: low });
});

test('an amount of 256 bits keeps all its digits', async () => {
  const amount = '115792089237316195423570985008687907853269984665640564039457584007913129639935';
  expect((await shown(balance({ amount })))[0]?.amount).toBe(amount);
});

test('the two tokens of an older pool are read as well', async () => {
  const [node] = await shown(
    balance({ pool: { pool_type: 'uniswap_v2', token0: addressOf(1), token1: addressOf(2) } }),
  );
  expect(node?.pool).toEqual({
    type: 'uniswap_v2',
    address: null,
    chainId: null,
    tokens: [addressOf(1), addressOf(2)],
  });
});

test('a malformed balance is null with an error, and leaves the others alone', async () => {
  await using over = await start();
  const { fake, gateway, address } = over;
  fake.balances.set(address, () => ({
    json: balancesEnvelope([balance({ amount: 'many' }), nativeBalance(), { chain: 'ethereum' }]),
  }));
  const { data, errors } = await gateway.query<Data>(everything, { address });
  expect(data?.wallet.balances.nodes.map((node) => node?.amount ?? null)).toEqual([
    null,
    '1500000000000000000',
    null,
  ]);
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual([
    'UPSTREAM_INVALID_RESPONSE',
    'UPSTREAM_INVALID_RESPONSE',
  ]);
});

test.each([
  ['assetClass: NATIVE', { filters: 'native' }],
  ['assetClass: ERC20', { filters: 'erc20' }],
  ['assetClass: STABLECOIN', { asset_class: 'stablecoin' }],
  ['excludeSpam: true', { exclude_spam_tokens: 'true' }],
  ['excludeUnpriced: true', { exclude_unpriced: 'true' }],
  ['chainTags: ["testnet"]', { chain_ids: 'testnet' }],
  ['first: 3, minPoolSizeUsd: "5"', {}],
])('balances(%s) asks the service for %j', async (args, parameters) => {
  await using over = await start();
  const { fake, gateway, address } = over;
  await gateway.data(`{ wallet(address: "${address}") { balances(${args}) { nodes { amount } } } }`);
  expect(asked(fake)).toEqual([[`/v1/evm/balances/${address}`, { limit: '1000', ...parameters }]]);
});

test('fields of one operation that differ in details, hours, size or pool size share one request', async () => {
  await using over = await start();
  const { fake, gateway, address } = over;
  fake.balances.set(address, () => ({
    json: balancesEnvelope([
      balance({ historical_prices: [1, 24].map((hours) => ({ offset_hours: hours, price_usd: hours })) }),
    ]),
  }));
  const { data, extensions } = await gateway.query<{ wallet: Record<string, Connection> }>(`{
    wallet(address: "${address}") {
      plain: balances(chainIds: [1], first: 1) { nodes { amount } }
      day: balances(chainIds: [1]) { nodes { token { logo } priceHistory(hoursAgo: [24]) { hoursAgo priceUsd } } }
      hour: balances(chainIds: [1], minPoolSizeUsd: "1") { nodes { pool { type } priceHistory(hoursAgo: [1]) { hoursAgo priceUsd } } }
    }
  }`);
  expect(asked(fake).map(([, query]) => query)).toEqual([
    { limit: '1000', chain_ids: '1', metadata: 'logo,pools', historical_prices: '1,24' },
  ]);
  expect(extensions.upstream).toMatchObject({ requests: 1, computeUnits: 1 });
  expect([data?.wallet.day, data?.wallet.hour].map((list) => list?.nodes[0]?.priceHistory)).toEqual([
    [{ hoursAgo: 24, priceUsd: '24' }],
    [{ hoursAgo: 1, priceUsd: '1' }],
  ]);
});

const HOURS = (groups: readonly (readonly number[])[]) =>
  groups
    .map(
      (hours, index) =>
        `h${index}: balances(chainIds: [1, 10]) { nodes { priceHistory(hoursAgo: ${JSON.stringify(hours)}) { priceUsd } } }`,
    )
    .join(' ');

test('more than three hours take one more request, and the estimate knows', async () => {
  await using over = await start({ MAX_COMPUTE_UNITS: '3' });
  const { fake, gateway, address } = over;
  const query = (...groups: (readonly number[])[]) =>
    gateway.query(`{ wallet(address: "${address}") { ${HOURS(groups)} } }`);
  expect((await query([1, 2], [2, 3], [3, 1])).errors).toBeUndefined();
  expect(asked(fake).map(([, sent]) => Object(sent).historical_prices)).toEqual(['1,2,3']);
  const refused = await query([1, 2, 3], [4]);
  expect(refused.errors?.[0]).toMatchObject({
    message: expect.stringMatching(/3.*4.*chainIds/),
    extensions: { code: 'OPERATION_TOO_COMPLEX', estimatedComputeUnits: 4, allowedComputeUnits: 3 },
  });
  expect(fake.requests).toHaveLength(1);
  await using richer = await start();
  await richer.gateway.data(`{ wallet(address: "${richer.address}") { ${HOURS([[1, 2, 3], [4], [5]])} } }`);
  expect(
    asked(richer.fake)
      .map(([, sent]) => Object(sent).historical_prices)
      .sort(),
  ).toEqual(['1,2,3', '4,5']);
});

test('a page keeps the hours of several clients, but never asks for more than three', async () => {
  await using over = await start({ CACHE_NEWEST_MS: 'balances=60000' });
  const { fake, gateway, address } = over;
  for (const hours of [[1], [24], [168], [720], [24]])
    await gateway.query(`{ wallet(address: "${address}") { ${HOURS([hours])} } }`);
  expect(asked(fake).map(([, sent]) => Object(sent).historical_prices)).toEqual([
    '1',
    '1,24',
    '1,24,168',
    '720',
    '24,720',
  ]);
});

test.each([
  ['[1, 2, 3, 4]', 'at most 3'],
  ['[0]', 'from 1'],
])('priceHistory of hours %s is refused before a request', async (hours, message) => {
  await using over = await start();
  const { fake, gateway, address } = over;
  const { errors } = await gateway.query(
    `{ wallet(address: "${address}") { balances { nodes { priceHistory(hoursAgo: ${hours}) { priceUsd } } } } }`,
  );
  expect(errors?.[0]).toMatchObject({
    message: expect.stringContaining(message),
    extensions: { code: 'BAD_USER_INPUT' },
  });
  expect(fake.requests).toEqual([]);
});

const PAGE = `query ($address: Address!, $first: Int, $after: String, $min: Decimal) {
  wallet(address: $address) {
    balances(chainIds: [1], first: $first, after: $after, minPoolSizeUsd: $min) {
      edges { cursor node { amount poolSizeUsd } } pageInfo { hasNextPage endCursor }
    }
  }
}`;

test('minPoolSizeUsd fills its pages from as many of the service as it takes, by cursors of its own', async () => {
  await using over = await start();
  const { fake, gateway, address } = over;
  // Of 2,500 balances each hundredth has a large pool, and the native asset is the last.
  const items = [
    ...Array.from({ length: 2499 }, (_, index) =>
      balance({
        address: addressOf(index + 1),
        amount: String(index),
        pool_size: index % 100 === 0 ? 10_000 : 9,
      }),
    ),
    nativeBalance({ amount: '2499' }),
  ];
  fake.balances.set(address, serving(lookup, items));
  const seen: unknown[] = [];
  let after: string | null = null;
  for (let pages = 0; pages < 5; pages += 1) {
    const page: Data = await gateway.data<Data>(PAGE, { address, first: 10, after, min: '10000' });
    const { edges, pageInfo } = page.wallet.balances;
    seen.push(...(edges ?? []).map(({ node }) => node.amount));
    after = pageInfo?.endCursor ?? null;
    if (pageInfo?.hasNextPage === false) break;
    expect(edges).toHaveLength(10);
  }
  expect(seen).toEqual([...Array.from({ length: 25 }, (_, index) => String(index * 100)), '2499']);
  expect(fake.requestsFor(address)).toHaveLength(3);
  const other = await gateway.query(PAGE, { address, first: 10, after, min: '9' });
  expect(other.errors?.[0]?.extensions.code).toBe('INVALID_CURSOR');
});

test('the hours of priceHistory are no part of a cursor', async () => {
  await using over = await start();
  const { fake, gateway, address } = over;
  fake.balances.set(address, () => ({ json: balancesEnvelope([balance(), nativeBalance()]) }));
  const page = (args: string, hours: string) =>
    gateway.data<Data>(
      `{ wallet(address: "${address}") { balances(${args}) { nodes { amount priceHistory(hoursAgo: [${hours}]) { hoursAgo } } pageInfo { hasNextPage endCursor } } } }`,
    );
  const { wallet } = await page('first: 1', '24');
  const next = await page(`first: 1, after: "${wallet.balances.pageInfo?.endCursor}"`, '1');
  expect(next.wallet.balances.nodes).toEqual([
    { amount: '1500000000000000000', priceHistory: [{ hoursAgo: 1 }] },
  ]);
});

test("the service's errors and warnings are in partialErrors", async () => {
  await using over = await start();
  const { fake, gateway, address } = over;
  const problems = {
    errors: { error_message: 'Some failed', token_errors: [{ chain_id: 10, address: 'native' }] },
    warnings: [{ code: 'UNSUPPORTED_CHAIN_IDS', message: 'Some are not supported', chain_ids: [9999] }],
  };
  fake.balances.set(
    address,
    inTurn(
      () => ({ json: balancesEnvelope([], problems) }),
      () => ({ json: balancesEnvelope([], { errors: null }) }),
    ),
  );
  const { wallet } = await gateway.data<Data>(everything, { address });
  expect(wallet.balances.partialErrors).toEqual(problems);
});

test('a page is fresh for 10 s by default, and is served when the service fails later', async () => {
  await using over = await start({ CACHE_NEWEST_MS: 'balances=0' });
  const { fake, gateway, address } = over;
  fake.balances.set(
    address,
    inTurn(
      () => ({ json: balancesEnvelope([balance()]) }),
      () => ({ status: 503, json: { message: 'Try again later' } }),
    ),
  );
  const [first, second] = [
    await gateway.query(everything, { address }),
    await gateway.query(everything, { address }),
  ];
  expect(second.errors).toBeUndefined();
  expect(second.data).toEqual(first.data);
});

test('a picture or a website is a URL of http, https or ipfs; any other text is null', async () => {
  await using over = await start();
  const { fake, gateway, address } = over;
  const kept = ['https://example.com/a.png', 'HTTP://example.com', 'ipfs://x'];
  const left = [
    'javascript:alert(1)',
    'data:image/svg+xml,<svg/>',
    '//example.com',
    ' https://x',
    'https://',
    '',
  ];
  fake.balances.set(address, () => ({
    json: balancesEnvelope(
      [...kept, ...left].map((text, index) =>
        balance({ address: addressOf(index + 1), token_metadata: { logo: text, url: text } }),
      ),
    ),
  }));
  const { wallet } = await gateway.data<Data>(
    'query ($address: Address!) { wallet(address: $address) { balances(chainIds: [1]) { nodes { tokenUrl token { logo } } } } }',
    { address },
  );
  expect(wallet.balances.nodes).toEqual([
    ...kept.map((text) => ({ tokenUrl: text, token: { logo: text } })),
    ...left.map(() => ({ tokenUrl: null, token: { logo: null } })),
  ]);
});
