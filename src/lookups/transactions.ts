import { builder, nullIfOmitted } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { badUserInput } from '../graph/errors.ts';
import { derivedField } from '../graph/plan/plannable.ts';
import type { RawObject } from '../lib/json/exact-json.ts';
import { chainIdOf, globalId, madeBy } from '../upstream/parse/derived.ts';
import { MalformedFieldError } from '../upstream/parse/fields.ts';
import { offered } from './chains/chains.ts';
import { chainArguments } from './chains/chains-schema.ts';
import { listField, selectedDetails } from './list-field.ts';
import {
  type Decoded,
  type DecodedInput,
  type DeliveredTransaction,
  type Log as LogShape,
  type Revert,
  readDelivered,
  sideOf,
  type TransactionKey,
  type Transaction as TransactionShape,
  transactionLookup,
  transactionsLookup,
} from './transactions-rest.ts';
import { Wallet } from './wallet.ts';

/** What a detail costs that explorers do not list. */
const OVER_EXPLORERS =
  'Explorers are asked for it where the operation selects it, by a request for each transaction: a page of the service has 12 then, in place of 100.';

const Transaction = builder.objectRef<TransactionShape>('Transaction');
const DIRECTIONS = {
  SENDER: { description: 'The address sent the transaction.' },
  RECEIVER: { description: 'The address received the transaction.' },
} as const;
export const TransactionDirection = builder.enumType('TransactionDirection', {
  description: 'Which side of a transaction an address is on.',
  values: DIRECTIONS,
});
export const Log = builder.objectRef<LogShape>('Log');
export const DecodedCall = builder.objectRef<Decoded>('DecodedCall');
const DecodedEvent = builder.objectRef<Decoded>('DecodedEvent');
const DecodedError = builder.objectRef<Decoded>('DecodedError');
const RevertReason = builder.objectRef<Revert>('RevertReason');
const DecodedInputType = builder.objectRef<DecodedInput>('DecodedInput');

/** Returns the transaction of a delivery; null when it can't be parsed. */
export const readDeliveredTransaction = (raw: RawObject): DeliveredTransaction | null => {
  try {
    return readDelivered(raw);
  } catch (error) {
    if (error instanceof MalformedFieldError) return null;
    throw error;
  }
};

const DIRECTION = madeBy(
  { properties: ['address', 'from', 'to'], as: 'string', isNullable: true, words: Object.keys(DIRECTIONS) },
  ({ address, from, to }) => sideOf({ address, from, to }),
);

Transaction.implement({
  description:
    'A transaction of one wallet, from a lookup. What a delivery says is a `DeliveredTransaction`.',
  fields: (t) => ({
    id: t.id({
      description:
        "A key for client caches: unique for a wallet, a chain and a hash. `node` can't refetch it.",
      ...derivedField(globalId('Transaction', 'address', 'chain', 'hash')),
    }),
    address: t.expose('address', {
      type: 'Address',
      description: 'The address of the wallet that this transaction was looked up for.',
    }),
    chain: t.exposeString('chain', { description: "The service's name for the chain." }),
    chainId: t.field({
      type: 'ChainId',
      nullable: true,
      description:
        'The id of the chain. Null when this gateway does not know the name of the chain: `chains` lists those it knows.',
      ...derivedField(chainIdOf('chainId', 'chain')),
    }),
    hash: t.expose('hash', { type: 'Hex', description: "The transaction's hash." }),
    blockHash: t.expose('blockHash', {
      type: 'Hex',
      ...nullIfOmitted(`The hash of the block. ${OVER_EXPLORERS}`),
    }),
    blockNumber: t.expose('blockNumber', { type: 'BigInt', description: 'The number of the block.' }),
    blockTime: t.expose('blockTime', { type: 'DateTime', description: 'The time of the block.' }),
    index: t.expose('index', { type: 'BigInt', description: 'The position in the block.' }),
    from: t.expose('from', { type: 'Address', description: 'The address of the sender.' }),
    to: t.expose('to', {
      type: 'Address',
      nullable: true,
      description: 'The address of the recipient. Null when the transaction creates a contract.',
    }),
    value: t.expose('value', {
      type: 'BigInt',
      description: 'The amount of the native asset that it transfers, in wei.',
    }),
    data: t.expose('data', {
      type: 'Hex',
      description: 'The call data; 0x when empty.',
      extensions: withCost({ bytes: 400 }),
    }),
    nonce: t.expose('nonce', {
      type: 'BigInt',
      description: 'The number of transactions that the sender had sent before.',
    }),
    gasPrice: t.expose('gasPrice', {
      type: 'BigInt',
      ...nullIfOmitted('The gas price of the transaction, in wei per gas.'),
    }),
    gasUsed: t.expose('gasUsed', {
      type: 'BigInt',
      nullable: true,
      description: 'The gas that it used. Null when the service omits it, as a hosted one does in a lookup.',
    }),
    effectiveGasPrice: t.expose('effectiveGasPrice', {
      type: 'BigInt',
      nullable: true,
      description:
        'The gas price that was paid, in wei per gas. Null when the service omits it, as a hosted one does in a lookup.',
    }),
    fee: t.expose('fee', {
      type: 'BigInt',
      nullable: true,
      description:
        'What the sender paid for it in wei, beside `value`: for its gas, its blobs, and on rollups its data. Null when the service omits it, as a hosted one does.',
    }),
    success: t.exposeBoolean('success', {
      nullable: true,
      description:
        'Whether it succeeded. One that failed moved nothing, and its sender paid the fee. Null when the service omits it, as a hosted one does in a lookup, and where the chain does not say it.',
    }),
    createdContract: t.expose('createdContract', {
      type: 'Address',
      nullable: true,
      description:
        'The contract that it created. Null when it created none, and when the service omits it, as a hosted one does.',
    }),
    revertReason: t.expose('revertReason', {
      type: RevertReason,
      nullable: true,
      description:
        'Why it failed. The service finds it out, by a trace or by repeating the call, where the operation selects the field. Null when it did not fail, in a delivery, and when the service omits it, as a hosted one does. Where the node can not say it now, it is null and `partialErrors` of the list says so.',
    }),
    transactionType: t.expose('transactionType', {
      type: 'BigInt',
      nullable: true,
      description: 'The EIP-2718 transaction type: 0, 1, 2 and so on. Null when the service omits it.',
    }),
    direction: t.field({
      type: TransactionDirection,
      nullable: true,
      description:
        'Which side of the transaction `address` is on: the sender where it is on both. Null when it is on neither.',
      ...derivedField(DIRECTION),
    }),
    decoded: t.expose('decoded', {
      type: DecodedCall,
      nullable: true,
      description: 'The decoded call. Null when the service does not know the contract or the function.',
    }),
    logs: t.expose('logs', {
      type: [Log],
      description: `The logs, in the order in which they were emitted. ${OVER_EXPLORERS}`,
    }),
  }),
});

Log.implement({
  description: 'An event that a contract emitted.',
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'The contract that emitted the event.' }),
    data: t.expose('data', {
      type: 'Hex',
      ...nullIfOmitted('The parameters that are not indexed, ABI-encoded.'),
    }),
    topics: t.expose('topics', {
      type: ['Hex'],
      description: 'The topics: for most events the hash of the signature, then the indexed parameters.',
    }),
    decoded: t.expose('decoded', {
      type: DecodedEvent,
      nullable: true,
      description: 'The decoded event. Null when the service does not know the contract or the event.',
    }),
  }),
});

RevertReason.implement({
  description: 'Why a transaction failed.',
  fields: (t) => ({
    message: t.exposeString('message', {
      nullable: true,
      description:
        'The reason in words: the text of Error(string), the meaning of Panic(uint256), another error with its values, or what the EVM halted at, such as out of gas. Null for an error that no ABI has. The contract may say anything.',
    }),
    data: t.expose('data', {
      type: 'Hex',
      nullable: true,
      description:
        'What it reverted with, ABI-encoded; 0x without a reason. Null when it did not revert but the EVM halted, and beyond 32 KB.',
    }),
    decoded: t.expose('decoded', {
      type: DecodedError,
      nullable: true,
      description: 'The error that `data` is. Null when the service does not know it.',
    }),
  }),
});

for (const [type, subject, one] of [
  [DecodedCall, 'function', 'A function'],
  [DecodedEvent, 'event', 'An event'],
  [DecodedError, 'error', 'An error'],
] as const)
  type.implement({
    description: `${one} and its parameters, decoded by the service.`,
    fields: (t) => ({
      name: t.exposeString('name', nullIfOmitted(`The name of the ${subject}.`)),
      inputs: t.expose('inputs', {
        type: [DecodedInputType],
        description: 'The parameters, in the order of the ABI.',
      }),
    }),
  });

DecodedInputType.implement({
  description: 'A decoded parameter.',
  fields: (t) => ({
    name: t.exposeString('name', {
      nullable: true,
      description: 'The name in the ABI. Null when the ABI has no name for it.',
    }),
    type: t.exposeString('type', nullIfOmitted('The Solidity type.')),
    value: t.expose('value', {
      type: 'JSON',
      nullable: true,
      description:
        'The value: a string, or nested lists of strings for array and tuple types, or an object where the service sends one. Null when it is not decoded.',
    }),
  }),
});

export const transactions = listField(Wallet, transactionsLookup, {
  item: Transaction,
  items: "a wallet's transactions",
  description:
    'The transactions of the wallet, newest first. The service decodes them when the operation selects `decoded` anywhere below: there is no argument for it. Null, with an error, when the lookup fails.',
  args: chainArguments,
  list: ({ address }, chains) => ({ address, chains }),
  advice: `Each ${transactionsLookup.pageSizes.older} transactions cost one compute unit: ask for fewer by first.`,
});

const selectedBelow = selectedDetails(transactionsLookup);

builder.queryField('transaction', (t) =>
  t.field({
    type: Transaction,
    nullable: true,
    description: `The transaction with this hash, as the list of its sender has it. It costs ${transactionLookup.price} compute unit. Null, without an error, when the chain has none in a block; null, with an error, when the lookup fails, or when the service does not offer it for the chain: \`Chain.supports\` then lacks TRANSACTION, as for every chain of a hosted service.`,
    authScopes: { wallets: true },
    args: {
      chainId: t.arg({ type: 'ChainId', required: true, description: 'The id of the chain.' }),
      hash: t.arg({ type: 'Hex', required: true, description: "The transaction's hash: 32 bytes." }),
    },
    extensions: withCost<{ readonly chainId: number; readonly hash: string }>({
      lookup: ({ chainId, hash }) => ({
        list: [chainId, hash],
        computeUnits: transactionLookup.price,
        advice: 'Each transaction costs one compute unit: a list of a wallet has 100 for one.',
      }),
    }),
    resolve: async (_root, { chainId, hash }, context, info) => {
      if (!/^0x[0-9a-f]{64}$/.test(hash))
        throw badUserInput(`Expected a hash of 32 bytes, got ${(hash.length - 2) / 2} bytes.`);
      context.chains.assertKnown([chainId]);
      context.chains.assertSupported('TRANSACTION', [chainId]);
      const key: TransactionKey = { address: `${chainId}:${hash}`, chains: String(chainId), hash };
      return offered(
        'TRANSACTION',
        transactionLookup.read(context.lookups, key, selectedBelow(info, context)),
      );
    },
  }),
);

export const transaction = transactionLookup;
