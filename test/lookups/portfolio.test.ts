import { expect, test } from 'vitest';
import { balances as lookup } from '../../src/lookups/balances/balances.ts';
import { deliver } from '../support/clients/deliver.ts';
import { startGateway } from '../support/gateway/start.ts';
import {
  addressOf,
  balance,
  balancesEnvelope,
  type Fields,
  freshAddress,
  nativeBalance,
} from '../support/upstream/builders.ts';
import { inTurn } from '../support/upstream/fake-service.ts';
import { serving } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

type Part = { chainId: number | null; balances: number; totalUsd: string; share: string | null };
type Change = {
  hoursAgo: number;
  totalUsd: string;
  changeUsd: string;
  changeRatio: string | null;
  unpricedBalances: number;
};
type Portfolio = {
  totalUsd: string;
  countedBalances: number;
  excluded: Part;
  unpricedBalances: number;
  byChain: Part[];
  top: { id: string; amount: string; valueUsd: string }[];
  change: Change[] | null;
  isComplete: boolean;
  unavailableChainIds: number[];
  asOf: string | null;
};
type Data = { wallet: { portfolio: Portfolio | null } };

const start = async (env: Record<string, string | undefined> = {}) => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, ...env }));
  return { fake, gateway, address: freshAddress(), [Symbol.asyncDispose]: () => made.disposeAsync() };
};

const WHOLE = `{
  totalUsd countedBalances excluded { chainId balances totalUsd share } unpricedBalances
  byChain { chainId balances totalUsd share } top { id amount valueUsd }
  change { hoursAgo totalUsd changeUsd changeRatio unpricedBalances } isComplete unavailableChainIds asOf
}`;

const documentOf = (args: string) =>
  `query ($address: Address!) { wallet(address: $address) { portfolio(${args}) ${WHOLE} } }`;

const shown = async (items: readonly Fields[], args = 'chainIds: [1, 10]', envelope: Fields = {}) => {
  await using over = await start();
  over.fake.balances.set(over.address, () => ({ json: balancesEnvelope(items, envelope) }));
  const { wallet } = await over.gateway.data<Data>(documentOf(args), { address: over.address });
  return wallet.portfolio;
};

test('each balance is counted, excluded or unpriced, and every sum is said', async () => {
  const held = (number: number, fields: Fields) =>
    balance({ address: addressOf(number), amount: String(number), ...fields });
  const portfolio = await shown([
    nativeBalance({ value_usd: 4500.5 }),
    held(1, { value_usd: 859.25, pool_size: 10_000 }),
    held(2, { value_usd: 1e30, pool_size: 1233 }),
    held(3, { value_usd: 7, pool_size: undefined, low_liquidity: true }),
    held(4, { value_usd: 0.25, pool_size: undefined, chain_id: 10, chain: 'optimism' }),
    held(5, { value_usd: undefined, price_usd: undefined }),
  ]);
  expect(portfolio).toMatchObject({
    totalUsd: '5360',
    countedBalances: 3,
    excluded: { chainId: null, balances: 2, totalUsd: `1${'0'.repeat(29)}7`, share: null },
    unpricedBalances: 1,
    byChain: [
      { chainId: 1, balances: 2, totalUsd: '5359.75', share: '0.999953358208955224' },
      { chainId: 10, balances: 1, totalUsd: '0.25', share: '0.000046641791044776' },
    ],
    top: [{ valueUsd: '4500.5' }, { valueUsd: '859.25', amount: '1' }, { valueUsd: '0.25', amount: '4' }],
    change: null,
    isComplete: true,
    unavailableChainIds: [],
  });
  expect(Date.parse(portfolio?.asOf ?? '')).toBeGreaterThan(0);
});

test.each([
  ['"0"', 3],
  ['"9.01"', 1],
  ['"9"', 2],
  ['null', 3],
])('minPoolSizeUsd: %s counts %i of three', async (min, counted) => {
  const pools = [1e6, 9, 0.5].map((pool_size, index) =>
    balance({ address: addressOf(index + 1), pool_size }),
  );
  const portfolio = await shown(pools, `chainIds: [1], minPoolSizeUsd: ${min}`);
  expect([portfolio?.countedBalances, portfolio?.excluded.balances]).toEqual([counted, 3 - counted]);
});

test('an empty wallet is worth nothing, without a share', async () => {
  expect(await shown([], 'chainIds: [1], priceHoursAgo: [1]')).toMatchObject({
    totalUsd: '0',
    countedBalances: 0,
    byChain: [],
    top: [],
    change: [{ hoursAgo: 1, totalUsd: '0', changeUsd: '0', changeRatio: null, unpricedBalances: 0 }],
    isComplete: true,
  });
});

test('change compares what counts now at the prices of then, without those that had none', async () => {
  const portfolio = await shown(
    [
      nativeBalance({
        amount: '1500000000000000000',
        value_usd: 4500,
        historical_prices: [
          { offset_hours: 24, price_usd: 2000 },
          { offset_hours: 1, price_usd: 4000 },
        ],
      }),
      balance({
        value_usd: 500,
        historical_prices: [{ offset_hours: 1, price_usd: 0 }],
        amount: '5',
        decimals: 0,
      }),
      balance({
        address: addressOf(9),
        value_usd: 1e20,
        pool_size: 9,
        historical_prices: [{ offset_hours: 1, price_usd: 9 }],
      }),
    ],
    'chainIds: [1], priceHoursAgo: [1, 24]',
  );
  expect(portfolio?.change).toEqual([
    {
      hoursAgo: 1,
      totalUsd: '6000',
      changeUsd: '-1000',
      changeRatio: '-0.166666666666666667',
      unpricedBalances: 0,
    },
    { hoursAgo: 24, totalUsd: '3000', changeUsd: '1500', changeRatio: '0.5', unpricedBalances: 1 },
  ]);
});

test('a value of a million digits is malformed: a quotient of two would take hours', async () => {
  await using over = await start();
  const { fake, gateway, address } = over;
  const digits = '7'.repeat(1_000_000);
  const items = [`${digits}.5`, `"${digits}"`, '3'].map(
    (value, index) =>
      `{ "chain_id": 1, "address": "${addressOf(index + 1)}", "amount": "1", "price_usd": 1, "value_usd": ${value} }`,
  );
  const headers = { 'content-type': 'application/json' };
  fake.balances.set(address, () => ({ text: `{ "balances": [${items.join()}] }`, headers }));
  const { wallet } = await gateway.data<Data>(documentOf('chainIds: [1]'), { address });
  expect(wallet.portfolio).toMatchObject({
    totalUsd: '3',
    isComplete: false,
    byChain: [{ chainId: 1, balances: 1, totalUsd: '3', share: '1' }],
  });
});

test('decimals that no token can have make no number of billions of digits: such a balance has no price of then', async () => {
  const lies = [-(2 ** 31), 2 ** 31 - 1, -1, 256].map((decimals, index) =>
    balance({
      address: addressOf(index + 1),
      decimals,
      value_usd: 1,
      historical_prices: [{ offset_hours: 1, price_usd: 2 }],
    }),
  );
  const portfolio = await shown(lies, 'chainIds: [1], priceHoursAgo: [1]');
  expect(portfolio).toMatchObject({ totalUsd: '4', countedBalances: 4 });
  expect(portfolio?.change).toEqual([
    { hoursAgo: 1, totalUsd: '0', changeUsd: '0', changeRatio: null, unpricedBalances: 4 },
  ]);
});

test.each([
  [
    'an error of a chain',
    { errors: { error_message: 'Some failed', token_errors: [{ chain_id: 10, address: 'native' }] } },
    [10],
    false,
  ],
  [
    'an error of tokens whose chain is none',
    {
      errors: { token_errors: [{ chain_id: null }, { chain_id: -1 }, { chain_id: '' }, { chain_id: true }] },
    },
    [],
    false,
  ],
  ['an error without a chain', { errors: { error_message: 'Some failed' } }, [], false],
  [
    'a warning of a chain',
    { warnings: [{ code: 'UNSUPPORTED_CHAIN_IDS', message: 'No', chain_ids: [10, 1] }] },
    [1, 10],
    false,
  ],
  ['empty errors', { errors: {}, warnings: [] }, [], true],
])('after %s, isComplete and unavailableChainIds say so', async (_what, envelope, chains, isComplete) => {
  expect(await shown([balance()], undefined, envelope)).toMatchObject({
    totalUsd: '859.5',
    unavailableChainIds: chains,
    isComplete,
  });
});

test('a balance that cannot be parsed leaves the total incomplete', async () => {
  expect(await shown([balance(), balance({ amount: 'many' })])).toMatchObject({
    totalUsd: '859.5',
    isComplete: false,
  });
});

/** An exact rational number of BigInts: nothing of it is shared with the gateway. */
type Rational = readonly [numerator: bigint, denominator: bigint];

const rational = (text: string): Rational => {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = BigInt(`${sign}${whole}${fraction}`);
  const scale = Number(exponent) - fraction.length;
  return scale >= 0 ? [digits * 10n ** BigInt(scale), 1n] : [digits, 10n ** BigInt(-scale)];
};
const plus = ([a, b]: Rational, [c, d]: Rational): Rational => [a * d + c * b, b * d];
const minus = (one: Rational, [c, d]: Rational): Rational => plus(one, [-c, d]);
const times = ([a, b]: Rational, [c, d]: Rational): Rational => [a * c, b * d];
const over = ([a, b]: Rational, [c, d]: Rational): Rational => [a * d, b * c];
const isSame = ([a, b]: Rational, [c, d]: Rational) => a * d === c * b;
/** Rounds half away from zero. */
const rounded = ([a, b]: Rational, places: number): Rational => {
  const scale = 10n ** BigInt(places);
  const negative = a < 0n !== b < 0n;
  const [n, d] = [a < 0n ? -a : a, b < 0n ? -b : b];
  const value = (2n * n * scale + d) / (2n * d);
  return [negative ? -value : value, scale];
};
const NOTHING: Rational = [0n, 1n];

/** A number of JSON, written as it stands. */
type Written = { readonly text: string };

const PRICES = [
  '1.233346836175539e+21',
  '2.3754275952306002e-11',
  '8.852246853764e-6',
  '10.0',
  '0.99999123456789',
  '7.65e-05',
  '9388386012000030000',
  '2959.30609483726',
];

/** 2,500 balances, many of them absurd: each with its numbers as the service writes them. */
const absurd = Array.from({ length: 2500 }, (_, index) => {
  const price = PRICES[index % PRICES.length] ?? '1';
  const amount = index % 5 === 0 ? `${index + 1}${'7'.repeat(74)}` : `${index + 1}000000123`;
  const value: Written = { text: `${index + 1}.${String(index).padStart(4, '0')}e${(index % 48) - 16}` };
  const earlier: Written = { text: PRICES[(index * 3 + 1) % PRICES.length] ?? '1' };
  return {
    address: addressOf(index + 1),
    chainId: [1, 10, 8453][index % 3] ?? 1,
    amount,
    decimals: index % 19,
    price,
    value: value.text,
    earlier: index % 11 === 0 ? null : earlier.text,
    pool: index % 4 === 0 ? '1233.5' : index % 7 === 0 ? null : '10000.0',
    isPriced: index % 13 !== 0,
  };
});

const json = ({
  address,
  chainId,
  amount,
  decimals,
  price,
  value,
  earlier,
  pool,
  isPriced,
}: (typeof absurd)[number]) =>
  `{"chain":"c${chainId}","chain_id":${chainId},"address":"${address}","amount":"${amount}","decimals":${decimals}` +
  (isPriced ? `,"price_usd":${price},"value_usd":${value}` : '') +
  (pool === null ? '' : `,"pool_size":${pool}`) +
  (earlier === null ? '' : `,"historical_prices":[{"offset_hours":24,"price_usd":${earlier}}]`) +
  '}';

test('2,500 balances with absurd prices and amounts are summed to the last digit, and cost nothing beside the list', async () => {
  await using started = await start();
  const { fake, gateway, address } = started;
  fake.balances.set(address, ({ query }) => {
    const from = Number(query.get('offset') ?? 0);
    const page = absurd.slice(from, from + 1000);
    const next = from + 1000 < absurd.length ? `,"next_offset":"${from + 1000}"` : '';
    return {
      text: `{"balances":[${page.map(json).join()}]${next}}`,
      headers: { 'x-compute-units-cost': '3' },
    };
  });
  const { data, extensions } = await gateway.query<Data>(
    `query ($address: Address!) { wallet(address: $address) {
      balances(chainIds: [1, 10, 8453], first: 1000) { nodes { valueUsd } }
      portfolio(chainIds: [1, 10, 8453], priceHoursAgo: [24]) ${WHOLE.replace('top {', 'top(first: 1000) {')}
    } }`,
    { address },
  );
  const portfolio = data?.wallet.portfolio;
  if (!portfolio) throw new TypeError('Expected a portfolio.');
  expect(extensions.upstream).toMatchObject({ requests: 3, computeUnits: 9 });

  const priced = absurd.filter(({ isPriced }) => isPriced);
  const counted = priced.filter(({ pool }) => pool !== '1233.5');
  const sum = (items: readonly (typeof absurd)[number][]) =>
    items.reduce((total, { value }) => plus(total, rational(value)), NOTHING);
  const expectSame = (got: string | null | undefined, expected: Rational) => {
    expect(got).toMatch(/^-?\d+(?:\.\d+)?$/);
    expect(isSame(rational(got ?? ''), expected), got ?? '').toBe(true);
  };
  const total = sum(counted);
  expectSame(portfolio.totalUsd, total);
  expect(portfolio.countedBalances).toBe(counted.length);
  expectSame(portfolio.excluded.totalUsd, sum(priced.filter((each) => !counted.includes(each))));
  expect(portfolio.excluded.balances).toBe(priced.length - counted.length);
  expect(portfolio.unpricedBalances).toBe(absurd.length - priced.length);
  expect(portfolio.byChain.map(({ chainId }) => chainId).toSorted()).toEqual([1, 10, 8453]);
  for (const { chainId, balances, totalUsd, share } of portfolio.byChain) {
    const ofChain = counted.filter((each) => each.chainId === chainId);
    expect(balances).toBe(ofChain.length);
    expectSame(totalUsd, sum(ofChain));
    expectSame(share, rounded(over(sum(ofChain), total), 18));
  }
  const withThen = counted.filter(({ earlier }) => earlier !== null);
  const before = withThen.reduce(
    (all, { amount, decimals, earlier }) =>
      plus(all, times([BigInt(amount), 10n ** BigInt(decimals)], rational(earlier ?? '0'))),
    NOTHING,
  );
  const [change] = portfolio.change ?? [];
  expectSame(change?.totalUsd, before);
  expectSame(change?.changeUsd, minus(sum(withThen), before));
  expectSame(change?.changeRatio, rounded(over(minus(sum(withThen), before), before), 18));
  expect(change?.unpricedBalances).toBe(counted.length - withThen.length);
  expect(portfolio.top).toHaveLength(1000);
  for (const [index, { valueUsd }] of portfolio.top.entries()) {
    const [above] = index === 0 ? [] : [portfolio.top[index - 1]?.valueUsd];
    if (above === undefined) continue;
    const [difference] = minus(rational(above), rational(valueUsd));
    expect(difference >= 0n).toBe(true);
  }
  expect(portfolio.isComplete).toBe(true);
});

test('a wallet of more than five pages, or with a page that fails, is summed in part', async () => {
  await using started = await start();
  const { fake, gateway, address } = started;
  const items = Array.from({ length: 5100 }, (_, index) =>
    balance({ address: addressOf(index + 1), amount: String(index), value_usd: 1 }),
  );
  fake.balances.set(address, serving(lookup, items));
  const sum = async () =>
    (await gateway.data<Data>(documentOf('chainIds: [1]'), { address })).wallet.portfolio;
  expect(await sum()).toMatchObject({ totalUsd: '5000', isComplete: false });
  expect(fake.requests).toHaveLength(5);

  const other = freshAddress();
  const first = serving(lookup, items);
  fake.balances.set(other, (request) =>
    request.query.has('offset') ? { status: 400, json: { message: 'No' } } : first(request),
  );
  const { data } = await gateway.query<Data>(documentOf('chainIds: [1]'), { address: other });
  expect(data?.wallet.portfolio).toMatchObject({ totalUsd: '1000', isComplete: false });
  fake.balances.set(other, () => ({ status: 400, json: { message: 'No' } }));
  const failed = await gateway.query<Data>(documentOf('chainIds: [10]'), { address: other });
  expect([failed.data?.wallet.portfolio, failed.errors?.length]).toEqual([null, 1]);
});

test('a refusal names the price in advance, and the cheaper way', async () => {
  await using started = await start({ MAX_COMPUTE_UNITS: '20' });
  const { fake, gateway, address } = started;
  const refused = await gateway.query(documentOf('first: 1').replace('(first: 1)', ''), { address });
  expect(refused.errors?.[0]).toMatchObject({
    message: expect.stringMatching(/20.*70.*wallet\.portfolio.*chainIds/),
    extensions: { code: 'OPERATION_TOO_COMPLEX', estimatedComputeUnits: 70 },
  });
  expect(fake.requests).toEqual([]);
  expect((await gateway.query(documentOf('chainIds: [1, 8453]'), { address })).errors).toBeUndefined();
});

test('a delivery that names the wallet makes its balances and its portfolio new', async () => {
  await using started = await start({ CACHE_NEWEST_MS: 'balances=600000' });
  const { fake, gateway, address } = started;
  fake.balances.set(
    address,
    inTurn(
      () => ({ json: balancesEnvelope([balance({ value_usd: 1 })]) }),
      () => ({ json: balancesEnvelope([balance({ value_usd: 2 })]) }),
    ),
  );
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const total = async () =>
    (await gateway.data<Data>(documentOf('chainIds: [1]'), { address })).wallet.portfolio?.totalUsd;
  expect([await total(), await total()]).toEqual(['1', '1']);
  const change = { subscribed_address: address, amount_after: '5', asset: { token_address: addressOf(9) } };
  expect(await deliver(deliveryUrl, { body: { balance_changes: [change] } })).toBe(200);
  expect([await total(), await total()]).toEqual(['2', '2']);
  expect(fake.requests).toHaveLength(2);
});
