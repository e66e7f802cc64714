import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  codesOf,
  type Gateway,
  type GraphQLReply,
  startGateway,
  type Variables,
} from '../../support/gateway/start.ts';
import { addressOf, collection, freshAddress, history } from '../../support/upstream/builders.ts';
import { servingCollectibles, servingTransactions } from '../../support/upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

/** An operation's cost is estimated before it runs. One that may cost too much sends no upstream request. */

const one = addressOf(1);
const two = addressOf(2);
const idOf = (address: string) => Buffer.from(`Wallet:${address}`).toString('base64');

const estimateIn = ({ errors }: GraphQLReply) =>
  errors?.map(({ extensions }) => (extensions as { estimatedComputeUnits?: number }).estimatedComputeUnits);

type Case = { what: string; query: string; variables?: Variables; units: number };

const inWallet = (fields: string) => `{ wallet(address: "${one}") { ${fields} } }`;

const cases: Case[] = [
  {
    what: 'every hundred transactions',
    query: inWallet('transactions(first: 1000) { nodes { hash } }'),
    units: 10,
  },
  { what: 'a hundred and one', query: inWallet('transactions(first: 101) { nodes { hash } }'), units: 2 },
  {
    what: 'collectibles of every chain by default',
    query: inWallet('collectibles { nodes { name } }'),
    units: 14,
  },
  {
    what: 'collectibles by chain',
    query: inWallet('collectibles(chainIds: [1, 10, 10, 137]) { nodes { name } }'),
    units: 3,
  },
  {
    what: 'a tag as the default, beside what has an id',
    query: inWallet('collectibles(chainIds: [1], chainTags: ["mainnet"]) { nodes { name } }'),
    units: 15,
  },
  {
    what: 'collectibles by 250, then by 2500',
    query: inWallet('collectibles(first: 2751, chainIds: [1, 10]) { nodes { name } }'),
    units: 6,
  },
  {
    what: 'a variable, and its default',
    query: `query ($first: Int!, $more: Int = 300) {
      wallet(address: "${one}") { transactions(first: $first) { nodes { hash } } }
      other: wallet(address: "${two}") { transactions(first: $more) { nodes { hash } } }
    }`,
    variables: { first: 150 },
    units: 5,
  },
  {
    what: 'each wallet of a list, and one that is named twice once',
    query: 'query ($all: [Address!]!) { wallets(addresses: $all) { transactions { nodes { hash } } } }',
    variables: { all: [one, two, addressOf(3), two, one] },
    units: 3,
  },
  {
    what: 'the longest of those that differ in nothing but first and what they select',
    query: inWallet(`
      a: transactions(first: 5) { nodes { hash } }
      b: transactions(first: 210) { nodes { hash decoded { name } } }
      c: transactions(first: 90) { edges { cursor } }
    `),
    units: 3,
  },
  {
    what: 'one wallet under several names',
    query: `{
      a: wallet(address: "${one}") { transactions(first: 200) { nodes { hash } } }
      b: node(id: "${idOf(one)}") { ... on Wallet { transactions(first: 10) { nodes { hash } } } }
      c: nodes(ids: ["${idOf(one)}", "${idOf(two)}", "no id"]) { ... on Wallet { transactions { nodes { hash } } } }
    }`,
    units: 3,
  },
  {
    what: 'different filters and different cursors apart',
    query: inWallet(`
      a: transactions { nodes { hash } }
      b: transactions(chainIds: [1]) { nodes { hash } }
      c: transactions(after: "somewhere") { nodes { hash } }
      d: collectibles(chainIds: [1]) { nodes { name } }
      e: collectibles(chainIds: [1], includeSpam: true) { nodes { name } }
    `),
    units: 5,
  },
  {
    what: 'what fragments add, each once',
    query: `
      { wallet(address: "${one}") { ...Both ...Both ... on Node { ... on Wallet { ...Both } } } }
      fragment Both on Wallet { transactions(first: 200) { nodes { hash } } collectibles(chainIds: [1]) { nodes { name } } }
    `,
    units: 3,
  },
  {
    what: 'only what @skip and @include leave in',
    query: `query ($yes: Boolean!, $no: Boolean!) { wallet(address: "${one}") {
      a: transactions(first: 200) @include(if: $yes) { nodes { hash } }
      b: collectibles @skip(if: $yes) { nodes { name } }
      ... @include(if: $no) { c: collectibles(chainIds: [1]) { nodes { name } } }
    } }`,
    variables: { yes: true, no: false },
    units: 2,
  },
];

describe('the estimate counts', () => {
  let fake: FakeWallets;
  let gateway: Gateway;
  beforeAll(async () => {
    fake = await startFakeWallets();
    gateway = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '1' });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await fake[Symbol.asyncDispose]();
  });

  test.each(cases)('$what', async ({ query, variables, units }) => {
    const reply = await gateway.query(query, variables);
    expect(codesOf(reply)).toEqual(['OPERATION_TOO_COMPLEX']);
    expect(estimateIn(reply)).toEqual([units]);
    expect(reply.errors?.[0]?.message).toContain(`at most 1 compute units, got one that may cost ${units}.`);
    expect(reply.extensions.upstream).toEqual({ requests: 0, computeUnits: 0, cached: 0 });
    expect(fake.requests).toEqual([]);
  });

  test.each([
    [
      'first: 0',
      inWallet('transactions(first: 0) { nodes { hash } } collectibles(first: 0) { nodes { name } }'),
    ],
    [
      'what no connection is selected of',
      `{ wallet(address: "${one}") { id address } __schema { description } }`,
    ],
    ['ids of other types', `{ node(id: "${Buffer.from('Transaction:1').toString('base64')}") { id } }`],
    ['what the resolver refuses', inWallet('transactions(first: 1001) { nodes { hash } }')],
  ])('%s as nothing', async (_what, query) => {
    const reply = await gateway.query(query);
    expect(codesOf(reply)).not.toContain('OPERATION_TOO_COMPLEX');
    expect(fake.requests).toEqual([]);
  });
});

test('an operation at exactly the limit runs, and costs no more than its estimate', async () => {
  await using fake = await startFakeWallets();
  const serve = servingCollectibles(collection(3000));
  fake.collectibles.set(one, async (request) => ({
    ...(await serve(request)),
    headers: { 'X-Compute-Units-Cost': '14' },
  }));
  fake.transactions.set(one, servingTransactions(history(1000)));
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '52' });
  const reply = await gateway.query(
    inWallet('transactions(first: 1000) { nodes { hash } } collectibles(first: 3000) { nodes { name } }'),
  );
  expect(reply.errors).toBeUndefined();
  expect(reply.extensions.upstream.computeUnits).toBe(52);
});

test('by default an operation may cost 500 compute units', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const query = 'query ($all: [Address!]!) { wallets(addresses: $all) { collectibles { nodes { name } } } }';
  const refused = await gateway.query(query, { all: Array.from({ length: 36 }, freshAddress) });
  expect(estimateIn(refused)).toEqual([504]);
  expect(fake.requests).toEqual([]);
  const taken = await gateway.query(query, { all: Array.from({ length: 35 }, freshAddress) });
  expect(taken.errors).toBeUndefined();
  expect(fake.requests).toHaveLength(35);
});

describe('the number of chains of the default filter', () => {
  const limit = { MAX_COMPUTE_UNITS: '100' };
  const document =
    'query ($all: [Address!]!) { wallets(addresses: $all) { collectibles { nodes { name } } } }';
  const all = [one, two];

  test('is DEFAULT_CHAIN_COUNT at first', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      ...limit,
      DEFAULT_CHAIN_COUNT: '60',
    });
    expect(estimateIn(await gateway.query(document, { all }))).toEqual([120]);
    expect(fake.requests).toEqual([]);
  });

  test('is learned from what upstream billed for the same filter', async () => {
    await using fake = await startFakeWallets();
    const serve = servingCollectibles([]);
    fake.collectibles.set(one, async (request) => ({
      ...(await serve(request)),
      headers: { 'X-Compute-Units-Cost': request.query.has('chain_ids') ? '20' : '51' },
    }));
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...limit });
    await gateway.data(document, { all: [one] });
    expect(estimateIn(await gateway.query(document, { all }))).toEqual([102]);

    const tagged = document.replace('collectibles', 'collectibles(chainTags: ["mainnet"])');
    const six = [one, ...Array.from({ length: 5 }, freshAddress)];
    await gateway.data(tagged, { all: [one] });
    expect(estimateIn(await gateway.query(tagged, { all: six }))).toEqual([120]);
  });

  test('is the cost where upstream does not say what it billed', async () => {
    await using fake = await startFakeWallets();
    const serve = servingCollectibles([]);
    fake.collectibles.set(one, async (request) => ({
      ...(await serve(request)),
      headers: { 'X-Compute-Units-Cost': 'unknown' },
    }));
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, DEFAULT_CHAIN_COUNT: '17' });
    const reply = await gateway.query(document, { all: [one] });
    expect(reply.extensions.upstream.computeUnits).toBe(17);
  });
});
