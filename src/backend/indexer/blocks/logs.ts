import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { Approval, Effect, Hex, LogEntry, Transfer } from '../../types.ts';
import { addressIn, FORMS, type Form, formOf, type ReadingsOf, TOPICS, wordsOf } from './readings.ts';

/**
 * The most ids of ranges that are read in one transaction. One log may name any number of them; the ranges of ERC-2309 that are
 * in use have at most 5,000.
 */
const MAX_RANGE_IDS = 10_000;

export const transferOf = (
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

/** What the readers of a transaction's logs share. */
type Context = {
  readonly found: Effect[];
  readonly logs: readonly LogEntry[];
  readonly readingsOf: ReadingsOf;
  readonly onOpen: ((contract: Hex) => void) | null;
  /** How many more ids of ranges are read. */
  rangeIds: number;
  /** What `issuedIn` says of the logs, once it was asked. */
  issued?: ReadonlySet<string>;
};

/**
 * Adds the transfers and approvals that logs say to what is found. Logs that are not exactly as a standard has them, by the number
 * of their topics, the length of their data and their addresses, are passed over. Those with several readings are read as their
 * contracts decide.
 */
export const readLogs = (
  logs: readonly LogEntry[],
  readingsOf: ReadingsOf,
  found: Effect[],
  onOpen: ((contract: Hex) => void) | null = null,
): void => {
  const context: Context = { found, logs, readingsOf, onOpen, rangeIds: MAX_RANGE_IDS };
  for (const log of logs) {
    const form = formOf(log);
    if (form === null) OTHERS.get(log.topics[0] ?? '')?.(log, context);
    else readMovement(log, form, context);
  }
};

const readMovement = (log: LogEntry, form: Form, context: Context): void => {
  const { coin, nft, settled } = context.readingsOf(log.address);
  if ((settled & form) === 0) context.onOpen?.(log.address);
  if (((coin | nft) & form) === 0) return;
  const words = wordsOf(log);
  if (form === FORMS.wrapping) readWrapping(log, words, context);
  else if (form === FORMS.consecutive) readRange(log.address, words, context);
  else if (form === FORMS.punk) readPunk(log, words, context);
  else context.found.push(...moved(log.address, words, (coin & form) !== 0));
};

/** What a Transfer moves, whatever of it is indexed: an amount of a coin, or one NFT. */
const moved = (token: Hex, words: readonly Hex[], isCoin: boolean): readonly Transfer[] => {
  const [from, to, number] = [addressIn(words[0]), addressIn(words[1]), words[2]];
  if (from === null || to === null || number === undefined) return [];
  return [
    isCoin
      ? transferOf('erc20', token, null, from, to, BigInt(number))
      : transferOf('erc721', token, BigInt(number), from, to, 1n),
  ];
};

/**
 * Wrapped native currency mints and burns with events of its own. A token that also logs transfers from and to the
 * zero address has reported them already.
 */
const readWrapping = ({ address, topics }: LogEntry, words: readonly Hex[], context: Context): void => {
  const [account, amount] = [addressIn(words[0]), words[1]];
  if (account === null || amount === undefined) return;
  const [from, to] = topics[0] === TOPICS.deposit ? [ZERO_ADDRESS, account] : [account, ZERO_ADDRESS];
  context.issued ??= issuedIn(context);
  if (context.issued.has(issueKey(address, from, to))) return;
  context.found.push(transferOf('erc20', address, null, from, to, BigInt(amount)));
};

const issueKey = (token: Hex, from: Hex, to: Hex): string => `${token} ${from} ${to}`;

/** The mints and burns that transfers imply. Transfers of zero are left out, since anyone can make a token log them. */
const issuedIn = ({ logs, readingsOf }: Context): ReadonlySet<string> => {
  const keys = new Set<string>();
  for (const log of logs) {
    const form = log.topics[0] === TOPICS.transfer ? formOf(log) : null;
    const { coin, nft } = readingsOf(log.address);
    if (form === null || ((coin | nft) & form) === 0) continue;
    for (const { token, from, to, value } of moved(log.address, wordsOf(log), (coin & form) !== 0))
      if (token !== null && value > 0n) keys.add(issueKey(token, from, to));
  }
  return keys;
};

/** ConsecutiveTransfer: the first id, the sides, and the last id. */
const readRange = (token: Hex, words: readonly Hex[], context: Context): void => {
  const [first, from, to, last] = [words[0], addressIn(words[1]), addressIn(words[2]), words[3]];
  if (first === undefined || last === undefined || from === null || to === null) return;
  for (let id = BigInt(first); id <= BigInt(last) && context.rangeIds > 0; id += 1n) {
    context.rangeIds -= 1;
    context.found.push(transferOf('erc721', token, id, from, to, 1n));
  }
};

const readPunk = (log: LogEntry, words: readonly Hex[], context: Context): void => {
  const [topic] = log.topics;
  const push = (from: Hex | null, to: Hex | null, id: Hex | undefined) => {
    if (from !== null && to !== null && id !== undefined)
      context.found.push(transferOf('erc721', log.address, BigInt(id), from, to, 1n));
  };
  if (topic === TOPICS.punkAssigned) push(ZERO_ADDRESS, addressIn(words[0]), words[1]);
  else if (topic === TOPICS.punkMoved) push(addressIn(words[0]), addressIn(words[1]), words[2]);
  else {
    const [seller, buyer] = [addressIn(words[1]), addressIn(words[2])];
    push(seller, buyer === ZERO_ADDRESS ? buyerBefore(log, seller, context.logs) : buyer, words[0]);
  }
};

/** A bid that is accepted is forgotten before PunkBought names its bidder. The Transfer in front of that still names it. */
const buyerBefore = (sold: LogEntry, seller: Hex | null, logs: readonly LogEntry[]): Hex | null => {
  const before = logs.slice(0, logs.indexOf(sold)).findLast((log) => {
    const isTransfer = log.address === sold.address && formOf(log) === FORMS.amount;
    return isTransfer && addressIn(log.topics[1]) === seller;
  });
  return addressIn(before?.topics[2]);
};

type Reader = (log: LogEntry, context: Context) => void;

/** The lengths of hex texts. */
const WORD = 64;
const EMPTY = 2;
const word = (count: number) => 2 + count * WORD;

const wordAt = (data: Hex, at: number): bigint => BigInt(`0x${data.slice(word(at), word(at + 1))}`);

/** An approval is of what a Transfer of the same form moves. */
const readApproval: Reader = ({ address, topics, data }, { found, readingsOf }) => {
  const [owner, spender, id] = [addressIn(topics[1]), addressIn(topics[2]), topics[3]];
  if (owner === null || spender === null || data.length !== (id === undefined ? word(1) : EMPTY)) return;
  const number = BigInt(id ?? data);
  const isNft = (readingsOf(address).nft & (id === undefined ? FORMS.amount : FORMS.id)) !== 0;
  // The zero address as the spender of an NFT means that the approval was revoked.
  if (isNft)
    found.push(approvalOf('erc721', address, number, owner, spender, spender === ZERO_ADDRESS ? 0n : 1n));
  else found.push(approvalOf('erc20', address, null, owner, spender, number));
};

const readApprovalForAll: Reader = ({ address, topics, data }, { found, readingsOf }) => {
  const [owner, spender] = [addressIn(topics[1]), addressIn(topics[2])];
  if (owner === null || spender === null || topics.length !== 3 || data.length !== word(1)) return;
  const standard = readingsOf(address).isMulti ? 'erc1155' : 'erc721';
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

/** The readers of logs that can be read in one way only. */
const OTHERS: ReadonlyMap<string, Reader> = new Map([
  [TOPICS.approval, readApproval],
  [TOPICS.approvalForAll, readApprovalForAll],
  [TOPICS.single, readSingle],
  [TOPICS.batch, readBatch],
]);
