import { expect, test } from 'vitest';
import { keysOf } from '../support/clients/walk.ts';
import { type GraphQLReply, startGateway, type Upstream } from '../support/gateway/start.ts';
import { collection, freshAddress, history } from '../support/upstream/builders.ts';
import { servingCollectibles, servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

const page = `query ($address: Address!, $after: String) {
  wallet(address: $address) {
    page: transactions(first: 10, after: $after) {
      edges { cursor node { key: hash } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
}`;

type PageAnswer = {
  wallet: {
    page: { edges: { cursor: string; node: { key: string } }[]; pageInfo: { endCursor: string | null } };
  };
};

test('the first 10 transactions and 9 more pages of 10 cost one upstream request in all', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const items = history(300);
  fake.transactions.set(address, servingTransactions(items));

  const spent: Upstream[] = [];
  const seen: (string | null)[] = [];
  let after: string | null = null;
  for (let turn = 0; turn < 10; turn += 1) {
    const reply: GraphQLReply<PageAnswer> = await gateway.query<PageAnswer>(page, { address, after });
    spent.push(reply.extensions.upstream);
    const connection = reply.data?.wallet.page;
    after = connection?.pageInfo.endCursor ?? null;
    seen.push(...(connection?.edges ?? []).map(({ node }) => node.key));
  }

  expect(seen).toEqual(items.slice(0, 100).map(({ hash }) => hash));
  expect(fake.requests).toHaveLength(1);
  expect(spent[0]).toEqual({ requests: 1, computeUnits: 1, cached: 0 });
  for (const later of spent.slice(1)) expect(later).toEqual({ requests: 0, computeUnits: 0, cached: 1 });
});

test('ten aliases that differ in first and in what they select cost one request', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(150)));
  const aliases = Array.from({ length: 10 }, (_, index) => {
    const selection = index % 2 ? 'hash decoded { name }' : 'hash';
    return `alias${index}: wallet(address: $address) { transactions(first: ${index * 10 + 1}) { nodes { ${selection} } } }`;
  });
  const reply = await gateway.query<Record<string, { transactions: { nodes: unknown[] } }>>(
    `query ($address: Address!) { ${aliases.join('\n')} }`,
    { address },
  );
  expect(reply.errors).toBeUndefined();
  const lengths = Object.values(reply.data ?? {}).map(({ transactions }) => transactions.nodes.length);
  expect(lengths).toEqual([1, 11, 21, 31, 41, 51, 61, 71, 81, 91]);
  expect(fake.requests).toHaveLength(1);
  expect(fake.requests[0]?.query.get('decode')).toBe('true');
  expect(reply.extensions.upstream).toMatchObject({ requests: 1, computeUnits: 1 });
});

test('fifty wallets in one query cost fifty requests', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const addresses = Array.from({ length: 50 }, () => freshAddress());
  const reply = await gateway.query(
    'query ($addresses: [Address!]!) { wallets(addresses: $addresses) { transactions(first: 5) { nodes { hash } } } }',
    { addresses },
  );
  expect(reply.errors).toBeUndefined();
  expect(fake.requests.map(({ address }) => address).sort()).toEqual([...addresses].sort());
  expect(reply.extensions.upstream).toEqual({ requests: 50, computeUnits: 50, cached: 0 });
});

test('different chains are different requests', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const reply = await gateway.query(
    `query ($address: Address!) {
      wallet(address: $address) {
        all: transactions { nodes { hash } }
        base: transactions(chainIds: [8453]) { nodes { hash } }
      }
    }`,
    { address: freshAddress() },
  );
  expect(reply.extensions.upstream.requests).toBe(2);
  expect(fake.requests.map(({ query }) => query.get('chain_ids')).sort()).toEqual(['8453', null]);
});

test('operations at the same time share one request in flight', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const serve = servingTransactions(history(20));
  // Slow enough that all ten operations have arrived before the first answer.
  fake.transactions.set(address, async (request) => ({ ...(await serve(request)), latencyMs: 500 }));
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => gateway.query<PageAnswer>(page, { address })),
  );
  for (const { data } of replies)
    expect(data && keysOf([{ ...data.wallet.page, pageInfo }])).toHaveLength(10);
  expect(fake.requests).toHaveLength(1);
  const requests = replies.map(({ extensions }) => extensions.upstream.requests);
  expect(requests.reduce((sum, count) => sum + count)).toBe(1);
  const cached = replies.map(({ extensions }) => extensions.upstream.cached);
  expect(cached.reduce((sum, count) => sum + count)).toBe(9);
});

const pageInfo = { hasNextPage: true, hasPreviousPage: false, startCursor: null, endCursor: null };

test('a page that was asked for with more than is selected now serves it', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const document = (selection: string) =>
    `query ($address: Address!) { wallet(address: $address) { transactions { nodes { ${selection} } } } }`;
  await gateway.data(document('hash decoded { name }'), { address });
  const plain = await gateway.query(document('hash'), { address });
  expect(plain.extensions.upstream).toEqual({ requests: 0, computeUnits: 0, cached: 1 });
});

test('and one that was asked for with less does not', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const document = (selection: string) =>
    `query ($address: Address!) { wallet(address: $address) { transactions { nodes { ${selection} } } } }`;
  await gateway.data(document('hash'), { address });
  await gateway.data(document('hash decoded { name }'), { address });
  expect(fake.requests.map(({ query }) => query.get('decode') === 'true')).toEqual([false, true]);
});

test('transactions are fetched by 100, whatever first asks for', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(150)));
  await gateway.data(
    'query ($address: Address!) { wallet(address: $address) { transactions(first: 120) { nodes { hash } } } }',
    { address },
  );
  expect(fake.requests.map(({ query }) => query.get('limit'))).toEqual(['100', '100']);
});

test("collectibles are fetched by 250 for a wallet's first page, by 2500 after it", async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.collectibles.set(address, servingCollectibles(collection(3000)));
  const { wallet } = await gateway.data<{ wallet: { collectibles: { nodes: unknown[] } } }>(
    'query ($address: Address!) { wallet(address: $address) { collectibles(first: 3000) { nodes { tokenId } } } }',
    { address },
  );
  expect(wallet.collectibles.nodes).toHaveLength(3000);
  expect(fake.requests.map(({ query }) => query.get('limit'))).toEqual(['250', '2500', '2500']);
});

test('compute units are what the service says that it billed', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const serve = servingCollectibles(collection(3));
  const headers = { 'X-Compute-Units-Cost': '17' };
  fake.collectibles.set(address, async (request) => ({ ...(await serve(request)), headers }));
  const reply = await gateway.query(
    'query ($address: Address!) { wallet(address: $address) { collectibles { nodes { tokenId } } } }',
    { address },
  );
  expect(reply.extensions.upstream).toEqual({ requests: 1, computeUnits: 17, cached: 0 });
});
