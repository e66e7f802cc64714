import { expect, test } from 'vitest';
import { lookups } from '../../src/lookups/registry.ts';
import type { AnyLookup } from '../../src/upstream/lookup.ts';
import { codesOf, startGateway } from '../support/gateway/start.ts';
import { sampleItems, sampleOf } from '../support/lookups/samples.ts';
import {
  addressOf,
  balance,
  balancesEnvelope,
  type Fields,
  freshAddress,
  nativeBalance,
} from '../support/upstream/builders.ts';
import { serving } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** A service that answers with items of other chains than were asked for: they are no items of the list, and count in no sum. */

const BASE = { chain: 'base', chain_id: 8453 };
const ETHEREUM = { chain: 'ethereum', chain_id: 1 };

/** Of a lookup that says the chain by its name alone. */
const onlyNamed = (lookup: AnyLookup, { chain, chain_id }: typeof BASE): Fields =>
  lookup.name === 'transactions' ? { chain } : { chain, chain_id };

const start = async (readPath: 'fast' | 'plain' = 'fast') => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url }, { readPath }));
  const running = made.move();
  return { fake, gateway, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

const ofChains = lookups.filter(({ name }) => sampleOf({ name }).parent === undefined);

const cases = ofChains.flatMap((lookup) =>
  (['fast', 'plain'] as const).map((readPath) => [lookup.name, readPath, lookup] as const),
);

test.each(cases)(
  '%s by %s: an item of another chain is null, with an error',
  async (name, readPath, lookup) => {
    await using over = await start(readPath);
    const { fake, gateway } = over;
    const address = freshAddress();
    const items = sampleItems(lookup, 12).map((item, index) => ({
      ...item,
      ...onlyNamed(lookup, index % 4 === 2 ? BASE : ETHEREUM),
    }));
    fake.scriptsOf(lookup).set(address, serving(lookup, items));
    const [key, wire] = sampleOf(lookup).key;
    const ask = async (args: string) => {
      const { data, errors } = await gateway.query<{ wallet: { page: { nodes: (Fields | null)[] } } }>(
        `{ wallet(address: "${address}") { page: ${name}(first: 12${args}) { nodes { key: ${key} } } } }`,
      );
      return { nodes: data?.wallet.page.nodes.map((node) => node?.key ?? null), codes: codesOf({ errors }) };
    };
    const all = items.map((item) => String((item as Fields)[wire]));
    const own = all.map((id, index) => (index % 4 === 2 ? null : id));
    const invalid = 'UPSTREAM_INVALID_RESPONSE';
    expect(await ask(', chainIds: [1]')).toEqual({ nodes: own, codes: [invalid, invalid, invalid] });
    // Also from the cache, and as the plan of another document writes it.
    expect(await ask(', chainIds: [1]')).toEqual({ nodes: own, codes: [invalid, invalid, invalid] });
    // Which chains a tag selects is for the service to say.
    for (const args of [
      '',
      ', chainIds: [1, 8453]',
      ', chainTags: ["mainnet"]',
      ', chainIds: [1], chainTags: ["mainnet"]',
    ])
      expect(await ask(args)).toEqual({ nodes: all, codes: [] });
  },
);

test('the error names the chain, and which were asked for', async () => {
  await using over = await start();
  const { fake, gateway } = over;
  const address = freshAddress();
  fake.balances.set(address, () => ({ json: balancesEnvelope([nativeBalance(), nativeBalance(BASE)]) }));
  const { errors } = await gateway.query(
    `{ wallet(address: "${address}") { balances(chainIds: [10, 1]) { nodes { amount } } } }`,
  );
  expect(errors).toMatchObject([
    {
      message:
        "The service sent an item that can't be parsed. balances[1].chain_id: expected one of 1, 10, as requested, got 8453.",
      path: ['wallet', 'balances', 'nodes', 1],
      extensions: { code: 'UPSTREAM_INVALID_RESPONSE', field: 'balances[1].chain_id' },
    },
  ]);
});

test.each(['fast', 'plain'] as const)('a chain is the same in each spelling, by %s', async (readPath) => {
  await using over = await start(readPath);
  const { fake, gateway } = over;
  const address = freshAddress();
  const spellings = ['8453', '0x2105', 8453, '1', '0x1', 1, '01', '0X2105'];
  const items = spellings.map((chain_id, index) => balance({ chain_id, address: addressOf(index + 1) }));
  fake.balances.set(address, () => ({ json: balancesEnvelope(items) }));
  const { data } = await gateway.query<{ wallet: { balances: { nodes: (Fields | null)[] } } }>(
    `{ wallet(address: "${address}") { balances(chainIds: [1]) { nodes { chainId } } } }`,
  );
  expect(data?.wallet.balances.nodes.map((node) => node?.chainId ?? null)).toEqual([
    ...[null, null, null, 1, 1, 1, 1, null],
  ]);
});

test('a balance of another chain counts in no portfolio of one, which says that it is incomplete', async () => {
  await using over = await start();
  const { fake, gateway } = over;
  const address = freshAddress();
  const items = [nativeBalance({ value_usd: 10 }), nativeBalance({ ...BASE, value_usd: 1_000_000 })];
  fake.balances.set(address, () => ({ json: balancesEnvelope(items) }));
  const portfolio = async (args: string) => {
    const fields =
      'totalUsd countedBalances unpricedBalances excluded { balances } byChain { chainId } isComplete';
    const { data, errors } = await gateway.query<{ wallet: { portfolio: Fields } }>(
      `{ wallet(address: "${address}") { portfolio${args} { ${fields} top { amount } } } }`,
    );
    expect(errors).toBeUndefined();
    return data?.wallet.portfolio;
  };
  expect(await portfolio('(chainIds: [1])')).toEqual({
    totalUsd: '10',
    countedBalances: 1,
    unpricedBalances: 0,
    excluded: { balances: 0 },
    byChain: [{ chainId: 1 }],
    isComplete: false,
    top: [{ amount: items[0]?.amount }],
  });
  expect(await portfolio('')).toMatchObject({ totalUsd: '1000010', countedBalances: 2, isComplete: true });
});

test('a single balance that is answered by one of another chain is an error, and not none', async () => {
  await using over = await start();
  const { fake, gateway } = over;
  const address = freshAddress();
  const ask = (token: string) =>
    gateway.query<{ wallet: { balance: Fields | null } }>(
      `{ wallet(address: "${address}") { balance(token: { ${token} }) { amount } } }`,
    );
  fake.balances.set('native', () => ({ json: balancesEnvelope([nativeBalance(BASE)]) }));
  const other = await ask('nativeOf: 1');
  expect([other.data?.wallet.balance, codesOf(other)]).toEqual([null, ['UPSTREAM_INVALID_RESPONSE']]);

  const token = addressOf(0x70);
  const errors = { error_message: 'No', token_errors: [{ chain_id: 1, address: token }] };
  fake.balances.set(token, () => ({ json: balancesEnvelope([], { errors }) }));
  const unread = await ask(`contract: { chainId: 1, address: "${token}" }`);
  expect([unread.data?.wallet.balance, codesOf(unread)]).toEqual([null, ['UPSTREAM_UNAVAILABLE']]);

  fake.balances.set(token, () => ({ json: balancesEnvelope([balance({ address: token, amount: 'many' })]) }));
  const malformed = await gateway.query<{ wallet: { balance: Fields | null } }>(
    `{ wallet(address: "${freshAddress()}") { balance(token: { contract: { chainId: 1, address: "${token}" } }) { amount } } }`,
  );
  expect([malformed.data?.wallet.balance, codesOf(malformed)]).toEqual([null, ['UPSTREAM_INVALID_RESPONSE']]);
});

test('what the service says of a token of another chain is an error, and tokens of other chains are not found', async () => {
  await using over = await start();
  const { fake, gateway } = over;
  const address = addressOf(0x71);
  fake.script.other = ({ path }) =>
    path.includes('/search/')
      ? {
          json: [
            { ...ETHEREUM, address, symbol: 'ONE' },
            { ...BASE, address, symbol: 'TWO' },
          ],
        }
      : { json: { tokens: [{ ...BASE, price_usd: 7 }] } };
  const of = (chainId: number) =>
    `token(token: { contract: { chainId: ${chainId}, address: "${address}" } })`;
  const { data, errors } = await gateway.query<Record<string, unknown>>(`{
    one: ${of(1)} { market { priceUsd } }
    two: ${of(8453)} { market { priceUsd } }
    found: searchTokens(query: "abc", chainIds: [1]) { nodes { symbol } }
    all: searchTokens(query: "abc") { nodes { symbol } }
  }`);
  expect(codesOf({ errors })).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  expect(data).toEqual({
    one: { market: null },
    two: { market: { priceUsd: '7' } },
    found: { nodes: [{ symbol: 'ONE' }] },
    all: { nodes: [{ symbol: 'ONE' }, { symbol: 'TWO' }] },
  });
});

test("the service's own sum of positions is null where it counts some of other chains", async () => {
  await using over = await start();
  const { fake, gateway } = over;
  const lookup = lookups.find(({ name }) => name === 'defiPositions') as AnyLookup;
  const address = freshAddress();
  const [one = {}, two = {}] = sampleItems(lookup, 2);
  const aggregations = { total_value_usd: 30, total_by_chain: { 1: 10, 8453: 20 } };
  fake.scriptsOf(lookup).set(address, () => ({
    json: { positions: [one, { ...two, ...BASE }], aggregations },
  }));
  const ask = async (args: string) =>
    (
      await gateway.query<{ wallet: { defiPositions: Fields } }>(
        `{ wallet(address: "${address}") { defiPositions${args} { totalValueUsd byChain { chainId } } } }`,
      )
    ).data?.wallet.defiPositions;
  expect(await ask('(chainIds: [1])')).toEqual({ totalValueUsd: null, byChain: null });
  expect(await ask('(chainIds: [1, 8453])')).toMatchObject({ totalValueUsd: '30' });
});
