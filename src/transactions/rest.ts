import { isObject, type RawObject } from '../lib/json/raw-object.ts';
import type { Page } from '../upstream/cache/page-cache.ts';
import type { UpstreamRequest } from '../upstream/client/request.ts';
import type { PageParameters } from '../upstream/list-loader.ts';
import {
  malformed,
  optional,
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

/** Upstream's largest page. A request costs the same whatever its size, so the gateway never asks for less. */
export const PAGE_SIZE = 100;

/** The number of requests for so many transactions when upstream fills its pages. */
export const requestsFor = (transactions: number): number => Math.ceil(transactions / PAGE_SIZE);

/** Compute units of one request, whatever its page holds. */
export const REQUEST_COST = 1;

/** Identifies the transactions of a wallet under a chain filter. */
export type TransactionsList = {
  readonly address: string;
  /** Upstream's `chain_ids`: ids and tags, comma-separated; null for upstream's default. */
  readonly chains: string | null;
};

/** A transaction as clients see it: exact numbers are decimal strings, hex is in lower case. */
export type Transaction = {
  readonly address: string;
  readonly chain: string;
  /** Null in a lookup, where upstream states only the chain's name. */
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

/** A decoded call or event; `value` is any JSON, as upstream decoded it. */
export type Decoded = { readonly name: string | null; readonly inputs: readonly DecodedInput[] };
export type DecodedInput = {
  readonly name: string | null;
  readonly type: string | null;
  readonly value: unknown;
};

/** `details` are decoded calls and events. */
export const transactionsRequest = (
  { address, chains }: TransactionsList,
  { offset, limit, details }: PageParameters,
): Pick<UpstreamRequest, 'path' | 'query'> => {
  const query = new URLSearchParams({ limit: String(limit) });
  if (chains !== null) query.set('chain_ids', chains);
  if (offset !== null) query.set('offset', offset);
  if (details) query.set('decode', 'true');
  return { path: `/v1/evm/transactions/${address}`, query };
};

/** Rejects with UpstreamError `invalidResponse` when the body is not the envelope of the contract. */
export const readTransactionsPage = (
  body: unknown,
  { address }: TransactionsList,
  limit: number,
  fetchedAt: number,
): Promise<Page<PageItem<Transaction>>> =>
  parsePage(
    body,
    {
      entriesField: 'transactions',
      maxEntries: limit,
      read: (raw) => readTransaction(raw, address),
      identity: (transaction) => `${transaction.chain}:${transaction.hash}`,
      time: (transaction) => Date.parse(transaction.blockTime),
    },
    fetchedAt,
  );

/**
 * Reads a transaction of a lookup or of a delivery. In a lookup `transaction_type` is the EIP-2718 type; in a delivery it is
 * the side that the address is on. Throws MalformedFieldError.
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

/** The address that a delivered transaction belongs to: `address`, or the side that `transaction_type` names. */
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

/** Null without a decoding: upstream sends null, `{}`, or an object without name and inputs. */
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

/** Converts numbers and booleans to strings, also in lists of lists. Objects stay unchanged. */
const asStrings = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asStrings);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : (value ?? null);
};
