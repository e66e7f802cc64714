import { isObject, type RawObject } from '../lib/json/exact-json.ts';
import type { AnyList } from '../upstream/list-loader.ts';
import { itemLookup, listLookup } from '../upstream/lookup.ts';
import {
  malformed,
  oneOf,
  optional,
  readAddress,
  TRANSACTION_SIDES,
  type TransactionSide,
} from '../upstream/parse/fields.ts';
import { newestFirst } from '../upstream/parse/list-order.ts';
import {
  type ListedRecord,
  nullable,
  type RecordTable,
  type RecordValue,
  readRecord,
  required,
} from '../upstream/parse/record.ts';

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

/** Why a transaction failed. */
const REVERT = {
  name: 'revert',
  fields: {
    message: nullable('message', 'lenientString'),
    data: nullable('data', 'hex'),
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
    fee: nullable('fee', 'integer'),
    success: nullable('success', 'boolean'),
    createdContract: nullable('created_contract', 'addressOrEmpty'),
    revertReason: { from: 'revert_reason', record: REVERT, mode: 'lenientObject' },
    transactionType: nullable('transaction_type', 'integerOrSide'),
    decoded: { from: 'decoded', record: DECODED, mode: 'lenientObject' },
    logs: { from: 'logs', records: LOG, mode: 'strict' },
  },
} as const satisfies RecordTable;

const readFields = readRecord(TRANSACTION);

/** In a lookup every service says these. A delivery may leave out call data: the body would be too large. */
const LISTED = {
  ...TRANSACTION,
  fields: {
    ...TRANSACTION.fields,
    index: required('index', 'integer'),
    value: required('value', 'integer'),
    data: required('data', 'hex'),
    nonce: required('nonce', 'integer'),
  },
} as const satisfies RecordTable;

const readListedFields = readRecord(LISTED);

const detailsQuery = (details: ReadonlySet<string>) => ({
  decode: details.has('decoded') ? 'true' : undefined,
  revert_reasons: details.has('reverts') ? 'true' : undefined,
});

/** What explorers need a request for each transaction for. */
const OPTIONAL = { logs: ['logs'], block_hash: ['blockHash'] } as const;

export const transactionsLookup = listLookup({
  name: 'transactions',
  path: ({ address }: AnyList) => ['v1', 'evm', 'transactions', address],
  query: (_list, details) => detailsQuery(details),
  details: { decoded: ['decoded'], reverts: ['revertReason'] },
  optional: OPTIONAL,
  price: { perRequest: 1 },
  pageSizes: { newest: 100, older: 100 },
  maxItems: 1000,
  // Receipts of tokens are in the list, and activities alone tell them.
  watchedBy: ['TRANSACTIONS', 'ACTIVITIES'],
  supportedAs: 'TRANSACTIONS',
  itemsField: 'transactions',
  table: LISTED,
  subject: 'address',
  identity: ['chain', 'hash'],
  order: newestFirst('blockTime'),
});

/** A transaction as clients see it: exact numbers are decimal strings, hex is in lower case. `address` is the wallet's. */
export type Transaction = ListedRecord<typeof LISTED, 'address'>;

/** A transaction as a delivery says it. */
export type DeliveredTransaction = ListedRecord<typeof TRANSACTION, 'address'> & {
  readonly direction: TransactionSide | null;
};

/** Names a transaction. */
export type TransactionKey = {
  /** The chain's id and the hash, with a colon between. */
  readonly address: string;
  readonly chains: string;
  readonly hash: string;
};

/** One transaction by its hash, which the hosted service can't find. */
export const transactionLookup = itemLookup({
  name: 'transaction',
  path: ({ hash }: TransactionKey) => ['v1', 'evm', 'transaction', hash],
  query: (_key, details) => detailsQuery(details),
  optional: OPTIONAL,
  price: 1,
  subjectOf: ({ hash }) => hash,
  supportedAs: 'TRANSACTION',
  bodyOfAbsent: null,
  read(body): Transaction | null {
    if (!isObject(body)) throw malformed('body', 'an object', body);
    const { transaction } = body;
    if (transaction === null) return null;
    if (!isObject(transaction)) throw malformed('transaction', 'an object', transaction);
    return { address: readAddress(transaction.from, 'from'), ...readListedFields(transaction) };
  },
});

export type Log = RecordValue<typeof LOG>;
export type Revert = RecordValue<typeof REVERT>;
export type Decoded = RecordValue<typeof DECODED>;
export type DecodedInput = RecordValue<typeof DECODED_INPUT>;

/**
 * Reads a transaction of a delivery, where `transaction_type` is the side that the address is on; in a lookup it is the
 * EIP-2718 type. Throws MalformedFieldError.
 */
export const readDelivered = (raw: RawObject): DeliveredTransaction => {
  const direction = oneOf(TRANSACTION_SIDES, raw.transaction_type);
  const transaction = { address: readSubject(raw, direction), ...readFields(raw) };
  return { ...transaction, direction: direction ?? sideOf(transaction) };
};

/** The side that a wallet is on; null where it is on neither. */
export const sideOf = ({
  address,
  from,
  to,
}: {
  readonly [Property in 'address' | 'from' | 'to']: unknown;
}): TransactionSide | null => (from === address ? 'SENDER' : to === address ? 'RECEIVER' : null);

/** The address that a delivered transaction belongs to: `address`, or the side that `transaction_type` names. */
const readSubject = (raw: RawObject, side: TransactionSide | null): string =>
  optional(readAddress)(raw.address, 'address') ??
  (side === 'RECEIVER' ? readAddress(raw.to, 'to') : readAddress(raw.from, 'from'));
