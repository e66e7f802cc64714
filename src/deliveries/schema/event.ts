import { builder } from '../../graph/builder.ts';
import { readDeliveredTransaction, Transaction } from '../../transactions/schema.ts';
import type { ActivityEvent, BalanceChangeEvent } from '../events/events.ts';
import type { ReadEvent } from '../events/payload.ts';
import { Activity } from './activity.ts';
import { BalanceChange } from './balance.ts';

type TransactionEventShape = {
  readonly kind: 'transaction';
  readonly transaction: typeof Transaction.$inferType;
};
type EventShape = TransactionEventShape | ActivityEvent | BalanceChangeEvent;

const TransactionEvent = builder.objectRef<TransactionEventShape>('TransactionEvent').implement({
  description: 'A transaction that a subscribed address sent or received.',
  fields: (t) => ({
    transaction: t.field({
      type: Transaction,
      description: 'The whole transaction, decoded where the service knows the contract.',
      resolve: ({ transaction }) => transaction,
    }),
  }),
});

const TYPES = { transaction: TransactionEvent, activity: Activity, balanceChange: BalanceChange };

export const DeliveryEvent = builder.unionType('DeliveryEvent', {
  description: 'An event in a delivery. The type of the webhook decides the kind of its events.',
  types: [TransactionEvent, Activity, BalanceChange],
  resolveType: ({ kind }) => TYPES[kind],
});

/** Returns undefined for a transaction that can't be parsed: the list of events leaves it out. */
export const shapeOf = (read: ReadEvent): EventShape | undefined => {
  const event = read();
  if (event.kind !== 'transaction') return event;
  const transaction = readDeliveredTransaction({ ...event.raw, chain_id: event.chainId });
  return transaction ? { kind: 'transaction', transaction } : undefined;
};
