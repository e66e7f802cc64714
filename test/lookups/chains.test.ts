import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { CHAINS } from '../../src/backend/sandbox/chains.ts';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';
import { addressOf } from '../support/upstream/builders.ts';
import { type FakeWallets, startFakeWallets } from '../support/upstream/wallets.ts';

/** The gateway knows the chains: it rejects a typo by itself, and adds the id to a chain's name. */

type Chain = { chainId: number; name: string; tags: string[] };

const chainsOf = async (gateway: Gateway) =>
  (await gateway.data<{ chains: Chain[] }>('{ chains { chainId name tags } }')).chains;

let fake: FakeWallets;
let gateway: Gateway;
beforeAll(async () => {
  fake = await startFakeWallets();
  gateway = await startGateway({ UPSTREAM_URL: fake.url });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

describe('chains', () => {
  test('lists every chain of the sandbox, without an upstream request', async () => {
    const chains = await chainsOf(gateway);
    const sandbox = CHAINS.map(({ id, name, tags }) => ({ chainId: id, name, tags: [...tags] }));
    expect(sandbox.length).toBeGreaterThan(20);
    expect(chains).toEqual(expect.arrayContaining(sandbox));
    expect(fake.requests).toEqual([]);
  });

  test('lists each id and each name once, in the order of ids', async () => {
    const chains = await chainsOf(gateway);
    const ids = chains.map(({ chainId }) => chainId);
    expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
    expect(new Set(chains.map(({ name }) => name)).size).toBe(chains.length);
  });

  test('lists the 14 documented chains under the default tag, and the well-known testnets', async () => {
    const chains = await chainsOf(gateway);
    const tagged = (tag: string) => chains.filter(({ tags }) => tags.includes(tag));
    expect(tagged('default')).toHaveLength(14);
    expect(tagged('default').every(({ tags }) => tags.includes('mainnet'))).toBe(true);
    expect(tagged('testnet')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ chainId: 11155111, name: 'sepolia' }),
        expect.objectContaining({ chainId: 84532, name: 'base_sepolia' }),
      ]),
    );
    expect(
      chains.every(
        ({ tags }) => tags.includes('mainnet') !== (tags.includes('testnet') || tags.includes('devnet')),
      ),
    ).toBe(true);
  });

  test('needs a token with AUTH=jwt, and no scope', async () => {
    await using closed = await startGateway({ UPSTREAM_URL: fake.url, ...byToken });
    const query = '{ chains { chainId } }';
    expect(codesOf(await closed.query(query))).toEqual(['UNAUTHENTICATED']);
    const headers = bearer(await tokenOf({ scope: '' }));
    expect((await closed.query(query, {}, headers)).errors).toBeUndefined();
  });
});

const LISTS = ['transactions', 'collectibles'] as const;

const lookup = (list: string) =>
  `query ($address: Address!, $ids: [ChainId!], $tags: [String!]) {
    wallet(address: $address) { ${list}(chainIds: $ids, chainTags: $tags) { pageInfo { hasNextPage } } }
  }`;

const address = addressOf(1);

describe.each(LISTS)('%s of', (list) => {
  test.each<[what: string, variables: object, said: RegExp]>([
    [
      'a tag with a typo',
      { tags: ['mainet'] },
      /default, devnet, mainnet, omni.*testnet.*"mainet".*mainnet\?/,
    ],
    ['an unknown tag', { tags: ['default', 'everything'] }, /mainnet.*"everything"/],
    ["a chain's name as a tag", { tags: ['ethereum'] }, /"ethereum".*chainIds.*1/],
    ['an id with two digits swapped', { ids: [8543] }, /8543.*8453 \(base\)\?/],
    ['an unknown id', { ids: [1, 424242424242] }, /424242424242/],
    ['ids and a tag that are none', { ids: [424242, 434343], tags: ['nothing'] }, /"nothing"|424242, 434343/],
  ])('%s is rejected with its name and the closest match', async (_what, variables, said) => {
    const reply = await gateway.query(lookup(list), { address, ...variables });
    expect(codesOf(reply)).toEqual(['BAD_USER_INPUT']);
    expect(reply.errors?.[0]?.message).toMatch(said);
    expect(reply.errors?.[0]?.path).toEqual(['wallet', list]);
    expect(fake.requests).toEqual([]);
  });

  test('the error for an unknown id names the query that lists chains, and EXTRA_CHAINS', async () => {
    const reply = await gateway.query(lookup(list), { address, ids: [424242] });
    expect(reply.errors?.[0]?.message).toMatch(/chains \{.*EXTRA_CHAINS/);
  });

  test('every listed chain and tag is accepted', async () => {
    const chains = await chainsOf(gateway);
    const tags = [...new Set(chains.flatMap((chain) => chain.tags))];
    const ids = chains.map(({ chainId }) => chainId).slice(0, 90);
    expect((await gateway.query(lookup(list), { address, ids, tags })).errors).toBeUndefined();
    fake.requests.length = 0;
  });
});

describe('webhooks', () => {
  const create = `mutation ($ids: [ChainId!]) {
    createWebhook(input: { name: "x", type: ACTIVITIES, addresses: [], chainIds: $ids }) { __typename }
  }`;
  const update = `mutation ($ids: [ChainId!]) {
    updateWebhook(input: { webhookId: "019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41", chainIds: $ids }) { __typename }
  }`;

  test.each([create, update])(
    'of an unknown chain are rejected before an upstream request: %s',
    async (document) => {
      const reply = await gateway.query(document, { ids: [1, 8543] });
      expect(codesOf(reply)).toEqual(['BAD_USER_INPUT']);
      expect(reply.errors?.[0]?.message).toContain('8453 (base)?');
      expect(fake.requests).toEqual([]);
    },
  );
});

test('the filter of deliveries accepts any id, known or not', async () => {
  const reply = await gateway.query('{ deliveries(filter: { chainIds: [424242] }) { head } }');
  expect(reply.errors).toBeUndefined();
});

test('every transaction of the sandbox has the id of its chain', async () => {
  await using sandboxed = await startGateway();
  const known = new Map(CHAINS.map(({ id, name }) => [name, id]));
  const tags = ['mainnet', 'testnet', 'devnet'];
  const seen = new Set<string>();
  for (const profile of ['whale', 'tester', 'palmist']) {
    const { wallet } = await sandboxed.data<{
      wallet: { transactions: { nodes: { chain: string; chainId: number | null }[] } };
    }>(
      'query ($address: Address!, $tags: [String!]) { wallet(address: $address) { transactions(first: 500, chainTags: $tags) { nodes { chain chainId } } } }',
      { address: demoAddress(profile), tags },
    );
    for (const { chain, chainId } of wallet.transactions.nodes) {
      seen.add(chain);
      expect([chain, chainId]).toEqual([chain, known.get(chain)]);
    }
  }
  expect(seen.size).toBeGreaterThan(8);
});

describe('EXTRA_CHAINS', () => {
  const env = { EXTRA_CHAINS: '4242:newchain:mainnet:fresh, 434343:other_new' };

  test('adds chains, with names and tags', async () => {
    await using extended = await startGateway({ UPSTREAM_URL: fake.url, ...env });
    expect(await chainsOf(extended)).toEqual(
      expect.arrayContaining([
        { chainId: 4242, name: 'newchain', tags: ['mainnet', 'fresh'] },
        { chainId: 434343, name: 'other_new', tags: [] },
      ]),
    );
    const variables = { address, ids: [4242, 434343], tags: ['fresh'] };
    expect((await extended.query(lookup('transactions'), variables)).errors).toBeUndefined();
    expect(fake.requests[0]?.query.get('chain_ids')).toBe('4242,434343,fresh');
    fake.requests.length = 0;
  });

  test('replaces the name of a known chain', async () => {
    await using renamed = await startGateway({
      UPSTREAM_URL: fake.url,
      EXTRA_CHAINS: '1:eth_mainnet:default',
    });
    const named = (await chainsOf(renamed)).filter(({ chainId }) => chainId === 1);
    expect(named).toEqual([{ chainId: 1, name: 'eth_mainnet', tags: ['default'] }]);
  });

  test.each([
    '4242',
    'new:4242',
    '4242:',
    '4242:new:',
    '99999999999999999:new',
    '1:a,1:b',
    '1:a,2:a',
    '4242:new chain',
  ])('%s is one configuration problem that names the entry', async (EXTRA_CHAINS) => {
    await expect(startGateway({ UPSTREAM_URL: fake.url, EXTRA_CHAINS })).rejects.toThrow(
      /^The.*\n +EXTRA_CHAINS: [^\n]*$/,
    );
  });
});
