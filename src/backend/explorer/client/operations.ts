import { z } from 'zod';
import type { Hex } from '../../types.ts';
import { byAmount, byBlock, type Cursor, type Order } from './order.ts';
import {
  addressInfo,
  addressToken,
  backendVersion,
  block,
  contract,
  type EtherscanTransaction,
  type ExplorerTransaction,
  type ExplorerTransfer,
  etherscanTransaction,
  holder,
  indexingStatus,
  internalTransaction,
  log,
  nft,
  stats,
  token,
  tokenTransfer,
  transaction,
} from './rows.ts';

/** Parameters of a request. One that is undefined is not sent: an explorer refuses what it does not know. */
export type Query = Readonly<Record<string, string | undefined>>;

type Operation<Parameters> = {
  readonly name: string;
  /** Below the base URL. */
  readonly path: (parameters: Parameters) => string;
  /** Default: no parameters. */
  readonly query?: (parameters: Parameters) => Query;
  /** What the hosted API takes for one request, by its documentation. */
  readonly credits: number;
};

/** A list of an explorer, by pages. */
export type ListOperation<Parameters, Row> = Operation<Parameters> & {
  readonly row: z.ZodType<Row>;
  /** What tells a row from all others of its list. Lists may repeat rows. */
  readonly identity: (row: Row) => string;
  /** What its rows come in the order of. Default: nothing that walks depend on. */
  readonly order?: Order<Row>;
  /** Whether a cursor is that of the row, which comes before the page then. Default: never. */
  readonly isNamed?: (row: Row, cursor: Cursor) => boolean;
  /** Whether its rows may be of transactions that are in no block yet. They are left out. Default: false. */
  readonly hasPending?: boolean;
  /** `etherscan`: of the route in the style of Etherscan, beside the others. Default: a list by cursors. */
  readonly style?: 'etherscan';
};

/** One thing that an explorer knows. */
export type ItemOperation<Parameters, Value> = Operation<Parameters> & {
  readonly value: z.ZodType<Value>;
  /** Whether explorers say of some that there is no such thing. They know every address. Default: false. */
  readonly mayBeAbsent?: boolean;
};

const list = <Parameters, Row>(operation: ListOperation<Parameters, Row>) => operation;
const item = <Parameters, Value>(operation: ItemOperation<Parameters, Value>) => operation;

type OfAddress = { readonly address: Hex };
type OfTransaction = { readonly hash: Hex };
type Side = 'from' | 'to';
export type TokenType = 'ERC-20' | 'ERC-721' | 'ERC-1155' | 'ERC-404';

const typesIn = (types: readonly TokenType[] | undefined): string | undefined => types?.join();

/** Rows of an ERC-1155 batch have one log. Equal ids of a batch are one row. */
const transferIdentity = ({ block_number, log_index, total }: ExplorerTransfer): string =>
  `${block_number} ${log_index} ${total?.token_id ?? ''}`;

const isSame = (text: string, member: Cursor[string] | undefined): boolean =>
  text === String(member).toLowerCase();

const transferOrder = byBlock<ExplorerTransfer>(({ block_number, log_index }) => [block_number, log_index]);

/** Everything that is asked of explorers. */
export const OPERATIONS = {
  /** The newest first. Those that an address sent or got, or that created it: not those that merely move tokens to it. */
  addressTransactions: list({
    name: 'addressTransactions',
    path: ({ address }: OfAddress & { readonly filter?: Side }) => `/addresses/${address}/transactions`,
    query: ({ filter }) => ({ filter }),
    credits: 20,
    row: transaction,
    identity: ({ hash }) => hash,
    order: byBlock<ExplorerTransaction>(({ block_number, position }) => [block_number, position]),
    hasPending: true,
  }),
  /** The newest first. */
  addressTokenTransfers: list({
    name: 'addressTokenTransfers',
    path: ({
      address,
    }: OfAddress & {
      readonly filter?: Side;
      readonly types?: readonly TokenType[];
      readonly token?: Hex;
    }) => `/addresses/${address}/token-transfers`,
    query: ({ filter, types, token }) => ({ filter, type: typesIn(types), token }),
    credits: 30,
    row: tokenTransfer,
    identity: transferIdentity,
    order: transferOrder,
  }),
  /** The newest first. */
  addressInternalTransactions: list({
    name: 'addressInternalTransactions',
    path: ({ address }: OfAddress & { readonly filter?: Side }) =>
      `/addresses/${address}/internal-transactions`,
    query: ({ filter }) => ({ filter }),
    credits: 40,
    row: internalTransaction,
    identity: ({ transaction_hash, index }) => `${transaction_hash} ${index}`,
  }),
  /** The greatest worth first. */
  addressTokens: list({
    name: 'addressTokens',
    path: ({ address }: OfAddress & { readonly types: readonly TokenType[] }) =>
      `/addresses/${address}/tokens`,
    query: ({ types }) => ({ type: typesIn(types) }),
    credits: 20,
    row: addressToken,
    identity: ({ token, token_id }) => `${token.address_hash} ${token_id ?? ''}`,
  }),
  /** By standard, contract and id. */
  addressNft: list({
    name: 'addressNft',
    path: ({ address }: OfAddress & { readonly types?: readonly TokenType[] }) => `/addresses/${address}/nft`,
    query: ({ types }) => ({ type: typesIn(types) }),
    credits: 20,
    row: nft,
    identity: ({ token, id }) => `${token.address_hash} ${id}`,
    isNamed: ({ token, id }, { token_contract_address_hash, token_id }) =>
      isSame(token.address_hash, token_contract_address_hash) && isSame(String(id), token_id),
  }),
  /** In their order within the transaction. */
  transactionLogs: list({
    name: 'transactionLogs',
    path: ({ hash }: OfTransaction) => `/transactions/${hash}/logs`,
    credits: 30,
    row: log,
    identity: ({ index }) => String(index),
  }),
  transactionTransfers: list({
    name: 'transactionTransfers',
    path: ({ hash }: OfTransaction) => `/transactions/${hash}/token-transfers`,
    credits: 30,
    row: tokenTransfer,
    identity: transferIdentity,
  }),
  transactionInternals: list({
    name: 'transactionInternals',
    path: ({ hash }: OfTransaction) => `/transactions/${hash}/internal-transactions`,
    credits: 40,
    row: internalTransaction,
    identity: ({ index }) => String(index),
  }),
  /** The greatest amount first. */
  tokenHolders: list({
    name: 'tokenHolders',
    path: ({ token }: { readonly token: Hex }) => `/tokens/${token}/holders`,
    credits: 20,
    row: holder,
    identity: ({ address, token_id }) => `${address.hash} ${token_id ?? ''}`,
    order: byAmount<z.output<typeof holder>>(({ value }) => value),
    isNamed: ({ address }, { address_hash }) => isSame(address.hash, address_hash),
  }),
  /** The newest first: when an NFT came to its holder is the time of the first row. */
  nftTransfers: list({
    name: 'nftTransfers',
    path: ({ token, id }: { readonly token: Hex; readonly id: bigint }) =>
      `/tokens/${token}/instances/${id}/transfers`,
    credits: 20,
    row: tokenTransfer,
    identity: transferIdentity,
  }),
  /** The tokens that a text finds, in the explorer's order. */
  tokens: list({
    name: 'tokens',
    path: (_: { readonly query: string; readonly types: readonly TokenType[] }) => '/tokens',
    query: ({ query, types }) => ({ q: query, type: typesIn(types) }),
    credits: 30,
    row: token,
    identity: ({ address_hash }) => address_hash,
  }),
  /** The newest first. */
  blocks: list({
    name: 'blocks',
    path: (_: object) => '/blocks',
    query: () => ({ type: 'block' }),
    credits: 20,
    row: block,
    identity: ({ hash }) => hash,
  }),
  /**
   * As `addressTransactions`, with hashes of blocks, and much faster for busy wallets, but nothing is decoded. The newest first, from the
   * last block on. At most 10,000 rows can be reached.
   */
  txlist: list({
    name: 'txlist',
    path: (_: OfAddress & { readonly pageSize: number; readonly lastBlock?: number }) => '/api',
    query: ({ address, pageSize, lastBlock }) => ({
      ...{ module: 'account', action: 'txlist', address, sort: 'desc', offset: String(pageSize) },
      endblock: lastBlock === undefined ? undefined : String(lastBlock),
    }),
    credits: 20,
    row: etherscanTransaction,
    identity: ({ hash }) => hash,
    order: byBlock<EtherscanTransaction>(({ blockNumber, transactionIndex }) => [
      blockNumber,
      transactionIndex,
    ]),
    style: 'etherscan',
  }),

  address: item({
    name: 'address',
    path: ({ address }: OfAddress) => `/addresses/${address}`,
    credits: 20,
    value: addressInfo,
  }),
  transaction: item({
    name: 'transaction',
    path: ({ hash }: OfTransaction) => `/transactions/${hash}`,
    credits: 20,
    mayBeAbsent: true,
    // One that is in no block yet does not exist so far.
    value: z.union([
      z.object({ block_number: z.null(), timestamp: z.null() }).transform(() => null),
      transaction,
    ]),
  }),
  block: item({
    name: 'block',
    path: ({ block }: { readonly block: number | Hex }) => `/blocks/${block}`,
    credits: 20,
    mayBeAbsent: true,
    value: block,
  }),
  token: item({
    name: 'token',
    path: ({ token }: { readonly token: Hex }) => `/tokens/${token}`,
    credits: 20,
    mayBeAbsent: true,
    value: token,
  }),
  /** A contract's name and ABI, where its source is verified. */
  contract: item({
    name: 'contract',
    path: ({ address }: OfAddress) => `/smart-contracts/${address}`,
    credits: 20,
    mayBeAbsent: true,
    value: contract,
  }),
  stats: item({ name: 'stats', path: (_: object) => '/stats', credits: 20, value: stats }),
  indexingStatus: item({
    name: 'indexingStatus',
    path: (_: object) => '/main-page/indexing-status',
    credits: 20,
    value: indexingStatus,
  }),
  backendVersion: item({
    name: 'backendVersion',
    path: (_: object) => '/config/backend-version',
    credits: 20,
    mayBeAbsent: true,
    value: backendVersion,
  }),
} as const;
