import type { Hex } from '../../types.ts';
import type { ActivityType, AssetType, Side } from '../webhook.ts';

/** An asset that an event is about. */
export type EventAsset = {
  /** Null for a called contract that is no token the service knows. */
  readonly type: AssetType | null;
  /** Null for the native asset. */
  readonly token: Hex | null;
};

type Concerning = {
  /** The address that must be subscribed. */
  readonly address: Hex;
  /** An asset filter lets the event through when one of these passes all of it. */
  readonly assets: readonly EventAsset[];
  /** The event as it stands in a delivery's body; made only for those that match. */
  readonly item: () => Readonly<Record<string, unknown>>;
};

export type TransactionEvent = Concerning & {
  readonly type: 'transactions';
  readonly side: Side;
  /** The other side; null when a contract is created. */
  readonly counterparty: Hex | null;
  /**
   * On the receiver's event of a transaction to oneself, which is one transaction and so one item: the sender's,
   * unless the webhook wants receivers only.
   */
  readonly alsoSender: boolean;
};

export type ActivityEvent = Concerning & { readonly type: 'activities'; readonly activity: ActivityType };

export type BalanceEvent = Concerning & { readonly type: 'balances' };

/** Something that happened to one address in one transaction, and that one type of webhook tells. */
export type OnchainEvent = TransactionEvent | ActivityEvent | BalanceEvent;
