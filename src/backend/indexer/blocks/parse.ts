import { ZERO_ADDRESS } from '../../evm/address.ts';
import { swapOf } from '../../evm/swap.ts';
import type { BlockRef, FetchedBlock, RpcReceipt, RpcTransaction } from '../../node/answers.ts';
import type { InternalTransfer } from '../../node/traces.ts';
import type { Chain, Effect, Hex, MinedTransaction, Transaction } from '../../types.ts';
import { readLogs, transferOf } from './logs.ts';
import { byStandard, type ReadingsOf } from './readings.ts';

/** What the index stores of a transaction: everything else is derived from it, when it is stored and when it is read. */
export type ParsedTransaction = Omit<
  Transaction,
  'chain' | 'blockHash' | 'blockNumber' | 'blockTime' | 'effects' | 'fee'
> & {
  /** What its sender paid beside the gas, in wei. */
  readonly otherFee: bigint;
  /** Native currency that moved in calls within the transaction; empty until the block is traced. */
  readonly internal: readonly InternalTransfer[];
};

export type ParsedBlock = BlockRef & {
  readonly chainId: number;
  readonly transactions: readonly ParsedTransaction[];
  /** Who gets fees and withdrawals of the block. A block that is read from the index does not say it. */
  readonly paid?: readonly Hex[] | undefined;
};

export const parseBlock = (chainId: number, { block, receipts }: FetchedBlock): ParsedBlock => {
  const { number, hash, parentHash, time, paid } = block;
  const transactions = block.transactions.map((transaction, index) => {
    const receipt = receipts[index];
    if (receipt?.transactionHash !== transaction.hash)
      throw new Error(
        `expected the receipt of ${transaction.hash} in block ${number}, got ${receipt?.transactionHash}`,
      );
    return parseTransaction(index, transaction, receipt);
  });
  return { number, hash, parentHash, time, chainId, transactions, paid };
};

/** What its sender paid for a transaction, beside its value, in wei. */
export const feeOf = ({
  gasUsed,
  effectiveGasPrice,
  otherFee,
}: Pick<ParsedTransaction, 'gasUsed' | 'effectiveGasPrice' | 'otherFee'>): bigint =>
  gasUsed * effectiveGasPrice + otherFee;

/** The effects of a failed transaction were reverted, though some nodes name its contract or its calls all the same. */
export const parseTransaction = (
  index: number,
  { hash, from, to, value, input, nonce, gasPrice, type }: RpcTransaction,
  { success, gasUsed, effectiveGasPrice, otherFee, contractAddress, logs }: RpcReceipt,
): ParsedTransaction => ({
  index,
  hash,
  from,
  to,
  created: success === true && to === null ? contractAddress : null,
  value: BigInt(value),
  data: input,
  nonce: Number(nonce),
  gasPrice: BigInt(gasPrice),
  gasUsed: BigInt(gasUsed),
  effectiveGasPrice: BigInt(effectiveGasPrice),
  otherFee: BigInt(otherFee),
  type: Number(type),
  success,
  logs,
  internal: [],
});

type BlockOfTransaction = { readonly number: number; readonly hash: Hex; readonly time: number };

/** A transaction of a block, as it is listed. */
export const minedOf = (
  chain: Chain,
  block: BlockOfTransaction,
  transaction: ParsedTransaction,
): MinedTransaction => ({
  ...transaction,
  chain,
  blockHash: block.hash,
  blockNumber: block.number,
  blockTime: block.time,
  fee: feeOf(transaction),
});

/** A transaction of a block, as listeners get it, and lookups of what it did. */
export const transactionOf = (
  chain: Chain,
  block: BlockOfTransaction,
  transaction: ParsedTransaction,
  effects: readonly Effect[],
): Transaction => ({ ...minedOf(chain, block, transaction), effects });

/** The gas of a transaction that runs no code. */
const PAYMENT_GAS = 21_000n;

/**
 * Whether calls within a transaction may have moved native currency: not where it failed, or where no code ran. Where it is not
 * known whether it failed, its trace says that, too.
 */
export const mayMoveInside = ({ success, data, gasUsed, logs }: ParsedTransaction): boolean =>
  success === null || (success && (data !== '0x' || logs.length > 0 || gasUsed !== PAYMENT_GAS));

/**
 * The movements and approvals of a transaction, in their order, and its swap. Logs that can be read in several ways are read as
 * their contracts decide, by default as the standards have them.
 */
export const effectsOf = (
  transaction: ParsedTransaction,
  readingsOf: ReadingsOf = byStandard,
  /** Called with contracts of which it is not settled how their logs are read. */
  onOpen: ((contract: Hex) => void) | null = null,
): readonly Effect[] => {
  if (transaction.success !== true) return [];
  const { from, to, created, value, internal, logs } = transaction;
  const found: Effect[] = [];
  const recipient = to ?? created;
  if (value > 0n && recipient !== null) found.push(transferOf('native', null, null, from, recipient, value));
  for (const moved of internal)
    found.push(transferOf('native', null, null, moved.from, moved.to, moved.value));
  readLogs(logs, readingsOf, found, onOpen);
  const swap = swapOf(transaction, found);
  if (swap !== null) found.push(swap);
  return found;
};

/** Where the movements inside of its calls are among the effects of a transaction: behind its own payment. */
export const insideOf = ({
  to,
  created,
  value,
  internal,
}: ParsedTransaction): { readonly first: number; readonly end: number } => {
  const first = value > 0n && (to ?? created) !== null ? 1 : 0;
  return { first, end: first + internal.length };
};

/** All addresses that a transaction concerns: its sender, its recipient or new contract, and both sides of its effects. */
export const partiesOf = (
  { from, to, created }: ParsedTransaction,
  effects: readonly Effect[],
): ReadonlySet<Hex> => {
  const parties = new Set([from]);
  for (const effect of effects) {
    if (effect.kind === 'transfer') parties.add(effect.from).add(effect.to);
    else if (effect.kind === 'approval') parties.add(effect.owner);
  }
  // The zero address stands for nobody in mints and burns, but it can be sent to.
  parties.delete(ZERO_ADDRESS);
  if (to !== null) parties.add(to);
  if (created !== null) parties.add(created);
  return parties;
};
