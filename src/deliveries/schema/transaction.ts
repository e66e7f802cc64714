import { builder, nullIfOmitted } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { derivedField } from '../../graph/plan/plannable.ts';
import { knownOrError } from '../../graph/semantic-non-null.ts';
import {
  DecodedCall,
  Log,
  type readDeliveredTransaction,
  TransactionDirection,
} from '../../lookups/transactions.ts';
import { chainIdOf } from '../../upstream/parse/derived.ts';

type Shape = NonNullable<ReturnType<typeof readDeliveredTransaction>>;

/**
 * A type of its own, without an id: a hosted service says other things of a transaction in a delivery than in a lookup, and
 * under one id in a client's cache either would replace the other by nulls.
 */
export const DeliveredTransaction = builder.objectRef<Shape>('DeliveredTransaction').implement({
  description:
    'A transaction of one wallet as a delivery tells it. It has no id: `Wallet.transactions` has the transaction with the same `chain` and `hash`.',
  fields: (t) => ({
    address: t.expose('address', {
      type: 'Address',
      description: 'The address of the wallet that this transaction was delivered for.',
    }),
    chain: t.exposeString('chain', { description: "The service's name for the chain." }),
    chainId: t.field({
      type: 'ChainId',
      nullable: true,
      description: 'The id of the chain. Null when neither the service nor the name says it.',
      ...derivedField(chainIdOf('chainId', 'chain')),
    }),
    hash: t.expose('hash', { type: 'Hex', description: "The transaction's hash." }),
    blockHash: t.expose('blockHash', { type: 'Hex', ...nullIfOmitted('The hash of the block.') }),
    blockNumber: t.expose('blockNumber', { type: 'BigInt', description: 'The number of the block.' }),
    blockTime: t.expose('blockTime', { type: 'DateTime', description: 'The time of the block.' }),
    index: t.expose('index', { type: 'BigInt', ...knownOrError('The position in the block.') }),
    from: t.expose('from', { type: 'Address', description: 'The address of the sender.' }),
    to: t.expose('to', {
      type: 'Address',
      nullable: true,
      description: 'The address of the recipient. Null when the transaction creates a contract.',
    }),
    value: t.expose('value', {
      type: 'BigInt',
      ...knownOrError('The amount of the native asset that it transfers, in wei.'),
    }),
    data: t.expose('data', {
      type: 'Hex',
      ...nullIfOmitted('The call data; 0x when empty.'),
      extensions: withCost({ bytes: 400 }),
    }),
    nonce: t.expose('nonce', {
      type: 'BigInt',
      ...knownOrError('The number of transactions that the sender had sent before.'),
    }),
    gasPrice: t.expose('gasPrice', {
      type: 'BigInt',
      ...nullIfOmitted('The gas price of the transaction, in wei per gas.'),
    }),
    gasUsed: t.expose('gasUsed', { type: 'BigInt', ...nullIfOmitted('The gas that it used.') }),
    effectiveGasPrice: t.expose('effectiveGasPrice', {
      type: 'BigInt',
      ...nullIfOmitted('The gas price that was paid, in wei per gas.'),
    }),
    success: t.exposeBoolean('success', nullIfOmitted('Whether it succeeded; false when it was reverted.')),
    direction: t.expose('direction', {
      type: TransactionDirection,
      nullable: true,
      description:
        'Which side of the transaction `address` is on, as the service says it. Null when it says none, and `address` is on neither.',
    }),
    decoded: t.expose('decoded', {
      type: DecodedCall,
      nullable: true,
      description: 'The decoded call. Null when the service does not know the contract or the function.',
    }),
    logs: t.expose('logs', {
      type: [Log],
      description: 'The logs, in the order in which they were emitted.',
    }),
  }),
});
