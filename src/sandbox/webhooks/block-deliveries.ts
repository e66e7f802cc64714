import type { ChainReader } from '../chain-data.ts';
import { activitiesOf } from '../lookups/activity-items.ts';
import type { EventAsset } from '../lookups/assets.ts';
import type { Block, Transaction } from '../types.ts';
import { balanceEvents, type OnchainEvent, type TransactionEvent, transactionEvents } from './events.ts';
import type { Store } from './store.ts';
import type { Filters, Webhook, WebhookType } from './webhook.ts';

/** One webhook's events of one block, in one delivery. */
export type Delivery = {
  readonly webhookId: string;
  readonly type: WebhookType;
  readonly chainId: number;
  /** Serialised once, so that every retry sends the same bytes. */
  readonly body: string;
};

const BODY_KEY = {
  transactions: 'transactions',
  activities: 'activities',
  balances: 'balance_changes',
} as const satisfies Record<WebhookType, string>;

function* eventsOf(simulator: ChainReader, transaction: Transaction): Generator<OnchainEvent> {
  yield* transactionEvents(simulator, transaction);
  const view = { as: 'delivery', time: transaction.blockTime } as const;
  for (const activity of activitiesOf(simulator, transaction, view))
    yield { type: 'activities', ...activity };
  yield* balanceEvents(simulator, transaction);
}

/** The deliveries of a block: one for each webhook with matching events, in the block's order. */
export const deliveriesOf = (
  block: Block,
  simulator: ChainReader,
  store: Pick<Store, 'subscribers'>,
): readonly Delivery[] => {
  const items = new Map<Webhook, unknown[]>();
  for (const event of block.transactions.flatMap((transaction) => [...eventsOf(simulator, transaction)])) {
    for (const webhook of store.subscribers(event.address)) {
      if (webhook.url === null || !matches(webhook, block.chain.id, event)) continue;
      const received = items.get(webhook);
      if (received === undefined) items.set(webhook, [event.item()]);
      else received.push(event.item());
    }
  }
  return [...items].map(([{ id, type }, received]) => ({
    webhookId: id,
    type,
    chainId: block.chain.id,
    body: JSON.stringify({ [BODY_KEY[type]]: received }),
  }));
};

/** Whether an event passes all filters of a webhook that is subscribed to the event's address. */
const matches = (webhook: Webhook, chainId: number, event: OnchainEvent): boolean => {
  if (!webhook.active || webhook.type !== event.type) return false;
  if (webhook.chain_ids !== null && !webhook.chain_ids.includes(chainId)) return false;
  if (!assetPasses(webhook, event.assets)) return false;
  if (event.type === 'transactions') return sidePasses(webhook, event);
  return event.type === 'balances' || passes(webhook.activity_type, event.activity);
};

const assetPasses = ({ asset_type, token_address }: Filters, assets: readonly EventAsset[]): boolean =>
  (asset_type === null && token_address === null) ||
  assets.some(({ type, token }) => passes(asset_type, type) && passes(token_address, token));

const sidePasses = ({ transaction_type, counterparty }: Filters, event: TransactionEvent): boolean =>
  passes(transaction_type, event.side) &&
  passes(counterparty, event.counterparty) &&
  !(event.alsoSender && transaction_type === null);

const passes = <T>(filter: T | null, value: T | null): boolean => filter === null || filter === value;
