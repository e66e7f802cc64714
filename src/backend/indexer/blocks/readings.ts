import { getSelector as topicOf } from 'ox/AbiEvent';
import type { Hex, LogEntry } from '../../types.ts';

/**
 * Logs that can be read in several ways. A log is a claim: what its contract answers when it is asked decides which way counts
 * (`contracts/verdict.ts`), and what nothing decides is left out.
 */

/** The events of token standards, and of contracts that are older than these. */
export const TOPICS = {
  transfer: topicOf('event Transfer(address,address,uint256)'),
  approval: topicOf('event Approval(address,address,uint256)'),
  approvalForAll: topicOf('event ApprovalForAll(address,address,bool)'),
  single: topicOf('event TransferSingle(address,address,address,uint256,uint256)'),
  batch: topicOf('event TransferBatch(address,address,address,uint256[],uint256[])'),
  deposit: topicOf('event Deposit(address,uint256)'),
  withdrawal: topicOf('event Withdrawal(address,uint256)'),
  consecutive: topicOf('event ConsecutiveTransfer(uint256,uint256,address,address)'),
  punkAssigned: topicOf('event Assign(address,uint256)'),
  punkMoved: topicOf('event PunkTransfer(address,address,uint256)'),
  punkBought: topicOf('event PunkBought(uint256,uint256,address,address)'),
};

/** The forms of logs, each a bit in the file of the index. Another number would be another format. */
export const FORMS = {
  /** Transfer with two topics behind its own: an ERC-20's, or an NFT's whose id is not indexed. */
  amount: 1,
  /** Transfer with three: an ERC-721's, or a coin's whose value is indexed. */
  id: 2,
  /** Transfer with none: CryptoKitties, and coins of before the standard. */
  plain: 4,
  /** Deposit and Withdrawal: WETH9 mints and burns with them, and many others only say what they took and gave. */
  wrapping: 8,
  /** ConsecutiveTransfer of ERC-2309. */
  consecutive: 16,
  /** CryptoPunks. */
  punk: 32,
  /** TransferSingle and TransferBatch of ERC-1155, which leave no doubt. */
  multi: 64,
  /** Not a log: set for a contract that a lookup asked about, and that answered like an ERC-20. */
  asked: 128,
} as const;

export type Form = (typeof FORMS)[keyof typeof FORMS];

/** How the logs of a contract are read, by their forms. */
export type Readings = {
  /** The forms that move amounts of a coin. */
  readonly coin: number;
  /** The forms that move NFTs, each with an id. */
  readonly nft: number;
  /** The forms of which this is final: the others may be read in another way once more is known. */
  readonly settled: number;
  /** Whether it is an ERC-1155: its approvals of all tokens look like those of an ERC-721. */
  readonly isMulti: boolean;
};

export type ReadingsOf = (contract: Hex) => Readings;

/** How logs are read before their contract was asked: as the standards have them, and those that are in none not at all. */
export const UNASKED: Readings = {
  coin: FORMS.amount | FORMS.asked,
  nft: FORMS.id,
  settled: 0,
  isMulti: false,
};

/** As `UNASKED`, for good. */
const BY_STANDARD: Readings = { ...UNASKED, settled: ~0 };
export const byStandard: ReadingsOf = () => BY_STANDARD;

type Event = {
  readonly form: Form;
  readonly topic: Hex;
  /** The number of topics behind the event's own, and of words in the data. */
  readonly topics: number;
  readonly words: number;
};

const EVENTS: readonly Event[] = [
  { form: FORMS.amount, topic: TOPICS.transfer, topics: 2, words: 1 },
  { form: FORMS.id, topic: TOPICS.transfer, topics: 3, words: 0 },
  { form: FORMS.plain, topic: TOPICS.transfer, topics: 0, words: 3 },
  { form: FORMS.wrapping, topic: TOPICS.deposit, topics: 1, words: 1 },
  { form: FORMS.wrapping, topic: TOPICS.withdrawal, topics: 1, words: 1 },
  { form: FORMS.consecutive, topic: TOPICS.consecutive, topics: 3, words: 1 },
  { form: FORMS.punk, topic: TOPICS.punkAssigned, topics: 1, words: 1 },
  { form: FORMS.punk, topic: TOPICS.punkMoved, topics: 2, words: 1 },
  { form: FORMS.punk, topic: TOPICS.punkBought, topics: 3, words: 1 },
];

const BY_TOPIC: ReadonlyMap<string, readonly Event[]> = Map.groupBy(EVENTS, ({ topic }) => topic);

/** The lengths of hex texts. */
const WORD = 64;
const PREFIX = 2;

/** The form of a log whose reading its contract decides; null for another one. */
export const formOf = ({ topics, data }: LogEntry): Form | null => {
  for (const event of BY_TOPIC.get(topics[0] ?? '') ?? [])
    if (topics.length === event.topics + 1 && data.length === PREFIX + event.words * WORD) return event.form;
  return null;
};

/** The topics of a log behind its event's own, and the words of its data. */
export const wordsOf = ({ topics, data }: LogEntry): readonly Hex[] => {
  const words = topics.slice(1);
  for (let from = PREFIX; from < data.length; from += WORD) words.push(`0x${data.slice(from, from + WORD)}`);
  return words;
};

const PADDING = `0x${'0'.repeat(24)}`;

/** The address in a word; null when there is no such word, or when it holds more than an address. */
export const addressIn = (word: Hex | undefined): Hex | null =>
  word?.startsWith(PADDING) ? `0x${word.slice(PADDING.length)}` : null;
