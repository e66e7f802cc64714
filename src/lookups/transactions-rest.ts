import type { RawObject } from '../lib/json/exact-json.ts';
import type { UpstreamRequest } from '../upstream/client/request.ts';
import { type IndexedList, SUBJECT } from '../upstream/kernel/compile-list.ts';
import {
  createListLoader,
  type ListLoader,
  type ListResource,
  type LoaderParts,
  type PageParameters,
} from '../upstream/list-loader.ts';
import {
  oneOf,
  optional,
  readAddress,
  TRANSACTION_SIDES,
  type TransactionSide,
} from '../upstream/parse/fields.ts';
import { newestFirst } from '../upstream/parse/list-order.ts';
import { createPageParser } from '../upstream/parse/page-parser.ts';
import {
  nullable,
  type RecordTable,
  type RecordValue,
  readRecord,
  required,
} from '../upstream/parse/record.ts';

/** Upstream's largest page. A request costs the same whatever its size, so the gateway never asks for less. */
export const PAGE_SIZE = 100;

/** The number of requests for this many transactions, if upstream fills its pages. */
export const requestsFor = (transactions: number): number => Math.ceil(transactions / PAGE_SIZE);

/** Compute units of one request, whatever its page holds. */
export const REQUEST_COST = 1;

/** Identifies the transactions of a wallet under a chain filter. */
export type TransactionsList = {
  readonly address: string;
  /** Upstream's `chain_ids`: ids and tags, comma-separated; null for upstream's default. */
  readonly chains: string | null;
};

/** `value` is any JSON, as upstream decoded it. */
const DECODED_INPUT = {
  name: 'decodedInput',
  fields: {
    name: nullable('name', 'lenientString'),
    type: nullable('type', 'lenientString'),
    value: nullable('value', 'texts'),
  },
} as const satisfies RecordTable;

/** A decoded call or event. Without a decoding upstream sends null, `{}`, or an object without name and inputs. */
const DECODED = {
  name: 'decoded',
  presentIf: ['name', 'inputs'],
  fields: {
    name: nullable('name', 'lenientString'),
    inputs: { from: 'inputs', records: DECODED_INPUT, mode: 'lenient' },
  },
} as const satisfies RecordTable;

const LOG = {
  name: 'log',
  fields: {
    address: required('address', 'address'),
    data: nullable('data', 'hex'),
    topics: { from: 'topics', listOf: 'hex', item: 'topic' },
    decoded: { from: 'decoded', record: DECODED, mode: 'lenientObject' },
  },
} as const satisfies RecordTable;

/** What a lookup and a delivery say of a transaction. A lookup names no `chain_id`. */
const TRANSACTION = {
  name: 'transaction',
  fields: {
    chain: required('chain', 'string'),
    chainId: nullable('chain_id', 'chainId'),
    hash: required('hash', 'hex'),
    blockHash: nullable('block_hash', 'hex'),
    blockNumber: required('block_number', 'integer'),
    blockTime: required('block_time', 'time'),
    index: nullable('index', 'integer'),
    from: required('from', 'address'),
    to: nullable('to', 'addressOrEmpty'),
    value: nullable('value', 'integer'),
    data: nullable('data', 'hex'),
    nonce: nullable('nonce', 'integer'),
    gasPrice: nullable('gas_price', 'integer'),
    gasUsed: nullable('gas_used', 'integer'),
    effectiveGasPrice: nullable('effective_gas_price', 'integer'),
    success: nullable('success', 'boolean'),
    transactionType: nullable('transaction_type', 'integerOrSide'),
    decoded: { from: 'decoded', record: DECODED, mode: 'lenientObject' },
    logs: { from: 'logs', records: LOG, mode: 'strict' },
  },
} as const satisfies RecordTable;

/** How pages of transactions are indexed and written without being read. */
export const TRANSACTIONS = {
  itemsField: 'transactions',
  table: TRANSACTION,
  identity: ['chain', 'hash'],
  order: newestFirst('blockTime'),
  derived: {
    'Transaction.id': { kind: 'globalId', typeName: 'Transaction', parts: [SUBJECT, 'chain', 'hash'] },
    'Transaction.address': { kind: 'subject' },
    'Transaction.chainId': { kind: 'chainId', id: 'chainId', name: 'chain' },
    'Transaction.direction': { kind: 'null' },
  },
} as const satisfies IndexedList;

/** A transaction as clients see it: exact numbers are decimal strings, hex is in lower case. */
export type Transaction = RecordValue<typeof TRANSACTION> & {
  /** The wallet that it was looked up or delivered for. */
  readonly address: string;
  /** The side that the wallet is on; null in a lookup. */
  readonly direction: TransactionSide | null;
};

export type Log = RecordValue<typeof LOG>;
export type Decoded = RecordValue<typeof DECODED>;
export type DecodedInput = RecordValue<typeof DECODED_INPUT>;

/** `details` are decoded calls and events. */
const transactionsRequest = (
  { address, chains }: TransactionsList,
  { offset, limit, details }: PageParameters,
): Pick<UpstreamRequest, 'path' | 'query'> => {
  const query = new URLSearchParams({ limit: String(limit) });
  if (chains !== null) query.set('chain_ids', chains);
  if (offset !== null) query.set('offset', offset);
  if (details) query.set('decode', 'true');
  return { path: ['v1', 'evm', 'transactions', address], query };
};

const readFields = readRecord(TRANSACTION);

/**
 * Reads a transaction of a lookup or of a delivery. In a lookup `transaction_type` is the EIP-2718 type; in a delivery it is
 * the side that the address is on. Throws MalformedFieldError.
 */
export const readTransaction = (raw: RawObject, wallet: string | null): Transaction => {
  const direction = oneOf(TRANSACTION_SIDES, raw.transaction_type);
  const address = wallet ?? readSubject(raw, direction);
  return { ...readFields(raw), address, direction };
};

/** The address that a delivered transaction belongs to: `address`, or the side that `transaction_type` names. */
const readSubject = (raw: RawObject, side: TransactionSide | null): string =>
  optional(readAddress)(raw.address, 'address') ??
  (side === 'RECEIVER' ? readAddress(raw.to, 'to') : readAddress(raw.from, 'from'));

export const transactionsParser = createPageParser<TransactionsList, Transaction>(TRANSACTIONS, {
  ...TRANSACTIONS,
  read: (raw, { address }) => readTransaction(raw, address),
});

/** Its `details` are decoded calls and events. */
const transactions: ListResource<TransactionsList, Transaction> = {
  name: 'transactions',
  pageSize: () => PAGE_SIZE,
  cost: () => REQUEST_COST,
  request: transactionsRequest,
  parser: transactionsParser,
};

export type TransactionsLoader = ListLoader<TransactionsList, Transaction>;

export const createTransactionsLoader = (
  parts: LoaderParts<TransactionsList, Transaction>,
): TransactionsLoader => createListLoader(parts, transactions);
