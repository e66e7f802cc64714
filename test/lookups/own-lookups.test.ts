import { expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { hashOf } from '../support/upstream/builders.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';

/** Lookups that only this project's own service has: over the sandbox, and over a service without them. */

const HASH = hashOf(1);
const WALLET = demoAddress('approver');
const TRANSACTION = `{ transaction(chainId: 1, hash: "${HASH}") { hash } }`;
const APPROVALS = `{ wallet(address: "${WALLET}") { approvals { nodes { id } } } }`;

const listOf = (...lookups: readonly string[]) => ({
  json: {
    chains: [
      {
        name: 'ethereum',
        chain_id: 1,
        tags: ['default'],
        ...Object.fromEntries(lookups.map((lookup) => [lookup, { supported: true }])),
      },
    ],
  },
});

test('a service that does not list them is not asked, and one that answers 404 is named', async () => {
  await using fake = await startFakeService({
    chains: () => listOf('transactions', 'balances'),
    other: () => ({ status: 404, text: 'no such path' }),
  });
  const ask = async (readsChains: boolean) => {
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url }, { readsChains });
    if (readsChains)
      await expect
        .poll(async () => (await gateway.data<{ chains: unknown[] }>('{ chains { chainId } }')).chains.length)
        .toBe(1);
    const replies = [await gateway.query(TRANSACTION), await gateway.query(APPROVALS)];
    return replies.flatMap(({ errors = [] }) => errors);
  };
  const before = fake.requests.length;
  const unlisted = await ask(true);
  const paths = fake.requests.slice(before).map(({ path }) => path);
  expect(paths.filter((path) => !path.endsWith('/supported-chains'))).toEqual([]);
  const unknown = await ask(false);
  for (const errors of [unlisted, unknown]) {
    expect(codesOf({ errors })).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
    expect(errors[0]?.message).toMatch(/offers TRANSACTION/);
    expect(errors[1]?.message).toMatch(/offers APPROVALS/);
  }
});

test('a service without them sends nothing of how transactions ended: the fields are null', async () => {
  const transaction = {
    ...{ hash: HASH, chain: 'ethereum', block_number: '1', block_time: '2026-01-01T00:00:00Z' },
    ...{ from: WALLET, to: WALLET, value: '0x1', data: '0x', nonce: '0x0', index: '0', logs: [] },
  };
  await using fake = await startFakeService({
    transactions: () => ({ json: { transactions: [transaction] } }),
  });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const fields = 'success gasUsed effectiveGasPrice fee createdContract revertReason { message }';
  const { wallet } = await gateway.data<{ wallet: { transactions: { nodes: object[] } } }>(
    `{ wallet(address: "${WALLET}") { transactions { nodes { ${fields} } } } }`,
  );
  expect(wallet.transactions.nodes).toEqual([
    {
      ...{ success: null, gasUsed: null, effectiveGasPrice: null, fee: null },
      ...{ createdContract: null, revertReason: null },
    },
  ]);
});

test('over the sandbox, transactions tell how they ended, and a hash finds the same', async () => {
  await using gateway = await startGateway({}, { readsChains: true });
  const fields = `address hash success gasUsed effectiveGasPrice fee createdContract
    revertReason { message data decoded { name } }`;
  const { wallet } = await gateway.data<{ wallet: { transactions: { nodes: Ended[] } } }>(
    `{ wallet(address: "${demoAddress('unlucky')}") { transactions(first: 100) { nodes { chainId ${fields} } } } }`,
  );
  const { nodes } = wallet.transactions;
  for (const { success, fee, gasUsed, effectiveGasPrice } of nodes) {
    expect(success).toEqual(expect.any(Boolean));
    expect(BigInt(fee)).toBe(BigInt(gasUsed) * BigInt(effectiveGasPrice));
  }
  const messages = nodes.map(({ revertReason }) => revertReason?.message ?? '');
  expect(messages).toContain('PathRouter: EXPIRED');
  expect(messages).toContainEqual(expect.stringMatching(/^ERC20InsufficientBalance\(sender: 0x/));
  const failed = nodes.find(({ revertReason }) => revertReason !== null);
  const { transaction } = await gateway.data<{ transaction: Ended }>(
    `{ transaction(chainId: ${failed?.chainId}, hash: "${failed?.hash}") { chainId ${fields} } }`,
  );
  expect(transaction).toEqual({ ...failed, address: transaction.address });
});

type Ended = {
  readonly chainId: number;
  readonly address: string;
  readonly hash: string;
  readonly success: boolean;
  readonly gasUsed: string;
  readonly effectiveGasPrice: string;
  readonly fee: string;
  readonly revertReason: { readonly message: string | null } | null;
};

test('over the sandbox, approvals are what the last ones left', async () => {
  await using gateway = await startGateway({}, { readsChains: true });
  const { wallet } = await gateway.data<{
    wallet: { approvals: { nodes: { id: string; amount: string | null; isUnlimited: boolean }[] } };
  }>(`{ wallet(address: "${WALLET}") { approvals(first: 100) { nodes { id amount isUnlimited } } } }`);
  const { nodes } = wallet.approvals;
  expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
  expect(nodes.some(({ isUnlimited }) => isUnlimited)).toBe(true);
  expect(nodes.every(({ amount }) => amount !== '0')).toBe(true);
});

test('over the sandbox, wallets have names on the chain that has a registry', async () => {
  await using fake = await startFakeService({ other: () => ({ status: 404, text: 'no such path' }) });
  await using sandbox = await startGateway({}, { readsChains: true });
  await using hosted = await startGateway({ UPSTREAM_URL: fake.url });
  const ask = (gateway: Gateway, wallet: string, args = '') =>
    gateway.query<{ wallet: { name: string | null } }>(`{ wallet(address: "${wallet}") { name${args} } }`);
  const named = await ask(sandbox, demoAddress('namer'));
  expect(named).toMatchObject({ data: { wallet: { name: 'namer.sandbox.eth' } }, errors: undefined });
  expect(named.extensions).toMatchObject({ upstream: { computeUnits: 1 } });
  expect((await ask(sandbox, demoAddress('empty'))).data?.wallet.name).toBeNull();
  expect(codesOf(await ask(sandbox, demoAddress('namer'), '(chainId: 8453)'))).toEqual(['BAD_USER_INPUT']);
  // No chain of a hosted service has names: nothing is asked.
  const before = fake.requests.length;
  expect(await ask(hosted, WALLET)).toMatchObject({ data: { wallet: { name: null } }, errors: undefined });
  expect(fake.requests.length).toBe(before);
  expect(codesOf(await ask(hosted, WALLET, '(chainId: 1)'))).toEqual(['BAD_USER_INPUT']);
});

test('a name that could be mistaken for something else is none', async () => {
  const names = new Map<string, unknown>([
    ['1', 'a.eth'],
    ['2', `${'a'.repeat(255)}.eth`],
    ['3', 'a\u202eb.eth'],
    ['4', 'a\nb.eth'],
    ['5', 7],
  ]);
  await using fake = await startFakeService({
    chains: () => listOf('names'),
    other: ({ path }) => ({ json: { name: names.get(path.slice(-1)) } }),
  });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url }, { readsChains: true });
  const replies = await Promise.all(
    [...names.keys()].map((digit) =>
      gateway.query<{ wallet: { name: string | null } }>(
        `{ wallet(address: "0x${digit.repeat(40)}") { name } }`,
      ),
    ),
  );
  expect(replies.map(({ data }) => data?.wallet.name)).toEqual(['a.eth', null, null, null, null]);
  expect(replies.map(codesOf)).toEqual([[], [], [], [], ['UPSTREAM_INVALID_RESPONSE']]);
});
