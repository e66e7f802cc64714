import { createHash } from 'node:crypto';
import { encode } from 'ox/AbiParameters';
import { type ParsedBlock, parseBlock } from '../../../../src/backend/indexer/blocks/parse.ts';
import { TOPICS } from '../../../../src/backend/indexer/blocks/readings.ts';
import type { FetchedBlock } from '../../../../src/backend/node/answers.ts';
import type { InternalTransfer } from '../../../../src/backend/node/traces.ts';
import type { Hex, LogEntry } from '../../../../src/backend/types.ts';

/** Blocks as a node answers them, made up for tests. */

export const ZERO: Hex = `0x${'0'.repeat(40)}`;

export const hashOf = (...parts: readonly unknown[]): Hex =>
  `0x${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;

/** An address that is always the same for a name. */
export const address = (name: string): Hex => `0x${hashOf(name).slice(-40)}`;

const topic = (value: Hex | bigint): Hex =>
  `0x${(typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`;

const uint = { type: 'uint256' };
const uints = { type: 'uint256[]' };

/** The logs of the standards. */
export const logs = {
  coin: (token: Hex, from: Hex, to: Hex, value: bigint): LogEntry => ({
    address: token,
    topics: [TOPICS.transfer, topic(from), topic(to)],
    data: encode([uint], [value]),
  }),
  unique: (token: Hex, from: Hex, to: Hex, id: bigint): LogEntry => ({
    address: token,
    topics: [TOPICS.transfer, topic(from), topic(to), topic(id)],
    data: '0x',
  }),
  single: (token: Hex, from: Hex, to: Hex, id: bigint, value: bigint): LogEntry => ({
    address: token,
    topics: [TOPICS.single, topic(from), topic(from), topic(to)],
    data: encode([uint, uint], [id, value]),
  }),
  batch: (
    token: Hex,
    from: Hex,
    to: Hex,
    editions: readonly (readonly [id: bigint, value: bigint])[],
  ): LogEntry => ({
    address: token,
    topics: [TOPICS.batch, topic(from), topic(from), topic(to)],
    data: encode([uints, uints], [editions.map(([id]) => id), editions.map(([, value]) => value)]),
  }),
  approval: (token: Hex, owner: Hex, spender: Hex, value: bigint): LogEntry => ({
    address: token,
    topics: [TOPICS.approval, topic(owner), topic(spender)],
    data: encode([uint], [value]),
  }),
  approvalOfOne: (token: Hex, owner: Hex, spender: Hex, id: bigint): LogEntry => ({
    address: token,
    topics: [TOPICS.approval, topic(owner), topic(spender), topic(id)],
    data: '0x',
  }),
  approvalForAll: (token: Hex, owner: Hex, spender: Hex, approved: boolean): LogEntry => ({
    address: token,
    topics: [TOPICS.approvalForAll, topic(owner), topic(spender)],
    data: encode([{ type: 'bool' }], [approved]),
  }),
  /** With nothing indexed. */
  plain: (token: Hex, from: Hex, to: Hex, number: bigint): LogEntry => ({
    address: token,
    topics: [TOPICS.transfer],
    data: `${topic(from)}${topic(to).slice(2)}${topic(number).slice(2)}`,
  }),
  range: (token: Hex, from: Hex, to: Hex, first: bigint, last: bigint): LogEntry => ({
    address: token,
    topics: [TOPICS.consecutive, topic(first), topic(from), topic(to)],
    data: topic(last),
  }),
  wrapping: (kind: 'deposit' | 'withdrawal', token: Hex, account: Hex, value: bigint): LogEntry => ({
    address: token,
    topics: [TOPICS[kind], topic(account)],
    data: encode([uint], [value]),
  }),
};

export type Mined = {
  readonly from: Hex;
  /** Default: a contract that is called. */
  readonly to?: Hex | null;
  readonly created?: Hex;
  readonly value?: bigint;
  /** Default: a call. */
  readonly input?: Hex;
  readonly success?: boolean;
  readonly logs?: readonly LogEntry[];
  /** What its calls move, unless it fails. */
  readonly internal?: readonly InternalTransfer[];
};

const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;

/** A block on its parent. The same parent, time and transactions make the same block, with the same hashes. */
const fetchedBlock = (
  parent: { readonly number: number; readonly hash: Hex },
  time: number,
  mined: readonly Mined[],
): FetchedBlock => {
  const number = parent.number + 1;
  const text = JSON.stringify(mined, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  const blockHash = hashOf('block', parent.hash, number, time, text);
  const hashes = mined.map((_, index) => hashOf('transaction', blockHash, index));
  const block = {
    ...{ number, hash: blockHash, parentHash: parent.hash, time },
    transactions: mined.map(({ from, to = address('called'), value = 0n, input = '0xa9059cbb' }, index) => ({
      ...{ hash: hashes[index] ?? '0x', from, to, value: quantity(value), input },
      ...{
        nonce: quantity(index),
        gasPrice: quantity(1_000_000_007),
        gas: quantity(100_000),
        type: quantity(2),
      },
    })),
  };
  const receipts = mined.map(({ success = true, created = null, logs: emitted = [] }, index) => ({
    transactionHash: hashes[index] ?? '0x',
    ...{ success, gasUsed: quantity(21_000 + index), effectiveGasPrice: quantity(7) },
    ...{ otherFee: quantity(0), contractAddress: created, logs: success ? emitted : [] },
  }));
  return { block, receipts };
};

/** A block as the index has it once it is traced. */
export const tracedBlock = (
  chainId: number,
  parent: { readonly number: number; readonly hash: Hex },
  time: number,
  mined: readonly Mined[],
): ParsedBlock => {
  const block = parseBlock(chainId, fetchedBlock(parent, time, mined));
  const transactions = block.transactions.map((transaction, at) => ({
    ...transaction,
    internal: transaction.success ? (mined[at]?.internal ?? []) : [],
  }));
  return { ...block, transactions };
};

export const GENESIS = { number: -1, hash: topic(0n) };
