import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { addressOf, freshAddress, timeAt } from '../support/upstream/builders.ts';
import type { Reply } from '../support/upstream/fake-service.ts';
import { type FakeWallets, startFakeWallets } from '../support/upstream/wallets.ts';

/** The holders of a token, the largest first, of either shape that the service documents. */

let fake: FakeWallets;
let gateway: Gateway;
beforeEach(async () => {
  fake = await startFakeWallets();
  gateway = await startGateway({ UPSTREAM_URL: fake.url });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

type Holder = { wallet: { address: string }; balance: string } & Record<string, unknown>;
type Holders = { nodes: (Holder | null)[]; pageInfo: { hasNextPage: boolean; endCursor: string } };

const documentOf = (parent: string) =>
  `query ($first: Int, $after: String) {
    token(token: ${parent}) {
      holders(first: $first, after: $after) {
        nodes { wallet { address } balance share firstAcquired hasInitiatedTransfer }
        pageInfo { hasNextPage endCursor }
      }
    }
  }`;

const holdersOf = (address: string, variables: object = {}) =>
  gateway.query<{ token: { holders: Holders | null } }>(
    documentOf(`{ contract: { chainId: 1, address: "${address}" } }`),
    { ...variables },
  );

const serve = (answer: (query: URLSearchParams) => Reply): string => {
  const address = freshAddress();
  fake.scriptsOf({ name: 'holders' }).set(address, ({ query }) => ({
    headers: { 'x-compute-units-cost': '2' },
    ...answer(query),
  }));
  return address;
};

test('both documented shapes are read, and what they omit is null', async () => {
  const mixed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const address = serve(() => ({
    json: {
      token_address: 'x',
      chain_id: 1,
      holders: [
        {
          wallet_address: mixed,
          balance: '9'.repeat(78),
          first_acquired: timeAt(1),
          has_initiated_transfer: true,
        },
        { address: addressOf(2), balance: '1000', share: 0.025 },
        { wallet_address: null, address: addressOf(3), balance: 7, share: 8.5e-7 },
      ],
    },
  }));
  const { data, errors, extensions } = await holdersOf(address);
  const unsaid = { share: null, firstAcquired: null, hasInitiatedTransfer: null };
  expect(errors).toBeUndefined();
  expect(data?.token.holders?.nodes).toEqual([
    {
      wallet: { address: mixed.toLowerCase() },
      balance: '9'.repeat(78),
      share: null,
      firstAcquired: new Date(timeAt(1)).toISOString(),
      hasInitiatedTransfer: true,
    },
    { ...unsaid, wallet: { address: addressOf(2) }, balance: '1000', share: '0.025' },
    { ...unsaid, wallet: { address: addressOf(3) }, balance: '7', share: '0.00000085' },
  ]);
  expect(extensions.upstream).toEqual({ requests: 1, computeUnits: 2, cached: 0 });
  expect(fake.requests.map(({ path, query }) => `${path}?${query}`)).toEqual([
    `/v1/evm/token-holders/1/${address}?limit=500`,
  ]);
});

const holder = (number: number, balance: number) => ({
  wallet_address: addressOf(number),
  balance: String(balance),
});

test('a holder that moves to the next page while one reads comes once', async () => {
  const all = Array.from({ length: 700 }, (_, index) => holder(index + 1, 10_000 - index));
  const moved = { ...holder(1, 9_450.5), balance: '9450' };
  const address = serve((query) =>
    query.has('offset')
      ? { json: { holders: [moved, ...all.slice(500)] } }
      : { json: { holders: all.slice(0, 500), next_offset: 'eyJvZmZzZXQiOjUwMH0=' } },
  );
  const { data, extensions } = await holdersOf(address, { first: 1000 });
  const wallets = data?.token.holders?.nodes.map((node) => node?.wallet.address);
  expect(wallets).toEqual(all.map(({ wallet_address }) => wallet_address));
  expect(extensions.upstream).toMatchObject({ requests: 2, computeUnits: 4 });
});

test('pages of clients continue by cursors, from one request', async () => {
  const all = Array.from({ length: 30 }, (_, index) => holder(index + 1, 1000 - index));
  const address = serve(() => ({ json: { holders: all } }));
  const wallets: unknown[] = [];
  for (let after: string | null = null, pages = 0; pages < 3; pages += 1) {
    const { data } = await holdersOf(address, { first: 10, after });
    wallets.push(...(data?.token.holders?.nodes.map((node) => node?.wallet.address) ?? []));
    after = data?.token.holders?.pageInfo.endCursor ?? null;
  }
  expect(wallets).toEqual(all.map(({ wallet_address }) => wallet_address));
  expect(fake.requests).toHaveLength(1);
});

test('an item that can not be read is null with an error', async () => {
  const address = serve(() => ({ json: { holders: [holder(1, 5), { balance: '4' }, holder(3, 3)] } }));
  const answer = await holdersOf(address);
  expect(answer.data?.token.holders?.nodes.map((node) => node?.balance ?? null)).toEqual(['5', null, '3']);
  expect(codesOf(answer)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
});

describe('there are no holders, without an error, of', () => {
  test.each([
    {
      kind: 'a token that is not found',
      reply: { status: 404, json: { error: { message: 'x', code: 'NOT_FOUND' } } },
    },
    { kind: 'a token without holders', reply: { json: { holders: [] } } },
  ])('$kind, which is not asked for again', async ({ reply }) => {
    const address = serve(() => reply);
    for (const requests of [1, 0]) {
      const { data, errors, extensions } = await holdersOf(address);
      expect([data?.token.holders, errors, extensions.upstream.requests]).toEqual([
        null,
        undefined,
        requests,
      ]);
    }
  });

  test('the native asset, without a request', async () => {
    const { data, errors } = await gateway.query<{ token: { holders: null } }>(documentOf('{ nativeOf: 1 }'));
    expect([data?.token.holders, errors, fake.requests]).toEqual([null, undefined, []]);
  });
});

test('what the wallets of holders cost is refused before it is billed', async () => {
  await using cheap = await startGateway({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '101' });
  const { errors } = await cheap.query(`{
    token(token: { contract: { chainId: 1, address: "${addressOf(1)}" } }) {
      holders(first: 100) { nodes { wallet { collectibles(chainIds: [1]) { nodes { name } } } } }
    }
  }`);
  expect(errors).toMatchObject([
    { extensions: { code: 'OPERATION_TOO_COMPLEX', estimatedComputeUnits: 102 } },
  ]);
  expect(fake.requests).toEqual([]);
});
