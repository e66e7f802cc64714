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
      description: 'The whole transaction, as far as the service decodes it.',
      resolve: ({ transaction }) => transaction,
    }),
  }),
});

const TYPES = { transaction: TransactionEvent, activity: Activity, balanceChange: BalanceChange };

export const DeliveryEvent = builder.unionType('DeliveryEvent', {
  description: 'An event of a delivery.',
  types: [TransactionEvent, Activity, BalanceChange],
  resolveType: ({ kind }) => TYPES[kind],
});

/** Reads an event; undefined for a transaction that can't be parsed, which the list leaves out. */
export const shapeOf = (read: ReadEvent): EventShape | undefined => {
  const event = read();
  if (event.kind !== 'transaction') return event;
  const transaction = readDeliveredTransaction({ ...event.raw, chain_id: event.chainId });
  return transaction ? { kind: 'transaction', transaction } : undefined;
};
