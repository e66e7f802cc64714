import { type ChainArgs, chainArguments, chainsParameter } from '../chains/arguments.ts';
import { builder, NULL_WHEN_OMITTED } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { connect } from '../graph/pagination/connection.ts';
import { itemConnectionType } from '../graph/pagination/connection-type.ts';
import { type PageArgs, pageArguments } from '../graph/pagination/page-arguments.ts';
import { selectsBelow } from '../graph/selection.ts';
import { MalformedFieldError, type RawObject } from '../upstream/parse/fields.ts';
import { Wallet } from '../wallets/schema.ts';
import {
  type Decoded,
  type DecodedInput,
  type Log as LogShape,
  PAGE_SIZE,
  REQUEST_COST,
  readTransaction,
  requestsFor,
  type Transaction as TransactionShape,
} from './rest.ts';

const paging = pageArguments(1000, 'transactions');
const DETAILS: ReadonlySet<string> = new Set(['decoded']);

export const Transaction = builder.objectRef<TransactionShape>('Transaction');
export const TransactionDirection = builder.enumType('TransactionDirection', {
  description: 'Which side of a transaction an address is on.',
  values: {
    SENDER: { description: 'It sent the transaction.' },
    RECEIVER: { description: 'It received the transaction.' },
  },
});
const Log = builder.objectRef<LogShape>('Log');
const DecodedCall = builder.objectRef<Decoded>('DecodedCall');
const DecodedEvent = builder.objectRef<Decoded>('DecodedEvent');
const DecodedInputType = builder.objectRef<DecodedInput>('DecodedInput');

/** A transaction as a delivery tells it; null when it does not read. */
export const readDeliveredTransaction = (raw: RawObject): TransactionShape | null => {
  try {
    return readTransaction(raw, null);
  } catch (error) {
    if (error instanceof MalformedFieldError) return null;
    throw error;
  }
};

Transaction.implement({
  description: 'A transaction as one address sees it, looked up or delivered.',
  fields: (t) => ({
    id: t.id({
      description: "Unique for a wallet, a chain and a hash: a key for client caches. It can't be refetched.",
      resolve: ({ address, chain, hash }) =>
        Buffer.from(`Transaction:${address}:${chain}:${hash}`).toString('base64'),
    }),
    address: t.expose('address', {
      type: 'Address',
      description: "The wallet's address that this transaction was looked up or delivered for.",
    }),
    chain: t.exposeString('chain', { description: "The service's name of the chain." }),
    chainId: t.field({
      type: 'ChainId',
      nullable: true,
      description: 'Null in a lookup of a chain whose name this gateway does not know: see chains.',
      resolve: ({ chain, chainId }, _args, { chains }) => chainId ?? chains.idOf(chain),
    }),
    hash: t.expose('hash', { type: 'Hex', description: "The transaction's hash." }),
    blockHash: t.expose('blockHash', { type: 'Hex', nullable: true, description: NULL_WHEN_OMITTED }),
    blockNumber: t.expose('blockNumber', { type: 'BigInt', description: 'Height of the block.' }),
    blockTime: t.expose('blockTime', { type: 'DateTime', description: 'Time of the block.' }),
    index: t.expose('index', {
      type: 'BigInt',
      nullable: true,
      description: `Position in the block. ${NULL_WHEN_OMITTED}`,
    }),
    from: t.expose('from', { type: 'Address', description: 'The sender.' }),
    to: t.expose('to', { type: 'Address', nullable: true, description: 'Null when a contract is created.' }),
    value: t.expose('value', { type: 'BigInt', nullable: true, description: `Wei. ${NULL_WHEN_OMITTED}` }),
    data: t.expose('data', {
      type: 'Hex',
      nullable: true,
      description: `Call data; 0x when empty. ${NULL_WHEN_OMITTED}`,
      extensions: withCost({ bytes: 400 }),
    }),
    nonce: t.expose('nonce', {
      type: 'BigInt',
      nullable: true,
      description: `How many transactions the sender had sent before. ${NULL_WHEN_OMITTED}`,
    }),
    gasPrice: t.expose('gasPrice', {
      type: 'BigInt',
      nullable: true,
      description: `Wei per gas. ${NULL_WHEN_OMITTED}`,
    }),
    gasUsed: t.expose('gasUsed', {
      type: 'BigInt',
      nullable: true,
      description: 'Gas that it used. Null in a lookup, where the service does not say it.',
    }),
    effectiveGasPrice: t.expose('effectiveGasPrice', {
      type: 'BigInt',
      nullable: true,
      description: 'Wei per gas that was paid. Null in a lookup, where the service does not say it.',
    }),
    success: t.exposeBoolean('success', {
      nullable: true,
      description: 'False when it was reverted. Null in a lookup, where the service does not say it.',
    }),
    transactionType: t.expose('transactionType', {
      type: 'BigInt',
      nullable: true,
      description: 'EIP-2718 transaction type: 0, 1, 2, … Null in a delivery, which does not say it.',
    }),
    direction: t.expose('direction', {
      type: TransactionDirection,
      nullable: true,
      description:
        'Which side the address is on, where the service says it: always in deliveries. Else null.',
    }),
    decoded: t.expose('decoded', {
      type: DecodedCall,
      nullable: true,
      description: 'The call. Null when the service does not know the contract or the function.',
    }),
    logs: t.expose('logs', { type: [Log], description: 'In the order in which they were emitted.' }),
  }),
});

Log.implement({
  description: 'An event as it was emitted.',
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'The emitting contract.' }),
    data: t.expose('data', {
      type: 'Hex',
      nullable: true,
      description: `What is not indexed. ${NULL_WHEN_OMITTED}`,
    }),
    topics: t.expose('topics', { type: ['Hex'], description: 'The signature and what is indexed.' }),
    decoded: t.expose('decoded', {
      type: DecodedEvent,
      nullable: true,
      description: 'Null when the service does not know the contract or the event.',
    }),
  }),
});

for (const [type, subject, one] of [
  [DecodedCall, 'function', 'A function'],
  [DecodedEvent, 'event', 'An event'],
] as const)
  type.implement({
    description: `${one} and its parameters, decoded by the service.`,
    fields: (t) => ({
      name: t.exposeString('name', {
        nullable: true,
        description: `Of the ${subject}. ${NULL_WHEN_OMITTED}`,
      }),
      inputs: t.expose('inputs', { type: [DecodedInputType], description: 'In the order of the ABI.' }),
    }),
  });

DecodedInputType.implement({
  description: 'One decoded parameter.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'Null when the ABI names none.' }),
    type: t.exposeString('type', { nullable: true, description: `The Solidity type. ${NULL_WHEN_OMITTED}` }),
    value: t.expose('value', {
      type: 'JSON',
      nullable: true,
      description:
        'A string; a list (of lists) of strings for array and tuple types; an object where the service gives one. Null when not decoded.',
    }),
  }),
});

const TransactionConnection = itemConnectionType('Transaction', Transaction, 'transactions');

builder.objectField(Wallet, 'transactions', (t) =>
  t.field({
    type: TransactionConnection,
    nullable: true,
    description:
      'Newest first. Select decoded anywhere below and the service is asked to decode; there is no argument for it. Null when the lookup fails.',
    authScopes: { wallets: true },
    args: { ...paging.args, ...chainArguments },
    extensions: withCost<PageArgs & ChainArgs>({
      count: paging.sizeOf,
      lookup: ({ first, after, chainIds, chainTags }) => ({
        list: [chainsParameter(chainIds, chainTags), after],
        computeUnits: requestsFor(paging.sizeOf({ first })) * REQUEST_COST,
        advice: `Transactions cost a compute unit for each ${PAGE_SIZE}: ask for fewer by first.`,
      }),
    }),
    resolve: ({ address }, { first, after, chainIds, chainTags }, context, info) => {
      const chains = chainsParameter(chainIds, chainTags);
      context.chains.assertKnown(chainIds, chainTags);
      return connect({
        read: context.transactions.read({ address, chains }, selectsBelow(info, DETAILS)),
        cursors: context.cursorsOf(['transactions', address, chains]),
        first: paging.sizeOf({ first }),
        after,
      });
    },
  }),
);
