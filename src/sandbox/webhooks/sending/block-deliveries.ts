import type { Block, ChainReader, Transaction } from '../../types.ts';
import { activityEvents } from '../events/activity-events.ts';
import { balanceEvents } from '../events/balance-events.ts';
import type { OnchainEvent } from '../events/event.ts';
import { transactionEvents } from '../events/transaction-events.ts';
import type { Store } from '../store.ts';
import type { Webhook, WebhookType } from '../webhook.ts';
import { matches } from './matching.ts';

/** What one webhook is told of one block. */
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
  yield* activityEvents(simulator, transaction);
  yield* balanceEvents(simulator, transaction);
}

/** One delivery for each webhook that wants anything of the block, its events in the block's order. */
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
