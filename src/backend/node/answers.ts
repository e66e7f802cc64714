import type { Hex } from '../types.ts';

/**
 * The answers of a node, checked: their shape, and whether their parts belong together. Quantities stay hex, as they came;
 * addresses and hashes are lower-case. Members that the index does not need are left out.
 */

export type BlockRef = {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Milliseconds since 1970. */
  readonly time: number;
};

export type RpcTransaction = {
  readonly hash: Hex;
  readonly from: Hex;
  /** Null when the transaction creates a contract. */
  readonly to: Hex | null;
  readonly value: Hex;
  readonly input: Hex;
  readonly nonce: Hex;
  readonly gasPrice: Hex;
  /** The most gas that it may take; null where the node does not say it. */
  readonly gas: Hex | null;
  readonly type: Hex;
};

type RpcLog = { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex };

export type RpcReceipt = {
  readonly transactionHash: Hex;
  /** Null where the receipt leaves it open. */
  readonly success: boolean | null;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  /** What was paid beside the gas, in wei: for blobs, and by rollups for the data on another chain. */
  readonly otherFee: Hex;
  /** The contract that the transaction created; null when it created none. */
  readonly contractAddress: Hex | null;
  readonly logs: readonly RpcLog[];
};

export type RpcBlock = BlockRef & {
  readonly transactions: readonly RpcTransaction[];
  /** Who gets fees and withdrawals of the block, as far as it says so. */
  readonly paid?: readonly Hex[];
};

/** A block with a receipt for each transaction, in their order. */
export type FetchedBlock = {
  readonly block: RpcBlock;
  readonly receipts: readonly RpcReceipt[];
};

/** A node answered something that can't be true of a chain, or parts that don't belong together. */
export class InvalidAnswerError extends Error {
  override readonly name = 'InvalidAnswerError';
}

export type Members = Readonly<Record<string, unknown>>;

/** It is cut to the length of a line when credentials have been taken out of it: a part of one would not be found. */
const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 1000);

export const expected = (what: string, value: unknown): InvalidAnswerError =>
  new InvalidAnswerError(`expected ${what}, got ${shown(value)}`);

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const members = (value: unknown, what: string): Members => {
  if (!isObject(value)) throw expected(what, value);
  return value;
};

export const listOf = (value: unknown, what: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw expected(`a list of ${what}`, value);
  return value;
};

const isHex = (value: unknown, pattern: RegExp): value is Hex =>
  typeof value === 'string' && pattern.test(value);

/** Any number of whole bytes. */
export const readData = (value: unknown, what: string): Hex => {
  if (!isHex(value, /^0x[0-9a-f]*$/i) || value.length % 2 !== 0) throw expected(`${what} in hex`, value);
  return value.toLowerCase() as Hex;
};

export const readHash = (value: unknown, what: string): Hex => {
  if (!isHex(value, /^0x[0-9a-f]{64}$/i)) throw expected(`${what} of 32 bytes`, value);
  return value.toLowerCase() as Hex;
};

const isAddress = (value: unknown): value is Hex => isHex(value, /^0x[0-9a-f]{40}$/i);

export const readAddress = (value: unknown, what: string): Hex => {
  if (!isAddress(value)) throw expected(`${what}, an address`, value);
  return value.toLowerCase() as Hex;
};

/** A number of at most 256 bits. */
export const readQuantity = (value: unknown, what: string): Hex => {
  if (!isHex(value, /^0x[0-9a-f]{1,64}$/i)) throw expected(`${what}, a number in hex`, value);
  return value;
};

/** A number that JavaScript holds exactly. */
export const readInteger = (value: unknown, what: string): number => {
  const number = Number(readQuantity(value, what));
  if (!Number.isSafeInteger(number)) throw expected(`${what} below 2^53`, value);
  return number;
};

/** A quantity that JavaScript holds exactly. */
const readExact = (value: unknown, what: string): Hex => {
  readInteger(value, what);
  return readQuantity(value, what);
};

const optional = <Value>(value: unknown, read: (value: unknown) => Value): Value | null =>
  value === undefined || value === null ? null : read(value);

/** The end of the year 9999, in seconds. What comes later is not in seconds. */
const MAX_SECONDS = 253_402_300_799;

const readSeconds = (value: unknown): number => {
  const seconds = readInteger(value, 'the time of a block');
  if (seconds <= MAX_SECONDS) return seconds;
  throw expected(
    'the time of a block in seconds, until the year 9999',
    `${value}, which looks like milliseconds`,
  );
};

/** The most blocks of a chain, and transactions of a block, for which the ids of the index have room. */
const MAX_BLOCKS = 2 ** 36;
const MAX_TRANSACTIONS = 2 ** 20;

export const readBlockRef = (value: unknown): BlockRef => {
  const { number, hash, parentHash, timestamp } = members(value, 'a block');
  const read = readInteger(number, 'the number of a block');
  if (read >= MAX_BLOCKS) throw expected('the number of a block below 2^36', number);
  return {
    number: read,
    hash: readHash(hash, 'the hash of a block'),
    parentHash: readHash(parentHash, "the hash of a block's parent"),
    time: readSeconds(timestamp) * 1000,
  };
};

/** A block with its transactions, not only their hashes. */
export const readBlock = (value: unknown): RpcBlock => {
  const block = readBlockRef(value);
  const { transactions: listed, miner, withdrawals } = members(value, 'a block');
  const list = listOf(listed, 'transactions');
  if (list.length > MAX_TRANSACTIONS)
    throw expected(`at most 2^20 transactions of block ${block.number}`, list.length);
  const transactions = list.map(readTransaction);
  if (new Set(transactions.map(({ hash }) => hash)).size < transactions.length)
    throw new InvalidAnswerError(`expected each transaction of block ${block.number} once, got one twice`);
  return { ...block, transactions, paid: readPaid(miner, withdrawals) };
};

/** Not every chain says who is paid, or in this form. */
const readPaid = (miner: unknown, withdrawals: unknown): readonly Hex[] => {
  const each: readonly unknown[] = Array.isArray(withdrawals) ? withdrawals : [];
  const accounts = each.map((withdrawal) => (isObject(withdrawal) ? withdrawal.address : null));
  return [miner, ...accounts].flatMap((account) =>
    isAddress(account) ? readAddress(account, 'an account') : [],
  );
};

export const readTransaction = (value: unknown): RpcTransaction => {
  const { hash, from, to, value: sent, input, nonce, gasPrice, gas, type } = members(value, 'a transaction');
  return {
    hash: readHash(hash, 'the hash of a transaction'),
    from: readAddress(from, 'the sender of a transaction'),
    to: optional(to, (address) => readAddress(address, 'the recipient of a transaction')),
    value: readQuantity(sent, 'the value of a transaction'),
    input: readData(input, 'the input of a transaction'),
    nonce: readExact(nonce, 'the nonce of a transaction'),
    // Transactions that a rollup adds by itself have no price, those before EIP-2718 no type.
    gasPrice: readQuantity(gasPrice ?? '0x0', 'the gas price of a transaction'),
    gas: optional(gas, (limit) => readQuantity(limit, 'the gas limit of a transaction')),
    type: readExact(type ?? '0x0', 'the type of a transaction'),
  };
};

/** The number of a transaction's block, and its position in that. */
export type TransactionPlace = { readonly block: number; readonly index: number };

/** Null for a transaction that the node does not have, or that is in no block yet. */
export const readPlace =
  (wanted: Hex) =>
  (value: unknown): TransactionPlace | null => {
    if (value === null) return null;
    const { hash, blockNumber, transactionIndex } = members(value, 'a transaction');
    if (readHash(hash, 'the hash of a transaction') !== wanted) throw expected(`transaction ${wanted}`, hash);
    if (blockNumber === undefined || blockNumber === null) return null;
    return {
      block: readInteger(blockNumber, 'the block of a transaction'),
      index: readInteger(transactionIndex, 'the position of a transaction'),
    };
  };

/**
 * The receipts of a block's transactions, by the hashes of these. A node may leave some out, and a
 * balancer may have asked one whose block of this number is another.
 */
export const readReceipts = (value: unknown, block: RpcBlock): Map<Hex, RpcReceipt> => {
  const wanted = new Map(block.transactions.map((transaction) => [transaction.hash, transaction]));
  const found = new Map<Hex, RpcReceipt>();
  for (const item of Array.isArray(value) ? value : []) {
    try {
      const transaction = wanted.get(readHash(item?.transactionHash, 'a hash'));
      if (transaction !== undefined) found.set(transaction.hash, readReceipt(item, block, transaction));
    } catch (problem) {
      // It counts as missing.
      if (!(problem instanceof InvalidAnswerError)) throw problem;
    }
  }
  return found;
};

/** @throws InvalidAnswerError when it is not that of the transaction in this block. */
export const readReceipt = (
  value: unknown,
  block: Pick<RpcBlock, 'number' | 'hash'>,
  transaction: RpcTransaction,
): RpcReceipt => {
  const receipt = members(value, `the receipt of ${transaction.hash} in block ${block.number}`);
  const transactionHash = readHash(receipt.transactionHash, "the hash of a receipt's transaction");
  const blockHash = readHash(receipt.blockHash, "the hash of a receipt's block");
  if (transactionHash !== transaction.hash || blockHash !== block.hash)
    throw new InvalidAnswerError(
      `expected the receipt of ${transaction.hash} in block ${block.hash}, got one of ${transactionHash} in ${blockHash}`,
    );
  const logs = listOf(receipt.logs, 'logs').map(readLog);
  const gasUsed = readQuantity(receipt.gasUsed, 'the gas of a receipt');
  return {
    transactionHash,
    success: readSuccess(receipt, { gasUsed, logs, gas: transaction.gas }),
    gasUsed,
    effectiveGasPrice: readQuantity(
      receipt.effectiveGasPrice ?? transaction.gasPrice,
      'the gas price of a receipt',
    ),
    otherFee: readOtherFee(receipt),
    contractAddress: optional(receipt.contractAddress, (address) =>
      readAddress(address, 'the contract of a receipt'),
    ),
    logs,
  };
};

/**
 * Whether a transaction succeeded. Receipts before Byzantium have a state root in place of a status, and those of some private
 * chains have neither. What failed left no log, and before Byzantium took all of its gas. Otherwise it is not known: null.
 */
const readSuccess = (
  { status, root }: Members,
  { gasUsed, gas, logs }: Pick<RpcReceipt, 'gasUsed' | 'logs'> & Pick<RpcTransaction, 'gas'>,
): boolean | null => {
  if (status !== undefined && status !== null) {
    const said = readInteger(status, 'the status of a receipt');
    if (said > 1) throw expected('the status of a receipt, 0 or 1', status);
    return said === 1;
  }
  if (logs.length > 0) return true;
  const hasRoot = typeof root === 'string' && root.length > 2;
  return hasRoot && gas !== null && BigInt(gasUsed) < BigInt(gas) ? true : null;
};

/** What a receipt says of a transaction of which nothing else was read. */
export type FoundReceipt = TransactionPlace & {
  readonly blockHash: Hex;
  /** Null where the receipt leaves it open. */
  readonly success: boolean | null;
  readonly logs: readonly RpcLog[];
};

/** Null for a transaction of which the node has no receipt. */
export const readFoundReceipt =
  (wanted: Hex) =>
  (value: unknown): FoundReceipt | null => {
    if (value === null) return null;
    const receipt = members(value, `the receipt of ${wanted}`);
    const hash = readHash(receipt.transactionHash, "the hash of a receipt's transaction");
    if (hash !== wanted) throw expected(`the receipt of ${wanted}`, hash);
    const logs = listOf(receipt.logs, 'logs').map(readLog);
    const gasUsed = readQuantity(receipt.gasUsed, 'the gas of a receipt');
    return {
      block: readInteger(receipt.blockNumber, 'the block of a receipt'),
      index: readInteger(receipt.transactionIndex, 'the position of a transaction'),
      blockHash: readHash(receipt.blockHash, "the hash of a receipt's block"),
      success: readSuccess(receipt, { gasUsed, logs, gas: null }),
      logs,
    };
  };

const readOtherFee = ({ l1Fee, blobGasUsed, blobGasPrice }: Members): Hex => {
  const amount = (value: unknown, what: string) => BigInt(readQuantity(value ?? '0x0', what));
  const blobs =
    amount(blobGasUsed, 'the blob gas of a receipt') *
    amount(blobGasPrice, 'the blob gas price of a receipt');
  return `0x${(amount(l1Fee, 'the fee of a receipt for its data') + blobs).toString(16)}`;
};

/** The number of topics that a log can have. */
const MAX_TOPICS = 4;

const readLog = (value: unknown): RpcLog => {
  const { address, topics, data } = members(value, 'a log');
  const list = listOf(topics, 'topics');
  if (list.length > MAX_TOPICS) throw expected(`at most ${MAX_TOPICS} topics`, topics);
  return {
    address: readAddress(address, 'the contract of a log'),
    topics: list.map((topic) => readHash(topic, 'a topic')),
    data: readData(data, 'the data of a log'),
  };
};
