import { builder } from '../graph/builder.ts';
import { UNSAID } from '../graph/unsaid.ts';
import { readDeliveredTransaction, Transaction } from '../transactions/schema.ts';
import { ActivityType, AssetType } from '../webhooks/enums.ts';
import type { ActivityEvent, BalanceChangeEvent, DeliveryEvent as StoredEvent } from './events.ts';

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

const Activity = builder.objectRef<ActivityEvent>('Activity').implement({
  description: 'Something that a subscribed address did, or that happened to it.',
  fields: (t) => ({
    type: t.expose('type', {
      type: ActivityType,
      nullable: true,
      description: 'Null when this gateway does not know the type: see typeName.',
    }),
    typeName: t.exposeString('typeName', {
      nullable: true,
      description: `As the service wrote it. ${UNSAID}`,
    }),
    chainId: t.expose('chainId', { type: 'ChainId', nullable: true, description: UNSAID }),
    blockNumber: t.expose('blockNumber', { type: 'BigInt', nullable: true, description: UNSAID }),
    blockTime: t.expose('blockTime', { type: 'DateTime', nullable: true, description: UNSAID }),
    transactionHash: t.expose('transactionHash', { type: 'Hex', nullable: true, description: UNSAID }),
    transactionFrom: t.expose('transactionFrom', {
      type: 'Address',
      nullable: true,
      description: `The transaction's sender. ${UNSAID}`,
    }),
    transactionTo: t.expose('transactionTo', {
      type: 'Address',
      nullable: true,
      description: `The transaction's recipient. ${UNSAID}`,
    }),
    transactionValue: t.expose('transactionValue', {
      type: 'BigInt',
      nullable: true,
      description: `Wei. ${UNSAID}`,
    }),
    assetType: t.expose('assetType', {
      type: AssetType,
      nullable: true,
      description: 'Null when this gateway does not know the type, or there is none.',
    }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'Null for the native asset, and where the service does not say.',
    }),
    tokenId: t.expose('tokenId', {
      type: 'BigInt',
      nullable: true,
      description: 'Null unless the asset is an ERC-721 or ERC-1155.',
    }),
    from: t.expose('from', {
      type: 'Address',
      nullable: true,
      description: 'Who gave. Null when that is the subscribed address.',
    }),
    to: t.expose('to', {
      type: 'Address',
      nullable: true,
      description: 'Who got. Null when that is the subscribed address.',
    }),
    value: t.expose('value', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${UNSAID}`,
    }),
    valueUsd: t.exposeFloat('valueUsd', { nullable: true, description: 'Null when the price is not known.' }),
  }),
});

const BalanceDirection = builder.enumType('BalanceDirection', {
  description: 'Which way an asset went.',
  values: {
    IN: { description: 'To the subscribed address.' },
    OUT: { description: 'From the subscribed address.' },
  },
});

const BalanceChange = builder.objectRef<BalanceChangeEvent>('BalanceChange').implement({
  description: 'What a subscribed address holds has changed.',
  fields: (t) => ({
    subscribedAddress: t.expose('subscribedAddress', {
      type: 'Address',
      nullable: true,
      description: UNSAID,
    }),
    counterparty: t.expose('counterparty', {
      type: 'Address',
      nullable: true,
      description: `The other side. ${UNSAID}`,
    }),
    transactionHash: t.expose('transactionHash', { type: 'Hex', nullable: true, description: UNSAID }),
    direction: t.expose('direction', { type: BalanceDirection, nullable: true, description: UNSAID }),
    amountBefore: t.expose('amountBefore', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${UNSAID}`,
    }),
    amountAfter: t.expose('amountAfter', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${UNSAID}`,
    }),
    amountDelta: t.expose('amountDelta', {
      type: 'BigInt',
      nullable: true,
      description: `In the asset's smallest unit. ${UNSAID}`,
    }),
    valueUsdBefore: t.exposeFloat('valueUsdBefore', { nullable: true, description: UNSAID }),
    valueUsdAfter: t.exposeFloat('valueUsdAfter', { nullable: true, description: UNSAID }),
    valueUsdDelta: t.exposeFloat('valueUsdDelta', { nullable: true, description: UNSAID }),
    priceUsd: t.exposeFloat('priceUsd', { nullable: true, description: `Of one whole token. ${UNSAID}` }),
    tokenAddress: t.expose('tokenAddress', {
      type: 'Address',
      nullable: true,
      description: 'Null for the native asset, and where the service does not say.',
    }),
    tokenSymbol: t.exposeString('tokenSymbol', { nullable: true, description: UNSAID }),
    tokenName: t.exposeString('tokenName', { nullable: true, description: UNSAID }),
    tokenDecimals: t.exposeInt('tokenDecimals', { nullable: true, description: UNSAID }),
  }),
});

const TYPES = { transaction: TransactionEvent, activity: Activity, balanceChange: BalanceChange };

export const DeliveryEvent = builder.unionType('DeliveryEvent', {
  description: 'What a delivery tells of.',
  types: [TransactionEvent, Activity, BalanceChange],
  resolveType: ({ kind }) => TYPES[kind],
});

/** A transaction that does not read is left out. */
export const shapesOf = (events: readonly StoredEvent[]): EventShape[] =>
  events.flatMap((event) => toShape(event) ?? []);

const toShape = (event: StoredEvent): EventShape | null => {
  if (event.kind !== 'transaction') return event;
  const transaction = readDeliveredTransaction({ ...event.raw, chain_id: event.chainId });
  return transaction && { kind: 'transaction', transaction };
};
