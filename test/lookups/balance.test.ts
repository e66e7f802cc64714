import { expect, test } from 'vitest';
import { deliver } from '../support/clients/deliver.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';
import {
  addressOf,
  balance,
  balancesEnvelope,
  type Fields,
  freshAddress,
  nativeBalance,
} from '../support/upstream/builders.ts';
import type { SeenRequest } from '../support/upstream/fake-service.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** Wallet.balance, and node(id:) of a Balance: a request for the one balance, a list, or none. */

const HELD = [addressOf(0xa1), addressOf(0xa2)] as const;
const OTHER = addressOf(0xbad);

type Options = { env?: Record<string, string>; envelope?: Fields };

/** A wallet with two tokens and the native asset on Ethereum. */
const start = async ({ env = {}, envelope = {} }: Options = {}) => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, ...env }));
  const address = freshAddress();
  const items: Fields[] = [...HELD.map((token) => balance({ address: token, amount: '7' })), nativeBalance()];
  const answer = ({ path }: SeenRequest) => {
    const token = /\/token\/(.*)$/.exec(path)?.[1];
    if (token === undefined) return { json: balancesEnvelope(items, envelope) };
    return { json: balancesEnvelope(items.filter((item) => item.address === token)) };
  };
  for (const path of [address, ...HELD, OTHER, 'native']) fake.balances.set(path, answer);
  return {
    fake,
    gateway,
    address,
    wallet: (selection: string) =>
      gateway.query<{ wallet: Record<string, Fields | null> }>(
        `{ wallet(address: "${address}") { ${selection} } }`,
      ),
    asked: () =>
      fake.requests.map(({ path, query }) => [
        path.replace('/v1/evm/balances/', ''),
        Object.fromEntries(query),
      ]),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
};

const balanceId = (address: string, chain: number, token: string): string =>
  Buffer.from(`Balance:${address}:${chain}:${token}`).toString('base64');

const of = (token: string, alias = 'balance') =>
  `${alias}: balance(token: { contract: { chainId: 1, address: "${token}" } }) { id amount }`;

test('one balance is one request for it, of one compute unit', async () => {
  await using over = await start();
  const { data, extensions } = await over.wallet(of(HELD[0]));
  expect(data?.wallet.balance).toEqual({
    id: Buffer.from(`Balance:${over.address}:1:${HELD[0]}`).toString('base64'),
    amount: '7',
  });
  expect(over.asked()).toEqual([[`${over.address}/token/${HELD[0]}`, { chain_ids: '1' }]]);
  expect(extensions.upstream).toMatchObject({ requests: 1, computeUnits: 1 });
});

test.each([
  ['by nativeOf', 'nativeOf: 1'],
  ['by its id', `id: "${Buffer.from('Token:1:native').toString('base64')}"`],
])('the native asset is named %s, and details and hours are asked for', async (_how, token) => {
  await using over = await start();
  const selection = `balance(token: { ${token} }) { amount token { isNative logo } priceHistory(hoursAgo: [24]) { hoursAgo priceUsd } }`;
  expect((await over.wallet(selection)).data?.wallet.balance).toEqual({
    amount: '1500000000000000000',
    token: { isNative: true, logo: null },
    priceHistory: [{ hoursAgo: 24, priceUsd: null }],
  });
  expect(over.asked()).toEqual([
    [`${over.address}/token/native`, { chain_ids: '1', metadata: 'logo', historical_prices: '24' }],
  ]);
});

test('a token that the wallet does not hold is null', async () => {
  await using over = await start();
  const { data, errors } = await over.wallet(of(OTHER));
  expect([data?.wallet.balance, errors]).toEqual([null, undefined]);
});

test('two tokens of one wallet and chain become one list of the chain', async () => {
  await using over = await start();
  const { data, extensions } = await over.wallet(
    [...HELD, OTHER].map((token, index) => of(token, `b${index}`)).join(' '),
  );
  expect(Object.values(data?.wallet ?? {}).map((each) => each?.amount ?? null)).toEqual(['7', '7', null]);
  expect(over.asked()).toEqual([[over.address, { limit: '1000', chain_ids: '1' }]]);
  expect(extensions.upstream.computeUnits).toBe(1);
});

test.each([
  ['of the chain', 'chainIds: [1]'],
  ['of several chains', 'chainIds: [1, 8453]'],
  ["of the service's default chains", 'first: 1'],
])('a fresh and complete page %s answers for nothing, also what is not held', async (_which, args) => {
  await using over = await start();
  await over.wallet(`balances(${args}) { nodes { amount } }`);
  const held = await over.wallet(of(HELD[1]));
  const missing = await over.wallet(of(OTHER));
  expect([held.data?.wallet.balance?.amount, missing.data?.wallet.balance]).toEqual(['7', null]);
  expect([held, missing].map(({ extensions }) => extensions.upstream.computeUnits)).toEqual([0, 0]);
  expect(over.fake.requests).toHaveLength(1);
});

test('a page that the same operation fetches answers, wherever it stands in the document', async () => {
  await using over = await start();
  const { data, extensions } = await over.wallet(
    `${of(HELD[0])} balances(chainIds: [1]) { nodes { amount } }`,
  );
  expect(data?.wallet.balance?.amount).toBe('7');
  expect(extensions.upstream).toMatchObject({ requests: 1, computeUnits: 1 });
});

test.each([
  ['of another chain', 'chainIds: [10]', {}],
  ['that the service has filtered', 'chainIds: [1], excludeSpam: true', {}],
  ['with more pages behind it', 'chainIds: [1]', { next_offset: 'more' }],
  ['that lacks something', 'chainIds: [1]', { errors: { error_message: 'Some failed' } }],
  [
    'that lacks something of the chain',
    'chainIds: [1]',
    { errors: { token_errors: [{ chain_id: 1, address: OTHER }] } },
  ],
])('a page %s does not show that a token is not held', async (_which, args, envelope) => {
  await using over = await start({ envelope });
  await over.wallet(`balances(${args}, first: 1) { nodes { amount } }`);
  const { data, extensions } = await over.wallet(of(OTHER));
  expect([data?.wallet.balance, extensions.upstream.computeUnits]).toEqual([null, 1]);
  expect(over.asked().at(-1)?.[0]).toBe(`${over.address}/token/${OTHER}`);
});

test('a page that lacks something of another chain does', async () => {
  await using over = await start({
    envelope: { errors: { token_errors: [{ chain_id: 10, address: OTHER }] } },
  });
  await over.wallet('balances(chainIds: [1, 10]) { nodes { amount } }');
  expect((await over.wallet(of(OTHER))).extensions.upstream.computeUnits).toBe(0);
});

test('a stale page does not answer', async () => {
  await using over = await start({ env: { CACHE_NEWEST_MS: 'balances=0' } });
  await over.wallet('balances(chainIds: [1]) { nodes { amount } }');
  await over.wallet(of(HELD[0]));
  expect(over.asked().map(([path]) => path)).toEqual([over.address, `${over.address}/token/${HELD[0]}`]);
});

const node = (gateway: Gateway, id: string) =>
  gateway.query<{ node: Fields | null }>(
    'query ($id: ID!) { node(id: $id) { id ... on Balance { amount token { logo } } } }',
    { id },
  );

test('node(id:) refetches a balance as a list has it, with the details that it selects', async () => {
  await using over = await start();
  const listed = await over.wallet('balances(chainIds: [1]) { nodes { id amount token { logo } } }');
  const { nodes: [first] = [] } = (listed.data?.wallet.balances ?? {}) as { nodes?: Fields[] };
  const again = await node(over.gateway, String(first?.id));
  expect(again.data?.node).toEqual(first);
  expect(again.extensions.upstream.computeUnits).toBe(0);
  const other = balanceId(over.address, 10, 'native');
  expect((await node(over.gateway, other)).data?.node).toEqual(null);
  expect(over.asked().at(-1)).toEqual([
    `${over.address}/token/native`,
    { chain_ids: '10', metadata: 'logo' },
  ]);
});

test.each([
  'Balance:x',
  `Balance:${addressOf(1)}`,
  `Balance:${addressOf(1)}:1:NATIVE`,
  `Balance:${addressOf(1)}:01:native`,
])('the id %s is refused', async (text) => {
  await using over = await start();
  const { errors } = await node(over.gateway, Buffer.from(text).toString('base64'));
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  expect(over.fake.requests).toEqual([]);
});

test.each([
  [
    'Wallet.balance',
    (address: string) => `wallet(address: "${address}") { ${of(OTHER, 'a')} ${of(addressOf(0xbae), 'b')} }`,
  ],
  [
    'nodes',
    (address: string) =>
      `nodes(ids: ${JSON.stringify([OTHER, addressOf(0xbae)].map((token) => balanceId(address, 1, token)))}) { id }`,
  ],
])(
  '%s: tokens that the first page of their chain lacks cost no more than the estimate says',
  async (_how, selection) => {
    const ask = async (allowed: string) => {
      await using over = await start({
        env: { MAX_COMPUTE_UNITS: allowed },
        envelope: { next_offset: 'more' },
      });
      over.fake.balances.set(addressOf(0xbae), () => ({ json: balancesEnvelope([]) }));
      const { address } = over;
      return over.gateway.query(`{ ${selection(address)} }`);
    };
    const { extensions } = await ask('100');
    expect(extensions.upstream).toMatchObject({ requests: 3, computeUnits: 3 });
    expect((await ask('2')).errors?.[0]?.extensions).toMatchObject({ estimatedComputeUnits: 3 });
  },
);

test('each chain of each wallet counts in the estimate, and each node', async () => {
  await using over = await start({ env: { MAX_COMPUTE_UNITS: '1' } });
  const again = `${of(HELD[0])} again: ${of(HELD[0]).replace('balance: ', '')}`;
  expect((await over.wallet(again)).errors).toBeUndefined();
  const refused = await over.wallet(`${of(HELD[0])} native: balance(token: { nativeOf: 10 }) { amount }`);
  expect(refused.errors?.[0]?.extensions).toMatchObject({
    code: 'OPERATION_TOO_COMPLEX',
    estimatedComputeUnits: 2,
  });
  const ids = [1, 10].map((chain) => balanceId(over.address, chain, 'native'));
  const nodes = await over.gateway.query('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
  expect(nodes.errors?.[0]?.extensions).toMatchObject({
    code: 'OPERATION_TOO_COMPLEX',
    estimatedComputeUnits: 2,
  });
});

test('a delivered balance has the id of a listed one, and is null where the address, token, chain or amount is unknown', async () => {
  await using over = await start();
  const { deliveryUrl } = await over.gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const whole = { subscribed_address: over.address, amount_after: '9', asset: { token_address: HELD[0] } };
  const odd = [
    { ...whole, subscribed_address: undefined },
    { ...whole, asset: {} },
    { ...whole, amount_after: undefined },
  ];
  expect(await deliver(deliveryUrl, { chainId: 1, body: { balance_changes: [whole, ...odd] } })).toBe(200);
  expect(await deliver(deliveryUrl, { body: { balance_changes: [whole] } })).toBe(200);
  const document =
    '{ deliveries { nodes { events { ... on BalanceChange { balance { id chain amount } } } } } }';
  const { deliveries } = await over.gateway.data<{ deliveries: { nodes: { events: Fields[] }[] } }>(document);
  const id = Buffer.from(`Balance:${over.address}:1:${HELD[0]}`).toString('base64');
  expect(deliveries.nodes.flatMap(({ events }) => events).map((event) => event.balance)).toEqual([
    { id, chain: 'ethereum', amount: '9' },
    ...[null, null, null],
    null,
  ]);
});
