import { getSelector } from 'ox/AbiFunction';
import { encode } from 'ox/AbiParameters';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { folderOf } from '../../support/folder.ts';
import { codesOf, startGateway } from '../../support/gateway/start.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import {
  accountsOf,
  type Contract,
  deploy,
  deployLiar,
  receiptOf,
  sendTransaction,
} from './support/contracts.ts';
import { type Answer, type Call, startFaultyNode } from './support/faulty-node.ts';
import {
  CHAIN,
  type Ended,
  ETHER,
  listOf,
  OUTCOME,
  open,
  REASON,
  type Reason,
  untilIndexed,
} from './support/outcomes.ts';

/** Transactions tell how they ended. */

const GAS = 500_000n;

describe('a chain of its own', () => {
  let anvil: Anvil;
  let [sender, other]: Hex[] = [];
  let coin: Contract;
  let payer: Contract;
  let liar: Contract;
  let weth: Contract;
  /** The hashes of the failed transactions by what they show. */
  const failed: Record<string, Hex> = {};

  const TOO_LATE: Hex = `${getSelector('TooLate(uint256,address)')}${encode(
    [{ type: 'uint256' }, { type: 'address' }],
    [7n, '0x00000000000000000000000000000000000000aa'],
  ).slice(2)}`;
  const ABI = JSON.stringify([
    {
      type: 'error',
      name: 'TooLate',
      inputs: [
        { name: 'deadline', type: 'uint256' },
        { name: 'who', type: 'address' },
      ],
    },
  ]);
  const UNKNOWN: Hex = '0xdeadbeef00';

  const fail = async (name: string, to: Hex, data: Hex, { value = 0n, gas = GAS } = {}) => {
    const hash = await sendTransaction(anvil.url, to, data, { from: sender ?? '0x', value, gas });
    const { status } = await receiptOf(anvil.url, hash);
    expect(status, name).toBe(false);
    failed[name] = hash;
  };

  beforeAll(async () => {
    anvil = await startAnvil();
    [sender = '0x', other = '0x'] = await accountsOf(anvil.url);
    coin = await deploy(anvil.url, 'Coin', ['Real Coin', 'REAL', 6]);
    payer = await deploy(anvil.url, 'Payer');
    weth = await deploy(anvil.url, 'WrappedNative');
    liar = await deployLiar(anvil.url, { 'late()': { reverts: TOO_LATE }, 'odd()': { reverts: UNKNOWN } });
    await fail('a text', payer.address, payer.data('payAndRevert', weth.address), { value: ETHER });
    await fail('a panic', weth.address, weth.data('withdraw', 5n));
    await fail('a standard', coin.address, coin.data('transfer', other, 1n));
    await fail('an ABI', liar.address, getSelector('late()'));
    await fail('no ABI', liar.address, getSelector('odd()'));
    await fail('nothing', liar.address, getSelector('silent()'));
    await fail('gas', coin.address, coin.data('mint', other, 1n), { gas: 30_000n });
  });
  afterAll(() => anvil[Symbol.asyncDispose]());

  const REASONS: Readonly<Record<string, Partial<Reason>>> = {
    'a panic': {
      message: 'arithmetic overflow or underflow (Panic 0x11)',
      decoded: { name: 'Panic', inputs: [] },
    },
    'a standard': { decoded: { name: 'ERC20InsufficientBalance', inputs: [] } },
    'an ABI': {
      message: 'TooLate(deadline: 7, who: 0x00000000000000000000000000000000000000aa)',
      data: TOO_LATE,
    },
    'no ABI': { message: null, data: UNKNOWN, decoded: null },
    nothing: { message: 'reverted without a reason', data: '0x', decoded: null },
    gas: { message: expect.stringMatching(/out ?of ?gas/i), data: null, decoded: null },
  };

  /** What is expected of the reason that a node gives, without the parameters of errors. */
  const expectReasons = (nodes: readonly Ended[]) => {
    for (const [name, reason] of Object.entries(REASONS)) {
      const found = nodes.find(({ hash }) => hash === failed[name])?.revertReason;
      const decoded = found?.decoded && { ...found.decoded, inputs: [] };
      expect({ ...found, decoded }, name).toMatchObject(reason);
    }
  };

  test('the list and the transaction by its hash say alike how it ended, what it cost, what it created and why it failed', async () => {
    await using abis = await folderOf({ 'late.json': ABI });
    await using gateway = await open(anvil.url, { ABI_DIR: abis.path('.') });
    await untilIndexed(gateway, await anvil.head());
    const { nodes, partialErrors } = await listOf(gateway, sender ?? '0x');
    expect(partialErrors).toBeNull();
    expectReasons(nodes);
    const byHash = new Map(nodes.map((node) => [node.hash, node]));
    for (const [name, hash] of Object.entries(failed)) expect(byHash.get(hash)?.success, name).toBe(false);
    const created = nodes.flatMap(({ createdContract }) => createdContract ?? []);
    expect(created.toReversed()).toEqual([coin, payer, weth, liar].map(({ address }) => address));
    for (const { hash, value, success, gasUsed, fee, effectiveGasPrice } of nodes) {
      const receipt = (await anvil.rpc('eth_getTransactionReceipt', hash)) as {
        gasUsed: Hex;
        effectiveGasPrice: Hex;
        blockNumber: Hex;
      };
      expect(gasUsed).toBe(String(BigInt(receipt.gasUsed)));
      expect(effectiveGasPrice).toBe(String(BigInt(receipt.effectiveGasPrice)));
      // Anvil makes a block for each transaction, so the sender lost its fee in it, and what it sent unless it failed.
      const before = `0x${(Number(receipt.blockNumber) - 1).toString(16)}`;
      const [had, has] = await Promise.all(
        [before, receipt.blockNumber].map(async (block) =>
          BigInt(String(await anvil.rpc('eth_getBalance', sender, block))),
        ),
      );
      expect((had ?? 0n) - (has ?? 0n)).toBe(BigInt(fee) + (success ? BigInt(value) : 0n));
    }
    for (const node of nodes) {
      const { transaction } = await gateway.data<{ transaction: Ended }>(
        `{ transaction(chainId: ${CHAIN}, hash: "${node.hash}") { ${OUTCOME} ${REASON} } }`,
      );
      expect(transaction).toEqual(node);
    }
    const { chain } = await gateway.data<{ chain: { supports: readonly string[] } }>(
      `{ chain(chainId: ${CHAIN}) { supports } }`,
    );
    expect(chain.supports).toContain('TRANSACTION');
  });

  test('a hash that the chain does not have is null, and what is no hash is refused', async () => {
    await using gateway = await open(anvil.url);
    const ask = (hash: string) =>
      gateway.query<{ transaction: unknown }>(`{ transaction(chainId: ${CHAIN}, hash: "${hash}") { hash } }`);
    const absent = await ask(`0x${'ab'.repeat(32)}`);
    expect(absent).toMatchObject({ data: { transaction: null }, errors: undefined });
    expect(codesOf(await ask('0xabcd'))).toEqual(['BAD_USER_INPUT']);
  });

  test('a transaction of a block that the index does not have comes from the node', async () => {
    await using late = await startGateway(
      { CHAINS: `${CHAIN}@${await anvil.head()}=${anvil.url}` },
      { readsChains: true },
    );
    const { transaction } = await late.data<{ transaction: Ended }>(
      `{ transaction(chainId: ${CHAIN}, hash: "${failed['a text']}") { ${OUTCOME} ${REASON} } }`,
    );
    expect(transaction).toMatchObject({ success: false, value: String(ETHER) });
  });

  test('a node that does not trace repeats the call; one that fails at it is named, and asked again', async () => {
    await using faulty = await startFaultyNode(anvil.url);
    const refused = { error: { code: -32601, message: 'Method not found' } };
    const busy = { error: { code: -32603, message: 'Internal error' } };
    const answers = new Map<string, Answer>([
      ['debug_traceTransaction', refused],
      ['eth_call', busy],
    ]);
    faulty.faults.call = (call: Call, ask: () => Promise<Answer>) => answers.get(call.method) ?? ask();
    await using abis = await folderOf({ 'late.json': ABI });
    await using gateway = await open(faulty.url, { ABI_DIR: abis.path('.'), CACHE_TAIL_MS: '0' });
    await untilIndexed(gateway, await anvil.head());
    const unread = await listOf(gateway, sender ?? '0x');
    expect(unread.nodes.find(({ hash }) => hash === failed['a panic'])).toMatchObject({
      success: false,
      revertReason: null,
    });
    expect(JSON.stringify(unread.partialErrors)).toMatch(/failed could not be read/);
    answers.delete('eth_call');
    await expect.poll(async () => (await listOf(gateway, sender ?? '0x')).partialErrors).toBeNull();
    expectReasons((await listOf(gateway, sender ?? '0x')).nodes);
  });

  test('a delivery says the same of a transaction as the list', async () => {
    await using gateway = await open(anvil.url);
    await untilIndexed(gateway, await anvil.head());
    await gateway.data(
      `mutation { watchWallet(input: { address: "${sender}", types: [TRANSACTIONS] }) { __typename } }`,
    );
    await fail('a delivered one', weth.address, weth.data('withdraw', 6n));
    await deploy(anvil.url, 'Payer');
    const fields = 'hash success gasUsed effectiveGasPrice';
    const delivered = async () => {
      const { deliveries } = await gateway.data<{
        deliveries: { nodes: readonly { events: readonly { transaction: Ended }[] }[] };
      }>(
        `{ deliveries(first: 10) { nodes { events { ... on TransactionEvent { transaction { ${fields} } } } } } }`,
      );
      return deliveries.nodes.flatMap(({ events }) => events.map(({ transaction }) => transaction));
    };
    await expect.poll(async () => (await delivered()).length).toBe(2);
    const { nodes } = await listOf(gateway, sender ?? '0x');
    for (const event of await delivered())
      expect(nodes.find(({ hash }) => hash === event.hash)).toMatchObject(event);
  });
});
