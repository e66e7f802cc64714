import { expect, test } from 'vitest';
import { keysOf, pageAt, walk } from '../../support/clients/walk.ts';
import { codesOf, startGateway } from '../../support/gateway/start.ts';
import {
  freshAddress,
  history,
  timeAt,
  transaction,
  transactionsEnvelope,
} from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

const document = `query ($address: Address!, $first: Int, $after: String) {
  wallet(address: $address) {
    transactions(first: $first, after: $after) {
      edges { cursor node { hash blockNumber } }
      nodes { hash }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
}`;

type Answer = {
  wallet: {
    transactions: { edges: ({ node: { hash: string } } | null)[]; nodes: ({ hash: string } | null)[] } | null;
  };
};

test('first: 0 sends no upstream request and has no edges', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const page = await pageAt(gateway, 'transactions', freshAddress(), 0);
  expect(page.edges).toEqual([]);
  expect(page.pageInfo).toMatchObject({ startCursor: null, endCursor: null });
  expect(fake.requests).toEqual([]);
});

test('first defaults to 20', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(30)));
  const { wallet } = await gateway.data<Answer>(document, { address });
  expect(wallet.transactions?.edges).toHaveLength(20);
});

test('nodes are the nodes of the edges', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(5)));
  const { wallet } = await gateway.data<Answer>(document, { address, first: 3 });
  const hashes = wallet.transactions?.edges.map((edge) => edge?.node.hash);
  expect(hashes).toHaveLength(3);
  expect(wallet.transactions?.nodes.map((node) => node?.hash)).toEqual(hashes);
});

test('the first page has no previous page', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(5)));
  expect((await pageAt(gateway, 'transactions', address, 2)).pageInfo.hasPreviousPage).toBe(false);
});

test('a page that is larger than an upstream page has its items in order', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const items = history(250);
  fake.transactions.set(address, servingTransactions(items));
  const page = await pageAt(gateway, 'transactions', address, 230);
  expect(keysOf([page])).toEqual(items.slice(0, 230).map(({ hash }) => hash));
  expect(fake.requests).toHaveLength(3);
});

test('a malformed item nulls only its own edge, its error names the field, and it counts towards first', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const items = history(4);
  items[1] = transaction({ ...items[1], block_number: 'soon' });
  fake.transactions.set(address, servingTransactions(items));
  const { data, errors } = await gateway.query<Answer>(document, { address, first: 3 });
  const shown = data?.wallet.transactions?.edges.map((edge) => edge?.node.hash ?? null);
  expect(shown).toEqual([items[0]?.hash, null, items[2]?.hash]);
  expect(errors?.length).toBeGreaterThan(0);
  expect(new Set(codesOf({ errors }))).toEqual(new Set(['UPSTREAM_INVALID_RESPONSE']));
  for (const { message } of errors ?? []) expect(message).toMatch(/block_?number/i);
});

test('a walk continues after a malformed item, whatever is wrong with it', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const faults = [{ block_number: 'soon' }, { hash: 42 }, { hash: undefined }, { block_time: 'yesterday' }];
  for (const fault of faults) {
    const address = freshAddress();
    const items = history(5);
    const broken = [...items.slice(0, 2), { ...items[2], ...fault }, ...items.slice(3)];
    fake.transactions.set(address, () => ({ json: transactionsEnvelope(broken) }));
    const expected = items.map(({ hash }, place) => (place === 2 ? null : hash));
    for (const first of [1, 2, 3, 1000]) {
      const pages = await walk(gateway, 'transactions', address, first);
      expect({ fault, first, keys: keysOf(pages) }).toEqual({ fault, first, keys: expected });
    }
  }
});

test('hasNextPage is right for a page of the length of an upstream page', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const [ends, goesOn] = [freshAddress(), freshAddress()];
  fake.transactions.set(ends, servingTransactions(history(100)));
  fake.transactions.set(goesOn, servingTransactions(history(101)));
  expect((await pageAt(gateway, 'transactions', ends, 100)).pageInfo.hasNextPage).toBe(false);
  expect((await pageAt(gateway, 'transactions', goesOn, 100)).pageInfo.hasNextPage).toBe(true);
});

test('one hash on two chains is two transactions with two cursors', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const same = { hash: `0x${'ab'.repeat(32)}`, block_time: timeAt(5) };
  const items = [
    transaction({ ...same, chain: 'ethereum', chain_id: 1 }),
    transaction({ ...same, chain: 'base', chain_id: 8453 }),
    ...history(2),
  ];
  fake.transactions.set(address, () => ({ json: transactionsEnvelope(items) }));
  const pages = await walk(gateway, 'transactions', address, 1);
  expect(keysOf(pages)).toEqual(items.map(({ hash }) => hash));
});
