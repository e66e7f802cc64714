import type { Page } from '../upstream/cache/page-cache.ts';
import type { Credential } from '../upstream/client/credential.ts';
import type { UpstreamRequest } from '../upstream/client/send-request.ts';
import {
  isObject,
  malformed,
  optional,
  type RawObject,
  readAddress,
  readBoolean,
  readChainId,
  readHex,
  readInteger,
  readJson,
  readList,
  readString,
  readTime,
} from '../upstream/parse/fields.ts';
import { type PageItem, parsePage } from '../upstream/parse/page-parser.ts';

/** The service never gives more on a page, and bills by request: so never ask for less. */
export const PAGE_SIZE = 100;

/** Requests for so many transactions when the service fills its pages. */
export const requestsFor = (transactions: number): number => Math.ceil(transactions / PAGE_SIZE);

/** The service's price of a request, whatever is on the page. */
export const REQUEST_COST = 1;

export type TransactionsRequest = {
  readonly address: string;
  /** The service's own parameter: ids and tags, comma-separated; null for its default. */
  readonly chains: string | null;
  readonly offset: string | null;
  readonly decode: boolean;
  readonly credential: Credential;
};

/** A transaction as clients see it: exact numbers as decimal strings, hex in lower case. */
export type Transaction = {
  readonly address: string;
  readonly chain: string;
  /** Null in a lookup: there only the name is said. */
  readonly chainId: number | null;
  readonly hash: string;
  readonly blockHash: string | null;
  readonly blockNumber: string;
  readonly blockTime: string;
  readonly index: string | null;
  readonly from: string;
  readonly to: string | null;
  readonly value: string | null;
  readonly data: string | null;
  readonly nonce: string | null;
  readonly gasPrice: string | null;
  readonly gasUsed: string | null;
  readonly effectiveGasPrice: string | null;
  readonly success: boolean | null;
  readonly transactionType: string | null;
  readonly direction: 'SENDER' | 'RECEIVER' | null;
  readonly decoded: Decoded | null;
  readonly logs: readonly Log[];
};

export type Log = {
  readonly address: string;
  readonly data: string | null;
  readonly topics: readonly string[];
  readonly decoded: Decoded | null;
};

/** A call or an event; `value` is whatever JSON the service decoded to. */
export type Decoded = { readonly name: string | null; readonly inputs: readonly DecodedInput[] };
export type DecodedInput = {
  readonly name: string | null;
  readonly type: string | null;
  readonly value: unknown;
};

export const transactionsRequest = ({
  address,
  chains,
  offset,
  decode,
  credential,
}: TransactionsRequest): UpstreamRequest => {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
  if (chains !== null) query.set('chain_ids', chains);
  if (offset !== null) query.set('offset', offset);
  if (decode) query.set('decode', 'true');
  return {
    resource: 'transactions',
    method: 'GET',
    path: `/v1/evm/transactions/${address}`,
    query,
    credential,
    cost: REQUEST_COST,
  };
};

/** Throws UpstreamError `invalidResponse` when the body is not the envelope of the contract. */
export const readTransactionsPage = (
  body: unknown,
  wallet: string,
  fetchedAt: number,
): Promise<Page<PageItem<Transaction>>> =>
  parsePage(
    body,
    {
      entriesField: 'transactions',
      maxEntries: PAGE_SIZE,
      read: (raw) => readTransaction(raw, wallet),
      identity: (transaction) => `${transaction.chain}:${transaction.hash}`,
      time: (transaction) => Date.parse(transaction.blockTime),
    },
    fetchedAt,
  );

/**
 * Reads a transaction from a lookup or from a delivery, which differ: a delivery says in `transaction_type` which
 * side the address is on, a lookup the EIP-2718 type. Throws MalformedFieldError.
 */
export const readTransaction = (raw: RawObject, wallet: string | null): Transaction => {
  const side = readDirection(raw.transaction_type);
  return {
    address: wallet ?? readSubject(raw, side),
    chain: readString(raw, 'chain'),
    chainId: optional(readChainId)(raw, 'chain_id'),
    hash: readHex(raw, 'hash'),
    blockHash: optional(readHex)(raw, 'block_hash'),
    blockNumber: readInteger(raw, 'block_number'),
    blockTime: readTime(raw, 'block_time'),
    index: optional(readInteger)(raw, 'index'),
    from: readAddress(raw, 'from'),
    to: raw.to === '' ? null : optional(readAddress)(raw, 'to'),
    value: optional(readInteger)(raw, 'value'),
    data: optional(readHex)(raw, 'data'),
    nonce: optional(readInteger)(raw, 'nonce'),
    gasPrice: optional(readInteger)(raw, 'gas_price'),
    gasUsed: optional(readInteger)(raw, 'gas_used'),
    effectiveGasPrice: optional(readInteger)(raw, 'effective_gas_price'),
    success: optional(readBoolean)(raw, 'success'),
    transactionType: side === null ? optional(readInteger)(raw, 'transaction_type') : null,
    direction: side,
    decoded: readDecoded(raw.decoded),
    logs: readList(raw, 'logs').map((log, index) => readLog(log, `logs[${index}]`)),
  };
};

/** Whose transaction a delivery tells of: said, or the side that it says. */
const readSubject = (raw: RawObject, side: Transaction['direction']): string =>
  optional(readAddress)(raw, 'address') ?? readAddress(raw, side === 'RECEIVER' ? 'to' : 'from');

const readDirection = (value: unknown): Transaction['direction'] => {
  if (typeof value !== 'string') return null;
  const side = value.toUpperCase();
  return side === 'SENDER' || side === 'RECEIVER' ? side : null;
};

const readLog = (raw: unknown, place: string): Log => {
  if (!isObject(raw)) throw malformed(place, 'an object', raw);
  return {
    address: readAddress(raw, 'address'),
    data: optional(readHex)(raw, 'data'),
    topics: readList(raw, 'topics').map((topic) => readHex({ topic }, 'topic')),
    decoded: readDecoded(raw.decoded),
  };
};

/** Null, `{}` and anything else that names nothing are no decoding. */
const readDecoded = (raw: unknown): Decoded | null => {
  if (!isObject(raw) || (raw.name === undefined && raw.inputs === undefined)) return null;
  const inputs = Array.isArray(raw.inputs) ? raw.inputs.filter(isObject) : [];
  return {
    name: typeof raw.name === 'string' ? raw.name : null,
    inputs: inputs.map((input) => ({
      name: typeof input.name === 'string' ? input.name : null,
      type: typeof input.type === 'string' ? input.type : null,
      value: asStrings(readJson(input, 'value')),
    })),
  };
};

/** "A string, or a list (of lists) of strings": numbers and booleans become strings, objects stay what they are. */
const asStrings = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asStrings);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : (value ?? null);
};
