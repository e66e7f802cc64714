import { afterAll, expect, test } from 'vitest';
import { askInParts, MULTIPART, mergeParts, NEWEST, type Part } from '../../support/clients/parts.ts';
import { type GraphQLFault, startGateway } from '../../support/gateway/start.ts';
import { plainOf } from '../../support/lookups/portfolio.ts';
import { freshAddress, hashOf, history } from '../../support/upstream/builders.ts';
import type { Answer } from '../../support/upstream/fake-service.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** `@stream` on `edges` and `nodes`: upstream pages are walked as they come. */

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());
const fake = made.use(await startFakeWallets());
const gateway = made.use(
  await startGateway({
    UPSTREAM_URL: fake.url,
    UPSTREAM_TIMEOUT_MS: '60000',
    CACHE_HEAD_MS: '0',
    CACHE_TAIL_MS: '0',
    CACHE_STALE_MS: '0',
  }),
);

/** A wallet with this many transactions, whose pages after the first are answered by `later`. */
const walletOf = (count: number, later: (answer: Answer) => Answer = (answer) => answer) => {
  const address = freshAddress();
  const answer = servingTransactions(history(count));
  const answerLater = later(answer);
  fake.transactions.set(address, (request) =>
    request.query.get('offset') === null ? answer(request) : answerLater(request),
  );
  return address;
};

/** A wallet whose pages behind the first are held until `release`. */
const heldWallet = (count: number) => {
  const gate = Promise.withResolvers<void>();
  const address = walletOf(count, (answer) => async (request) => {
    await gate.promise;
    return answer(request);
  });
  return { address, release: () => gate.resolve() };
};

const EDGES = `query ($address: Address!) { wallet(address: $address) { transactions(first: 1000) {
  edges @stream(initialCount: 20, label: "edges") { cursor node { hash } }
  ... @defer(label: "page") { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } requestTime }
} } }`;
const NODES = `query ($address: Address!) { wallet(address: $address) { transactions(first: 1000) {
  nodes @stream(initialCount: 20) { hash }
} } }`;

type Lists = { readonly edges?: unknown[]; readonly nodes?: unknown[] };

/** What the first part has of the streamed lists. */
const listOf = (first: Part | undefined): Lists =>
  (first?.data as { wallet: { transactions: Lists } } | undefined)?.wallet.transactions ?? {};

test.each([
  ['edges', EDGES, MULTIPART],
  ['nodes', NODES, MULTIPART],
  ['edges', EDGES, NEWEST],
] as const)(
  'the first 20 of 1,000 %s come while the next page is under way (%#)',
  async (list, query, accept) => {
    const { address, release } = heldWallet(1000);
    const answer = await askInParts(gateway.url, { query, variables: { address }, accept });
    const first = await answer.next();
    expect(listOf(first)[list]).toHaveLength(20);
    // The rest of the first page needs no other.
    const second = await answer.next();
    expect(second?.incremental?.[0]?.items?.length).toBeGreaterThan(0);
    expect(fake.requestsFor(address).length).toBeLessThanOrEqual(2);
    release();
    const others = await answer.rest();
    expect(others.at(-1)).toMatchObject({
      hasNext: false,
      extensions: { upstream: { requests: 10, computeUnits: 10, cached: 0 } },
    });
    expect(fake.requestsFor(address)).toHaveLength(10);
    // One part a page or so, not one an item.
    expect(others.length).toBeLessThan(300);
    if (accept === MULTIPART)
      expect(mergeParts([first as Part, second as Part, ...others])).toEqual(
        await gateway.data(plainOf(query), { address }),
      );
  },
);

test('what depends on the last item is consistent in the first part, which then waits for all pages', async () => {
  const address = walletOf(250);
  const query = EDGES.replace('... @defer(label: "page")', '...');
  const answer = await askInParts(gateway.url, { query, variables: { address } });
  const first = await answer.next();
  expect(fake.requestsFor(address)).toHaveLength(3);
  expect(listOf(first).edges).toHaveLength(20);
  const all = [first as Part, ...(await answer.rest())];
  expect(mergeParts(all)).toEqual(await gateway.data(plainOf(EDGES), { address }));
});

test('a list that is streamed under one name and not under another is read once', async () => {
  const address = walletOf(250);
  const query = EDGES.replace('edges @stream', 'nodes { hash } edges @stream');
  const answer = await askInParts(gateway.url, { query, variables: { address } });
  const all = await answer.rest();
  expect(fake.requestsFor(address)).toHaveLength(3);
  expect(mergeParts(all)).toEqual(await gateway.data(plainOf(query), { address }));
});

test.each([
  ['an empty wallet', 0, 20],
  ['fewer items than the first part has', 7, 20],
  ['nothing in the first part', 30, 0],
  ['a first part of several pages', 250, 220],
] as const)('%s', async (_name, count, initialCount) => {
  const address = walletOf(count);
  const query = EDGES.replace('initialCount: 20', `initialCount: ${initialCount}`);
  const all = await (await askInParts(gateway.url, { query, variables: { address } })).rest();
  expect(listOf(all[0]).edges).toHaveLength(Math.min(count, initialCount));
  expect(mergeParts(all)).toEqual(await gateway.data(plainOf(query), { address }));
});

test('a first page that fails nulls the connection, in one answer', async () => {
  const address = freshAddress();
  fake.transactions.set(address, () => ({ status: 404, text: 'no such wallet' }));
  const { response } = await askInParts(gateway.url, { query: NODES, variables: { address } });
  const { data, errors } = JSON.parse(await response.text());
  expect(data).toEqual({ wallet: { transactions: null } });
  expect(errors).toMatchObject([
    { path: ['wallet', 'transactions'], extensions: { code: 'UPSTREAM_REJECTED' } },
  ]);
});

test('a later page that fails ends the stream with its error, and what is deferred as well', async () => {
  const address = walletOf(300, () => () => ({ status: 404, text: 'no such page' }));
  const all = await (await askInParts(gateway.url, { query: EDGES, variables: { address } })).rest();
  const added = all.flatMap(({ incremental = [] }) => incremental);
  const failed = (label: string) =>
    added.find((each) => each.label === label && each.errors !== undefined)?.errors as GraphQLFault[];
  expect(added.filter(({ items }) => items).flatMap(({ items }) => items)).toHaveLength(80);
  expect(failed('edges')).toMatchObject([{ extensions: { code: 'UPSTREAM_REJECTED' } }]);
  expect(failed('page')).toMatchObject([{ extensions: { code: 'UPSTREAM_REJECTED' } }]);
  expect(all.at(-1)).not.toHaveProperty('errors');
});

test('an item that can not be parsed is null, with its error in the same part', async () => {
  const items = history(150).map((item, index) => (index === 130 ? { ...item, hash: 'no hash' } : item));
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(items));
  const all = await (await askInParts(gateway.url, { query: NODES, variables: { address } })).rest();
  const part = all.flatMap(({ incremental = [] }) => incremental).find(({ errors }) => errors);
  expect(part?.items).toContain(null);
  expect(part?.errors).toMatchObject([
    {
      path: ['wallet', 'transactions', 'nodes', 130],
      extensions: { code: 'UPSTREAM_INVALID_RESPONSE', field: 'transactions[30].hash' },
    },
  ]);
});

test('a negative initialCount is refused before anything is asked', async () => {
  const address = walletOf(1);
  const query = NODES.replace('initialCount: 20', 'initialCount: -1');
  const { response } = await askInParts(gateway.url, { query, variables: { address } });
  expect(JSON.parse(await response.text()).errors).toMatchObject([
    { message: expect.stringContaining('got -1'), extensions: { code: 'BAD_USER_INPUT' } },
  ]);
  expect(fake.requestsFor(address)).toEqual([]);
});

test('a plain list is streamed as well', async () => {
  const wallets = Array.from({ length: 5 }, () => walletOf(2));
  const query = `query ($wallets: [Address!]!) { wallets(addresses: $wallets) @stream(initialCount: 1) {
    address transactions(first: 1) { nodes { hash } } } }`;
  const all = await (await askInParts(gateway.url, { query, variables: { wallets } })).rest();
  expect(all[0]?.data).toMatchObject({ wallets: { length: 1 } });
  expect(mergeParts(all)).toEqual({
    wallets: wallets.map((address) => ({ address, transactions: { nodes: [{ hash: hashOf(2) }] } })),
  });
});
