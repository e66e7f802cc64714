import type { Hex } from '../../types.ts';
import type { ActivityType, AssetType, Side } from '../webhook.ts';

/** One of an event's assets. */
export type EventAsset = {
  /** Null for a called contract that is no known token. */
  readonly type: AssetType | null;
  /** Null for the native asset. */
  readonly token: Hex | null;
};

type EventBase = {
  /** The address that the event concerns. It goes to the webhooks subscribed to that address. */
  readonly address: Hex;
  /** The assets for the asset filters. One of these must pass all of them. */
  readonly assets: readonly EventAsset[];
  /** Makes the event's item for a delivery's body. Only matching events need it. */
  readonly item: () => Readonly<Record<string, unknown>>;
};

export type TransactionEvent = EventBase & {
  readonly type: 'transactions';
  readonly side: Side;
  /** The other side of the transaction; null when it creates a contract. */
  readonly counterparty: Hex | null;
  /**
   * Set on the receiver's event of a transaction to oneself. Such a transaction is one item, the sender's, unless the
   * webhook filters for receivers.
   */
  readonly alsoSender: boolean;
};

export type ActivityEvent = EventBase & { readonly type: 'activities'; readonly activity: ActivityType };

export type BalanceEvent = EventBase & { readonly type: 'balances' };

/** An event of one address in one transaction, for one type of webhook. */
export type OnchainEvent = TransactionEvent | ActivityEvent | BalanceEvent;
