import { getSelector as topicOf } from 'ox/AbiEvent';
import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { Approval, Effect, Hex, LogEntry, Swap, Transaction, Transfer } from '../../types.ts';
import type { BlockRef, FetchedBlock, RpcReceipt, RpcTransaction } from '../node/answers.ts';
import type { InternalTransfer } from '../node/traces.ts';

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
const parseTransaction = (
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

/** The gas of a transaction that runs no code. */
const PAYMENT_GAS = 21_000n;

/**
 * Whether calls within a transaction may have moved native currency: not where it failed, or where no code ran. Where it is not
 * known whether it failed, its trace says that, too.
 */
export const mayMoveInside = ({ success, data, gasUsed, logs }: ParsedTransaction): boolean =>
  success === null || (success && (data !== '0x' || logs.length > 0 || gasUsed !== PAYMENT_GAS));

/**
 * The movements and approvals of a transaction, in their order, and its swap. Logs that are not exactly what a standard
 * says, by the number of their topics, the length of their data and their addresses, are passed over. A log has at most
 * one effect for each 32 bytes of it.
 */
export const effectsOf = (
  transaction: ParsedTransaction,
  /** Whether a contract is known to be an ERC-1155: its approvals of all tokens look like those of an ERC-721. */
  isMultiToken: (contract: Hex) => boolean = () => false,
): readonly Effect[] => {
  if (transaction.success !== true) return [];
  const { from, to, created, value, internal, logs } = transaction;
  const found: Effect[] = [];
  const recipient = to ?? created;
  if (value > 0n && recipient !== null) found.push(transferOf('native', null, null, from, recipient, value));
  for (const moved of internal)
    found.push(transferOf('native', null, null, moved.from, moved.to, moved.value));
  const context = { found, logs, isMultiToken };
  for (const log of logs) READERS.get(log.topics[0] ?? '')?.(log, context);
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

/** What the readers of a transaction's logs share. */
type Context = {
  readonly found: Effect[];
  readonly logs: readonly LogEntry[];
  readonly isMultiToken: (contract: Hex) => boolean;
  /** What `issuedIn` says of the logs, once it was asked. */
  issued?: ReadonlySet<string>;
};

type Reader = (log: LogEntry, context: Context) => void;

const transferOf = (
  asset: Transfer['asset'],
  token: Hex | null,
  tokenId: bigint | null,
  from: Hex,
  to: Hex,
  value: bigint,
): Transfer => ({ kind: 'transfer', asset, token, tokenId, from, to, value, balances: null });

const approvalOf = (
  asset: Approval['asset'],
  token: Hex,
  tokenId: bigint | null,
  owner: Hex,
  spender: Hex,
  value: bigint,
): Approval => ({ kind: 'approval', asset, token, tokenId, owner, spender, value });

/** The lengths of hex texts. */
const WORD = 64;
const EMPTY = 2;
const word = (count: number) => 2 + count * WORD;

const PADDING = `0x${'0'.repeat(24)}`;

/** The address in a topic; null when there is no such topic, or when it holds more than an address. */
const addressIn = (topic: Hex | undefined): Hex | null =>
  topic?.startsWith(PADDING) ? `0x${topic.slice(PADDING.length)}` : null;

const wordAt = (data: Hex, at: number): bigint => BigInt(`0x${data.slice(word(at), word(at + 1))}`);

const readTransfer: Reader = ({ address, topics, data }, { found }) => {
  const [from, to, id] = [addressIn(topics[1]), addressIn(topics[2]), topics[3]];
  if (from === null || to === null) return;
  if (id === undefined && data.length === word(1))
    found.push(transferOf('erc20', address, null, from, to, BigInt(data)));
  else if (id !== undefined && data.length === EMPTY)
    found.push(transferOf('erc721', address, BigInt(id), from, to, 1n));
};

const readApproval: Reader = ({ address, topics, data }, { found }) => {
  const [owner, spender, id] = [addressIn(topics[1]), addressIn(topics[2]), topics[3]];
  if (owner === null || spender === null) return;
  if (id === undefined && data.length === word(1))
    found.push(approvalOf('erc20', address, null, owner, spender, BigInt(data)));
  // The zero address as the spender means that the approval was revoked.
  else if (id !== undefined && data.length === EMPTY)
    found.push(approvalOf('erc721', address, BigInt(id), owner, spender, spender === ZERO_ADDRESS ? 0n : 1n));
};

const readApprovalForAll: Reader = ({ address, topics, data }, { found, isMultiToken }) => {
  const [owner, spender] = [addressIn(topics[1]), addressIn(topics[2])];
  if (owner === null || spender === null || topics.length !== 3 || data.length !== word(1)) return;
  const standard = isMultiToken(address) ? 'erc1155' : 'erc721';
  found.push(approvalOf(standard, address, null, owner, spender, BigInt(data) === 0n ? 0n : 1n));
};

const readSingle: Reader = ({ address, topics, data }, { found }) => {
  const [from, to] = [addressIn(topics[2]), addressIn(topics[3])];
  if (from === null || to === null || data.length !== word(2)) return;
  found.push(transferOf('erc1155', address, wordAt(data, 0), from, to, wordAt(data, 1)));
};

const readBatch: Reader = ({ address, topics, data }, { found }) => {
  const [from, to] = [addressIn(topics[2]), addressIn(topics[3])];
  const [ids, values] = [arrayAt(data, 0), arrayAt(data, 1)];
  if (from === null || to === null || ids === null || values === null || ids.count !== values.count) return;
  for (let at = 0; at < ids.count; at += 1)
    found.push(
      transferOf('erc1155', address, wordAt(data, ids.first + at), from, to, wordAt(data, values.first + at)),
    );
};

/** Where a dynamic array of words begins whose offset is the word `at`; null when it does not lie within the data. */
const arrayAt = (data: Hex, at: number): { readonly first: number; readonly count: number } | null => {
  const words = Math.floor((data.length - EMPTY) / WORD);
  if (words <= at) return null;
  const length = Number(wordAt(data, at)) / 32;
  if (!Number.isInteger(length) || length >= words) return null;
  const count = Number(wordAt(data, length));
  const first = length + 1;
  return count <= words - first ? { first, count } : null;
};

/**
 * Wrapped native currency mints and burns with events of its own. A token that also logs transfers from and to the
 * zero address has reported them already.
 */
const readWrapping =
  (direction: 'deposit' | 'withdrawal'): Reader =>
  ({ address, topics, data }, context) => {
    const account = addressIn(topics[1]);
    if (account === null || topics.length !== 2 || data.length !== word(1)) return;
    const [from, to] = direction === 'deposit' ? [ZERO_ADDRESS, account] : [account, ZERO_ADDRESS];
    context.issued ??= issuedIn(context.logs);
    if (context.issued.has(issueKey(address, from, to))) return;
    context.found.push(transferOf('erc20', address, null, from, to, BigInt(data)));
  };

const issueKey = (token: Hex, from: Hex, to: Hex): string => `${token} ${from} ${to}`;

/** The mints and burns that transfers imply. Transfers of zero are left out, since anyone can make a token log them. */
const issuedIn = (logs: readonly LogEntry[]): ReadonlySet<string> => {
  const found: Effect[] = [];
  for (const log of logs)
    if (log.topics[0] === TOPICS.transfer) readTransfer(log, { found, logs, isMultiToken: () => false });
  return new Set(
    found.flatMap((effect) =>
      effect.kind === 'transfer' && effect.token !== null && effect.value > 0n
        ? [issueKey(effect.token, effect.from, effect.to)]
        : [],
    ),
  );
};

/**
 * The sender of a call who ends with less of exactly one fungible asset, and with more of exactly one other, has swapped
 * them; who moved an NFT has bought or sold it.
 */
const swapOf = ({ from, to, data }: ParsedTransaction, effects: readonly Effect[]): Swap | null => {
  if (to === null || data === '0x') return null;
  const changes = new Map<Hex | null, bigint>();
  for (const effect of effects) {
    if (effect.kind !== 'transfer' || (effect.from !== from && effect.to !== from)) continue;
    if (effect.tokenId !== null) return null;
    if (effect.from === effect.to) continue;
    const change = effect.to === from ? effect.value : -effect.value;
    changes.set(effect.token, (changes.get(effect.token) ?? 0n) + change);
  }
  const moved = [...changes]
    .filter(([, change]) => change !== 0n)
    .sort(([, one], [, other]) => (one < other ? -1 : 1));
  const [sold, bought] = moved;
  if (moved.length !== 2 || sold === undefined || bought === undefined || sold[1] > 0n || bought[1] < 0n)
    return null;
  return {
    kind: 'swap',
    trader: from,
    router: to,
    sold: { token: sold[0], value: -sold[1] },
    bought: { token: bought[0], value: bought[1] },
  };
};

/** The events of token standards. */
export const TOPICS = {
  transfer: topicOf('event Transfer(address,address,uint256)'),
  approval: topicOf('event Approval(address,address,uint256)'),
  approvalForAll: topicOf('event ApprovalForAll(address,address,bool)'),
  single: topicOf('event TransferSingle(address,address,address,uint256,uint256)'),
  batch: topicOf('event TransferBatch(address,address,address,uint256[],uint256[])'),
  deposit: topicOf('event Deposit(address,uint256)'),
  withdrawal: topicOf('event Withdrawal(address,uint256)'),
};

const READERS: ReadonlyMap<string, Reader> = new Map([
  [TOPICS.transfer, readTransfer],
  [TOPICS.approval, readApproval],
  [TOPICS.approvalForAll, readApprovalForAll],
  [TOPICS.single, readSingle],
  [TOPICS.batch, readBatch],
  [TOPICS.deposit, readWrapping('deposit')],
  [TOPICS.withdrawal, readWrapping('withdrawal')],
]);
