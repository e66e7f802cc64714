import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy, receiptOf, sendTransaction } from './support/contracts.ts';
import { type Answer, type Call, startFaultyNode } from './support/faulty-node.ts';
import { activityOf, ETHER, listOf, open, untilIndexed } from './support/outcomes.ts';

/** Receipts that lack a status, as before Byzantium and on some private chains, or that have fees beside that of the gas. */

type Receipt = Readonly<Record<string, unknown>>;
type Ask = () => Promise<Answer>;

const changing =
  (change: (receipt: Receipt) => Receipt) =>
  async ({ method }: Call, ask: Ask): Promise<Answer> => {
    const answer = await ask();
    if (!/Receipt/.test(method)) return answer;
    const { result } = answer as { result: Receipt | readonly Receipt[] };
    return { ...answer, result: Array.isArray(result) ? result.map(change) : change(result as Receipt) };
  };

const withoutStatus = changing(({ status: _status, ...receipt }) => ({
  ...receipt,
  root: `0x${'11'.repeat(32)}`,
}));
const refused: Answer = { error: { code: -32601, message: 'Method not found' } };

/** A contract whose code is only STOP: it takes a payment without a bit of gas. */
const TAKER: Hex = '0x00000000000000000000000000000000000057a7';

let anvil: Anvil;
let [sender, friend]: Hex[] = [];
let coin: Contract;

beforeAll(async () => {
  anvil = await startAnvil();
  [sender = '0x', friend = '0x'] = await accountsOf(anvil.url);
  coin = await deploy(anvil.url, 'Coin', ['Real Coin', 'REAL', 6]);
  await anvil.rpc('anvil_setCode', TAKER, '0x00');
});
afterAll(() => anvil[Symbol.asyncDispose]());

/** Pays with no more gas than a payment takes, so that all of it is used, whatever comes of it. */
const pay = async (to: Hex, value: bigint): Promise<Hex> => {
  const hash = await sendTransaction(anvil.url, to, '0x', { from: sender ?? '0x', value, gas: 21_000n });
  await receiptOf(anvil.url, hash);
  return hash;
};

test('a payment counts where the code of its recipient or the trace says that it succeeded, and a failed one is none', async () => {
  await using faulty = await startFaultyNode(anvil.url);
  faulty.faults.call = withoutStatus;
  await using gateway = await open(faulty.url);
  await untilIndexed(gateway, await anvil.head());
  await gateway.data(
    `mutation { watchWallet(input: { address: "${TAKER}", types: [ACTIVITIES] }) { __typename } }`,
  );
  const paid = await pay(friend ?? '0x', ETHER);
  const taken = await pay(TAKER, 2n * ETHER);
  const refusedPayment = await pay(coin.address, 3n * ETHER);
  await untilIndexed(gateway, await anvil.head());
  await expect
    .poll(async () =>
      (await listOf(gateway, sender ?? '0x')).nodes.map(({ hash, success }) => [hash, success]),
    )
    .toEqual([
      [refusedPayment, false],
      [taken, true],
      [paid, true],
      // The creation of the contract took less gas than it was given.
      [expect.anything(), true],
    ]);
  const hashesOf = async (wallet: Hex) =>
    (await activityOf(gateway, wallet)).map(({ transactionHash }) => transactionHash);
  expect(await hashesOf(sender ?? '0x')).toEqual([taken, paid]);
  expect(await hashesOf(coin.address)).toEqual([]);
  const delivered = async () => {
    const { deliveries } = await gateway.data<{
      deliveries: { nodes: readonly { events: readonly { typeName: string; value: string }[] }[] };
    }>('{ deliveries { nodes { events { ... on Activity { typeName value } } } } }');
    return deliveries.nodes.flatMap(({ events }) => events);
  };
  await expect.poll(delivered).toEqual([{ typeName: 'receive', value: String(2n * ETHER) }]);
});

test('where the node does not trace, it is not known whether such a payment succeeded', async () => {
  await using faulty = await startFaultyNode(anvil.url);
  faulty.faults.call = (call, ask) =>
    /^debug_|^trace_block$/.test(call.method) ? refused : withoutStatus(call, ask);
  const hash = await pay(coin.address, 3n * ETHER);
  await using gateway = await open(faulty.url);
  await untilIndexed(gateway, await anvil.head());
  const [newest] = (await listOf(gateway, sender ?? '0x')).nodes;
  expect(newest).toMatchObject({ hash, success: null, revertReason: null });
  expect(await activityOf(gateway, coin.address)).toEqual([]);
});

test('the fee has what blobs and the data on another chain cost', async () => {
  await using faulty = await startFaultyNode(anvil.url);
  faulty.faults.call = changing((receipt) => ({
    ...receipt,
    ...{ l1Fee: '0x64', blobGasUsed: '0x2', blobGasPrice: '0x5' },
  }));
  await using gateway = await open(faulty.url);
  await untilIndexed(gateway, await anvil.head());
  const { nodes } = await listOf(gateway, sender ?? '0x');
  expect(nodes.length).toBeGreaterThan(0);
  for (const { fee, gasUsed, effectiveGasPrice } of nodes)
    expect(BigInt(fee)).toBe(BigInt(gasUsed) * BigInt(effectiveGasPrice) + 110n);
});
