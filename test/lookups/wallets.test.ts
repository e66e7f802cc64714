import { describe, expect, test } from 'vitest';
import { codesOf, nowhere, startGateway } from '../support/gateway/start.ts';
import { addressOf, freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

const byVariable = 'query ($address: Address!) { wallet(address: $address) { id address } }';
const byLiteral = (address: string) => `{ wallet(address: ${JSON.stringify(address)}) { id address } }`;

type WalletAnswer = { wallet: { id: string; address: string } };

const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

describe('an address is accepted in any case and returned in lower case', () => {
  test.each([
    { kind: 'lower case', address: checksummed.toLowerCase() },
    { kind: 'upper case', address: `0x${checksummed.slice(2).toUpperCase()}` },
    { kind: 'mixed case with a valid EIP-55 checksum', address: checksummed },
  ])('$kind', async ({ address }) => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const expected = { wallet: { id: expect.any(String), address: checksummed.toLowerCase() } };
    expect(await gateway.data(byVariable, { address })).toEqual(expected);
    expect(await gateway.data(byLiteral(address))).toEqual(expected);
  });

  test('and requested in lower case, so that all spellings share one request', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    await gateway.data(
      `query ($a: Address!, $b: Address!) {
        a: wallet(address: $a) { id transactions { nodes { hash } } }
        b: wallet(address: $b) { id transactions { nodes { hash } } }
      }`,
      { a: checksummed, b: checksummed.toLowerCase() },
    );
    expect(fake.requests.map(({ address }) => address)).toEqual([checksummed.toLowerCase()]);
  });
});

describe('an invalid address is BAD_USER_INPUT, without an upstream request', () => {
  test.each([
    { kind: 'mixed case with an invalid checksum', address: checksummed.replace('aAeb', 'Aaeb') },
    { kind: 'too short', address: addressOf(1).slice(0, -1) },
    { kind: 'too long', address: `${addressOf(1)}0` },
    { kind: 'without 0x', address: addressOf(1).slice(2) },
    { kind: 'not hex', address: `0x${'g'.repeat(40)}` },
    { kind: 'a name', address: 'vitalik.eth' },
    { kind: 'empty', address: '' },
    { kind: 'a path', address: '../collectibles/0x' },
  ])('$kind, as a variable', async ({ address }) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const document =
      'query ($address: Address!) { wallet(address: $address) { transactions { nodes { hash } } } }';
    expect(codesOf(await gateway.query(document, { address }))).toEqual(['BAD_USER_INPUT']);
    expect(fake.requests).toEqual([]);
  });

  test('a number, as a variable', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    expect(codesOf(await gateway.query(byVariable, { address: 5 }))).toEqual(['BAD_USER_INPUT']);
  });

  test('an invalid checksum, as a literal', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const literal = byLiteral(checksummed.replace('aAeb', 'Aaeb'));
    expect(codesOf(await gateway.query(literal))).toEqual(['BAD_USER_INPUT']);
  });
});

describe('a wallet can be refetched by its id', () => {
  test('with node, its connections included', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    const items = history(3);
    fake.transactions.set(address, servingTransactions(items));
    const { wallet } = await gateway.data<WalletAnswer>(byVariable, { address });
    const answer = await gateway.data(
      'query ($id: ID!) { node(id: $id) { __typename id ... on Wallet { address transactions { nodes { hash } } } } }',
      { id: wallet.id },
    );
    const nodes = items.map(({ hash }) => ({ hash }));
    expect(answer).toEqual({
      node: { __typename: 'Wallet', id: wallet.id, address, transactions: { nodes } },
    });
  });

  test('with nodes, in the order of the ids', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const addresses = [freshAddress(), freshAddress(), freshAddress()];
    const { wallets } = await gateway.data<{ wallets: { id: string }[] }>(
      'query ($addresses: [Address!]!) { wallets(addresses: $addresses) { id } }',
      { addresses },
    );
    const ids = wallets.map(({ id }) => id).reverse();
    const { nodes } = await gateway.data<{ nodes: unknown[] }>(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Wallet { address } } }',
      { ids },
    );
    expect(nodes).toEqual(addresses.reverse().map((address) => ({ address })));
  });

  test('and has one id, however its address is spelled', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const first = await gateway.data<WalletAnswer>(byVariable, { address: checksummed });
    const second = await gateway.data<WalletAnswer>(byVariable, { address: checksummed.toLowerCase() });
    expect(first.wallet.id).toBe(second.wallet.id);
  });

  test.each(['', 'nothing', 'V2FsbGV0OjE=', '0x', 'V2FsbGV0'])(
    'an invalid id (%j) finds nothing',
    async (id) => {
      await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
      const reply = await gateway.query<{ node: unknown }>('query ($id: ID!) { node(id: $id) { id } }', {
        id,
      });
      expect(reply.data?.node ?? null).toBeNull();
      expect(codesOf(reply)).not.toContain('INTERNAL_SERVER_ERROR');
    },
  );
});

describe('wallets', () => {
  const document =
    'query ($addresses: [Address!]!) { wallets(addresses: $addresses) { address transactions { nodes { hash } } } }';

  test('come in the order of the addresses, each once', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const [a, b] = [freshAddress(), freshAddress()];
    const { wallets } = await gateway.data<{ wallets: { address: string }[] }>(
      'query ($addresses: [Address!]!) { wallets(addresses: $addresses) { address } }',
      { addresses: [b, a, b] },
    );
    expect(wallets.map(({ address }) => address)).toEqual([b, a]);
  });

  test('may be 100', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const addresses = Array.from({ length: 100 }, () => freshAddress());
    expect((await gateway.query(document, { addresses })).errors).toBeUndefined();
    expect(fake.requests).toHaveLength(100);
  });

  test('beyond 100 are OPERATION_TOO_COMPLEX, and nothing is requested', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const addresses = Array.from({ length: 101 }, () => freshAddress());
    expect(codesOf(await gateway.query(document, { addresses }))).toEqual(['OPERATION_TOO_COMPLEX']);
    expect(fake.requests).toEqual([]);
  });

  test('nodes beyond 100 ids are OPERATION_TOO_COMPLEX', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const { wallet } = await gateway.data<WalletAnswer>(byVariable, { address: freshAddress() });
    const document = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const allowed = await gateway.query(document, { ids: Array(100).fill(wallet.id) });
    expect(allowed.errors).toBeUndefined();
    const beyond = await gateway.query(document, { ids: Array(101).fill(wallet.id) });
    expect(codesOf(beyond)).toEqual(['OPERATION_TOO_COMPLEX']);
  });
});
