import type { EventAsset, OnchainEvent, TransactionEvent } from '../events/event.ts';
import type { Filters, Webhook } from '../webhook.ts';

const passes = <T>(filter: T | null, value: T | null): boolean => filter === null || filter === value;

const assetPasses = ({ asset_type, token_address }: Filters, assets: readonly EventAsset[]): boolean =>
  (asset_type === null && token_address === null) ||
  assets.some(({ type, token }) => passes(asset_type, type) && passes(token_address, token));

const sidePasses = ({ transaction_type, counterparty }: Filters, event: TransactionEvent): boolean =>
  passes(transaction_type, event.side) &&
  passes(counterparty, event.counterparty) &&
  !(event.alsoSender && transaction_type === null);

/** Whether a webhook that the event's address is subscribed to wants it: all of its filters must pass. */
export const matches = (webhook: Webhook, chainId: number, event: OnchainEvent): boolean => {
  if (!webhook.active || webhook.type !== event.type) return false;
  if (webhook.chain_ids !== null && !webhook.chain_ids.includes(chainId)) return false;
  if (!assetPasses(webhook, event.assets)) return false;
  if (event.type === 'transactions') return sidePasses(webhook, event);
  return event.type === 'balances' || passes(webhook.activity_type, event.activity);
};
