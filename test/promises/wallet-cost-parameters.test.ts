import { describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway/start.ts';
import { freshAddress } from '../support/upstream/builders.ts';
import type { SeenRequest } from '../support/upstream/fake-service.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The upstream requests that a query makes. `$yes` is true and `$no` is false in each. */
const requestsOf = async (selection: string, fragments = ''): Promise<SeenRequest[]> => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const directives = [selection, fragments].join(' ');
  const declared = ['yes', 'no'].filter((name) => directives.includes(`$${name}`));
  const parameters = ['$address: Address!', ...declared.map((name) => `$${name}: Boolean!`)].join(', ');
  await gateway.data(`query (${parameters}) { wallet(address: $address) { ${selection} } } ${fragments}`, {
    address: freshAddress(),
    ...Object.fromEntries(declared.map((name) => [name, name === 'yes'])),
  });
  return fake.requests;
};

type Case = { how: string; selection: string; fragments?: string };

const decoding: Case[] = [
  { how: 'in nodes', selection: 'transactions { nodes { decoded { name } } }' },
  { how: 'in edges', selection: 'transactions { edges { node { decoded { name } } } }' },
  { how: 'in logs', selection: 'transactions { nodes { logs { decoded { name } } } }' },
  { how: 'under an alias', selection: 'transactions { nodes { call: decoded { name } } }' },
  {
    how: 'in an inline fragment',
    selection: 'transactions { nodes { ... on Transaction { decoded { name } } } }',
  },
  {
    how: 'in an untyped inline fragment',
    selection: 'transactions { ... { nodes { ... { decoded { name } } } } }',
  },
  {
    how: 'in a named fragment',
    selection: 'transactions { nodes { ...Call } }',
    fragments: 'fragment Call on Transaction { decoded { name } }',
  },
  {
    how: 'in a fragment of a fragment',
    selection: 'transactions { ...Page }',
    fragments: `fragment Page on TransactionConnection { edges { node { ...Events } } }
      fragment Events on Transaction { logs { decoded { name } } }`,
  },
  {
    how: 'in a fragment of the wallet',
    selection: '...Wallet',
    fragments: 'fragment Wallet on Wallet { transactions { nodes { decoded { name } } } }',
  },
  {
    how: 'with @include(if: true)',
    selection: 'transactions { nodes { decoded @include(if: $yes) { name } } }',
  },
  { how: 'with @skip(if: false)', selection: 'transactions { nodes { decoded @skip(if: $no) { name } } }' },
  {
    how: 'in a spread that is included',
    selection: 'transactions { nodes { ...Call @include(if: $yes) } }',
    fragments: 'fragment Call on Transaction { decoded { name } }',
  },
  {
    how: 'in one of two selections of one field',
    selection: 'transactions { nodes { hash } } transactions { nodes { decoded { name } } }',
  },
];

const notDecoding: Case[] = [
  { how: 'is not selected', selection: 'transactions { nodes { hash logs { address } } }' },
  { how: 'is only the name of another field', selection: 'transactions { nodes { decoded: hash } }' },
  {
    how: 'has @include(if: false)',
    selection: 'transactions { nodes { hash decoded @include(if: $no) { name } } }',
  },
  {
    how: 'has @skip(if: true)',
    selection: 'transactions { nodes { hash decoded @skip(if: $yes) { name } } }',
  },
  {
    how: 'stands in a spread that is left out',
    selection: 'transactions { nodes { hash ...Call @include(if: $no) } }',
    fragments: 'fragment Call on Transaction { decoded { name } }',
  },
  {
    how: 'stands in an inline fragment that is left out',
    selection: 'transactions { nodes { hash } ... @skip(if: $yes) { nodes { decoded { name } } } }',
  },
];

describe('the service is asked to decode when decoded is selected anywhere below transactions', () => {
  test.each(decoding)('$how', async ({ selection, fragments }) => {
    const requests = await requestsOf(selection, fragments);
    expect(requests.map(({ query }) => query.get('decode'))).toEqual(['true']);
  });
});

describe('the service is not asked to decode when decoded', () => {
  test.each(notDecoding)('$how', async ({ selection, fragments }) => {
    const requests = await requestsOf(selection, fragments);
    expect(requests.map(({ query }) => query.get('decode') === 'true')).toEqual([false]);
  });
});

describe('the service is asked for spam details when', () => {
  test.each([
    { how: 'spamScore is selected', selection: 'collectibles { nodes { spamScore } }' },
    {
      how: 'explanations are selected',
      selection: 'collectibles { edges { node { explanations { featureName } } } }',
    },
    { how: 'one has an alias', selection: 'collectibles { nodes { score: spamScore } }' },
    { how: 'one is included', selection: 'collectibles { nodes { tokenId spamScore @include(if: $yes) } }' },
  ])('$how', async ({ selection }) => {
    const requests = await requestsOf(selection);
    expect(requests.map(({ query }) => query.get('show_spam_scores'))).toEqual(['true']);
  });

  test.each([
    { how: 'but not for isSpam', selection: 'collectibles { nodes { isSpam } }' },
    {
      how: 'but not for one left out',
      selection: 'collectibles { nodes { tokenId spamScore @skip(if: $yes) } }',
    },
  ])('$how', async ({ selection }) => {
    const requests = await requestsOf(selection);
    expect(requests.map(({ query }) => query.get('show_spam_scores') === 'true')).toEqual([false]);
  });
});

describe('arguments become parameters of the service', () => {
  test('includeSpam turns its filter off, and nothing else does', async () => {
    const [withSpam] = await requestsOf('collectibles(includeSpam: true) { nodes { tokenId } }');
    expect(withSpam?.query.get('filter_spam')).toBe('false');
    const [without] = await requestsOf('collectibles { nodes { tokenId } }');
    expect(without?.query.get('filter_spam') ?? 'true').toBe('true');
  });

  test.each(['transactions { nodes { hash } }', 'collectibles { nodes { tokenId } }'])(
    'without chains, chain_ids is left out: %s',
    async (selection) => {
      const [request] = await requestsOf(selection);
      expect(request?.query.has('chain_ids')).toBe(false);
    },
  );

  test.each([
    { given: 'chainIds: [1, 8453]', sent: ['1', '8453'] },
    { given: 'chainIds: [11297108109]', sent: ['11297108109'] },
    { given: 'chainTags: ["testnet", "mainnet"]', sent: ['mainnet', 'testnet'] },
    { given: 'chainIds: [10], chainTags: ["testnet"]', sent: ['10', 'testnet'] },
  ])('$given is sent as one comma-separated chain_ids', async ({ given, sent }) => {
    for (const lookup of ['transactions', 'collectibles']) {
      const [request] = await requestsOf(`${lookup}(${given}) { pageInfo { endCursor } }`);
      expect(request?.query.getAll('chain_ids').map((list) => list.split(',').sort())).toEqual([sent]);
    }
  });
});

describe('nothing is requested', () => {
  test('for a wallet without connections', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const reply = await gateway.query(
      'query ($address: Address!) { wallet(address: $address) { id address } }',
      {
        address: freshAddress(),
      },
    );
    expect(reply.errors).toBeUndefined();
    expect(reply.extensions.upstream).toEqual({ requests: 0, computeUnits: 0, cached: 0 });
    expect(fake.requests).toEqual([]);
  });

  test.each([
    { what: 'a document that does not parse', document: '{ wallet(' },
    { what: 'a field that does not exist', document: '{ a: wallets(addresses: []) { id } nothing }' },
    {
      what: 'an invalid field beside a valid lookup',
      document: `{ wallet(address: "0x${'11'.repeat(20)}") { transactions { nodes { hash nothing } } } }`,
    },
    {
      what: 'a variable that is missing',
      document:
        'query ($address: Address!) { wallet(address: $address) { transactions { nodes { hash } } } }',
    },
  ])('for $what', async ({ document }) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const reply = await gateway.query(document);
    expect(reply.errors).toHaveLength(1);
    expect(fake.requests).toEqual([]);
    expect(reply.extensions.upstream).toEqual({ requests: 0, computeUnits: 0, cached: 0 });
  });
});
