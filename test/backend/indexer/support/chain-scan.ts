import type { Hex } from '../../../../src/backend/types.ts';
import type { Anvil } from './anvil.ts';

/** What a reader of all blocks of a node finds, by the node's own answers. */

type RawLog = { readonly data: Hex; readonly topics: readonly Hex[] };
type RawBlock = {
  readonly hash: Hex;
  readonly transactions: readonly { readonly hash: Hex; readonly from: Hex; readonly to: Hex | null }[];
};
type RawReceipt = {
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  readonly contractAddress: Hex | null;
  readonly logs: readonly RawLog[];
};
type RawTrace = {
  readonly transactionHash: Hex;
  /** A contract that leaves has an address, a balance and one that gets it. */
  readonly action: {
    readonly from?: Hex;
    readonly to?: Hex;
    readonly value?: Hex;
    readonly address?: Hex;
    readonly refundAddress?: Hex;
    readonly balance?: Hex;
  };
  readonly result?: { readonly address?: Hex } | null;
  /** The calls that lead to it, and whether it was undone. */
  readonly traceAddress: readonly number[];
  readonly error?: string;
};

/** The events that name accounts, by the places of these among the topics. */
const SIDES: Readonly<Record<Hex, readonly number[]>> = {
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef': [1, 2],
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62': [2, 3],
  '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb': [2, 3],
  // Deposit, Withdrawal, Approval and ApprovalForAll: who is paid, and who approves.
  '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c': [1],
  '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65': [1],
  '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925': [1],
  '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31': [1],
  // ConsecutiveTransfer.
  '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d': [2, 3],
};

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** The sides of a Transfer with nothing indexed. */
const sidesInData = ({ topics, data }: RawLog): readonly string[] =>
  topics.length === 1 && topics[0] === TRANSFER
    ? [`0x${data.slice(26, 66)}`, `0x${data.slice(90, 130)}`]
    : [];

/** The data of a TransferBatch of nothing: two lists without items. */
const EMPTY_BATCH = `0x${[64n, 96n, 0n, 0n].map((word) => word.toString(16).padStart(64, '0')).join('')}`;

const lower = (text: Hex): string => text.toLowerCase();
const hexOf = (number: number): Hex => `0x${number.toString(16)}`;

/** The traces of a transaction that were not undone by a call around them. */
const lasting = (traces: readonly RawTrace[]): readonly RawTrace[] => {
  const undone = traces.filter(({ error }) => error !== undefined).map(({ traceAddress }) => traceAddress);
  return traces.filter(
    ({ traceAddress }) => !undone.some((outer) => outer.every((at, depth) => traceAddress[depth] === at)),
  );
};

/** Who takes part in a transaction that was not undone, by its receipt and its traces. */
const partiesOf = ({ contractAddress, logs }: RawReceipt, traces: readonly RawTrace[]): readonly string[] => [
  ...(contractAddress ? [lower(contractAddress)] : []),
  ...logs
    .filter(({ data }) => data !== EMPTY_BATCH)
    .filter(({ topics }) => topics.length > 1)
    .flatMap(({ topics }) =>
      (SIDES[topics[0] ?? '0x'] ?? []).map((place) => `0x${topics[place]?.slice(26)}`),
    ),
  ...logs.flatMap(sidesInData),
  ...traces
    .filter(({ action }) => BigInt(action.value ?? action.balance ?? 0) > 0n)
    .flatMap(({ action, result }) =>
      [action.from, action.to, action.address, action.refundAddress, result?.address].flatMap(
        (side) => side ?? [],
      ),
    )
    .map(lower),
];

/**
 * The hashes of the transactions in which each account takes part, the oldest first, and what it has paid for gas, by a scan of all
 * blocks.
 */
export const scan = async (anvil: Anvil) => {
  const lists = new Map<string, string[]>();
  const fees = new Map<string, bigint>();
  const head = await anvil.head();
  for (let number = 0; number <= head; number++) {
    const [block, receipts, traces] = (await Promise.all([
      anvil.rpc('eth_getBlockByNumber', hexOf(number), true),
      anvil.rpc('eth_getBlockReceipts', hexOf(number)),
      anvil.rpc('trace_block', hexOf(number)),
    ])) as [RawBlock, readonly RawReceipt[], readonly RawTrace[]];
    for (const [index, { hash, from, to }] of block.transactions.entries()) {
      const receipt = receipts[index];
      const fee = BigInt(receipt?.gasUsed ?? 0) * BigInt(receipt?.effectiveGasPrice ?? 0);
      fees.set(lower(from), (fees.get(lower(from)) ?? 0n) + fee);
      const own = lasting(traces.filter(({ transactionHash }) => transactionHash === hash));
      const others = receipt?.status === '0x1' ? partiesOf(receipt, own) : [];
      for (const party of new Set([lower(from), ...(to === null ? [] : [lower(to)]), ...others]))
        lists.set(party, [...(lists.get(party) ?? []), hash]);
    }
  }
  return { lists, fees };
};
