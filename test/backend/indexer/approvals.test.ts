import { encode } from 'ox/AbiParameters';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy, place, receiptOf, sendTransaction } from './support/contracts.ts';
import { startFaultyNode } from './support/faulty-node.ts';
import { CHAIN, open, untilIndexed } from './support/outcomes.ts';

/** Who may move what of a wallet now, as the contracts say. */

type Approval = {
  readonly id: string;
  readonly token: { readonly address: string; readonly symbol: string | null };
  readonly standard: string | null;
  readonly spender: string;
  readonly amount: string | null;
  readonly isUnlimited: boolean;
  readonly tokenId: string | null;
  readonly isForAll: boolean;
};
type Connection = {
  readonly nodes: readonly Approval[];
  readonly partialErrors: unknown;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
};

const FIELDS = `nodes { id token { address symbol } standard spender amount isUnlimited tokenId isForAll }
  partialErrors pageInfo { hasNextPage endCursor }`;

const approvalsOf = async ({ data }: Pick<Gateway, 'data'>, owner: Hex, args = 'first: 100') => {
  const { wallet } = await data<{ wallet: { approvals: Connection } }>(
    `{ wallet(address: "${owner}") { approvals(${args}) { ${FIELDS} } } }`,
  );
  return wallet.approvals;
};

const MOST = 2n ** 256n - 1n;
const APPROVAL: Hex = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const topic = (address: Hex): Hex => encode([{ type: 'address' }], [address]);

let anvil: Anvil;
let [owner, router, market, other]: Hex[] = [];
let coin: Contract;
let art: Contract;
let items: Contract;
let liar: Contract;

beforeAll(async () => {
  anvil = await startAnvil();
  [owner = '0x', router = '0x', market = '0x', other = '0x'] = await accountsOf(anvil.url);
  coin = await deploy(anvil.url, 'Coin', ['Real Coin', 'REAL', 6]);
  art = await deploy(anvil.url, 'Art', ['Art', 'ART']);
  items = await deploy(anvil.url, 'Items', ['ipfs://{id}']);
  liar = await deploy(anvil.url, 'Liar');
  await coin.mine('mint', [owner, 1000n]);
  await coin.mine('approve', [router, 100n]);
  await coin.mine('transferFrom', [owner, other, 40n], { from: router });
  await coin.mine('approve', [market, MOST]);
  await coin.mine('approve', [other, 5n]);
  await coin.mine('approve', [other, 0n]);
  for (const id of [1n, 2n, 3n]) await art.mine('mint', [owner, id, '']);
  await art.mine('approve', [router, 1n]);
  await art.mine('approve', [router, 2n]);
  // The next owner approves the same spender, which is nothing that this owner allows.
  await art.mine('transferFrom', [owner, other, 2n]);
  await art.mine('approve', [router, 2n], { from: other });
  await art.mine('setApprovalForAll', [market, true]);
  await items.mine('mint', [owner, 7n, 3n]);
  await items.mine('setApprovalForAll', [market, true]);
  await items.mine('setApprovalForAll', [router, true]);
  await items.mine('setApprovalForAll', [router, false]);
  // Anyone can log an approval of any account.
  const spoofed = [[APPROVAL, topic(owner), topic(router)], encode([{ type: 'uint256' }], [MOST])];
  await liar.mine('report', spoofed, { from: other });
});
afterAll(() => anvil[Symbol.asyncDispose]());

const common = { amount: null, isUnlimited: false, tokenId: null, isForAll: false };

const expected = () =>
  [
    { ...common, token: coin, spender: router, standard: 'ERC20', amount: '60' },
    { ...common, token: coin, spender: market, standard: 'ERC20', amount: String(MOST), isUnlimited: true },
    { ...common, token: art, spender: router, standard: 'ERC721', tokenId: '1' },
    { ...common, token: art, spender: market, standard: 'ERC721', isForAll: true },
    { ...common, token: items, spender: market, standard: 'ERC1155', isForAll: true },
  ]
    .map(({ token: { address }, ...approval }) => ({ ...approval, token: { address } }))
    .toSorted((one, another) =>
      `${one.token.address}${one.spender}` < `${another.token.address}${another.spender}` ? -1 : 1,
    );

test('the list has what contracts confirm, by token and spender, and nothing that was used up, revoked or made up', async () => {
  await using gateway = await open(anvil.url);
  await untilIndexed(gateway, await anvil.head());
  const { nodes, partialErrors } = await approvalsOf(gateway, owner ?? '0x');
  expect(nodes).toMatchObject(expected());
  expect(partialErrors).toBeNull();
  expect(nodes.find(({ amount }) => amount === '60')?.token.symbol).toBe('REAL');
  const walked: Approval[] = [];
  for (let after: string | null = null; ; ) {
    const page: Connection = await approvalsOf(
      gateway,
      owner ?? '0x',
      `first: 2${after ? `, after: "${after}"` : ''}`,
    );
    walked.push(...page.nodes);
    after = page.pageInfo.endCursor;
    if (!page.pageInfo.hasNextPage) break;
  }
  expect(walked).toEqual(nodes);
  const { chain } = await gateway.data<{ chain: { supports: readonly string[] } }>(
    `{ chain(chainId: ${CHAIN}) { supports } }`,
  );
  expect(chain.supports).toContain('APPROVALS');
  expect((await approvalsOf(gateway, router ?? '0x')).nodes).toEqual([]);
});

test('a revocation counts with its block, and an approval that was unwound is gone', async () => {
  await using gateway = await open(anvil.url);
  const snapshot = await anvil.rpc('evm_snapshot');
  await coin.mine('approve', [router, 0n]);
  await coin.mine('approve', [liar.address, 9n]);
  await untilIndexed(gateway, await anvil.head());
  const amounts = async () =>
    (await approvalsOf(gateway, owner ?? '0x')).nodes.flatMap(({ amount }) => amount ?? []).toSorted();
  expect(await amounts()).toEqual([String(MOST), '9'].toSorted());
  await anvil.rpc('evm_revert', snapshot);
  await anvil.mine(5);
  await untilIndexed(gateway, await anvil.head());
  expect(await amounts()).toEqual([String(MOST), '60'].toSorted());
});

test('what the node fails to ask is named, and the rest is there: one contract, or all of them', async () => {
  await using faulty = await startFaultyNode(anvil.url);
  let isFailing = (_to: string) => false;
  faulty.faults.call = (call, ask) => {
    const [{ to = '' } = {}] = call.params as readonly { to?: string }[];
    return call.method === 'eth_call' && isFailing(to)
      ? { error: { code: -32603, message: 'Internal error' } }
      : ask();
  };
  await using gateway = await open(faulty.url);
  await untilIndexed(gateway, await anvil.head());
  expect((await approvalsOf(gateway, owner ?? '0x')).nodes).toHaveLength(5);
  isFailing = (to) => to === coin.address;
  // A block that concerns the wallet: its page is kept until then.
  await receiptOf(
    anvil.url,
    await sendTransaction(anvil.url, other, '0x', { from: owner ?? '0x', value: 1n }),
  );
  await untilIndexed(gateway, await anvil.head());
  const partial = await approvalsOf(gateway, owner ?? '0x');
  expect(partial.nodes).toMatchObject(expected().filter(({ standard }) => standard !== 'ERC20'));
  expect(JSON.stringify(partial.partialErrors)).toContain(coin.address);
  isFailing = () => true;
  await expect.poll(async () => (await approvalsOf(gateway, owner ?? '0x')).nodes).toEqual([]);
  const none = await approvalsOf(gateway, owner ?? '0x');
  expect(JSON.stringify(none.partialErrors)).toMatch(/approvals could not be read/);
});

test('contracts are asked together where there is Multicall3, and say the same', async () => {
  await place(anvil.url, 'Multicall3', '0xca11bde05977b3631167028862be2a173976ca11');
  await using gateway = await open(anvil.url);
  await untilIndexed(gateway, await anvil.head());
  expect((await approvalsOf(gateway, owner ?? '0x')).nodes).toMatchObject(expected());
});

test('an index that began late says what it may lack', async () => {
  const head = await anvil.head();
  await using gateway = await startGateway(
    { CHAINS: `${CHAIN}@${head}=${anvil.url}`, CACHE_HEAD_MS: '0' },
    { readsChains: true },
  );
  await untilIndexed(gateway, head);
  const { nodes, partialErrors } = await approvalsOf(gateway, owner ?? '0x');
  expect(nodes).toEqual([]);
  expect(JSON.stringify(partialErrors)).toContain(`begins with block ${head}`);
});
