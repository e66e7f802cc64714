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
  description: 'A subscribed address sent or received a transaction.',
  fields: (t) => ({
    transaction: t.field({
      type: Transaction,
      description: 'The whole transaction, decoded where the service could.',
      resolve: ({ transaction }) => transaction,
    }),
  }),
});

const TYPES = { transaction: TransactionEvent, activity: Activity, balanceChange: BalanceChange };

export const DeliveryEvent = builder.unionType('DeliveryEvent', {
  description: 'What a delivery tells of.',
  types: [TransactionEvent, Activity, BalanceChange],
  resolveType: ({ kind }) => TYPES[kind],
});

/** Undefined for a transaction that does not read: it is left out. */
export const shapeOf = (read: ReadEvent): EventShape | undefined => {
  const event = read();
  if (event.kind !== 'transaction') return event;
  const transaction = readDeliveredTransaction({ ...event.raw, chain_id: event.chainId });
  return transaction ? { kind: 'transaction', transaction } : undefined;
};
