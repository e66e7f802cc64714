import type { TransactionsList } from '../transactions/rest.ts';
import type { WatchedLists } from '../upstream/list-loader.ts';
import { createBackgroundScope } from '../webhooks/background-scope.ts';
import { createWebhookClient } from '../webhooks/client.ts';
import { DeliveredAddresses } from '../webhooks/delivered-addresses.ts';
import type { Deliveries } from './deliveries.ts';
import type { Startup } from './startup.ts';
import type { Upstream } from './upstream.ts';

/** Longer than any attempt at one of upstream's lists of webhooks takes. */
const LISTS_TIMEOUT_MS = 30_000;

/**
 * Starts to learn which wallets' transactions are delivered here, so that their newest pages stay fresh until then. Null
 * where CACHE_WATCHED_MS is off, and where each client has its own key: nothing then lists its webhooks for the gateway.
 */
export const createWatchedTransactions = (
  { config, now }: Startup,
  { client, gatewayKey, invalidation }: Upstream,
  { deliveryUrls }: Deliveries,
  publicUrl: () => string,
): WatchedTransactions | null => {
  const { watchedMs } = config.cache;
  if (watchedMs === 0 || gatewayKey === null || config.auth.mode === 'key') return null;
  const webhooks = () =>
    createWebhookClient({
      client,
      scope: createBackgroundScope({ key: gatewayKey, owner: 'gateway' }, LISTS_TIMEOUT_MS, now),
    });
  const delivered = new DeliveredAddresses(
    {
      webhooks: () => webhooks().listAll(),
      addresses: (webhookId) => webhooks().listAllAddresses(webhookId),
      deliversHere: ({ webhookId, url }) =>
        url !== null && deliveryUrls.isUrlFor(publicUrl(), webhookId, url),
    },
    now,
  );
  invalidation.listen((_partition, addresses) => delivered.named(addresses));
  return {
    lists: {
      maxAgeMs: ({ address, chains }) => Math.min(watchedMs, delivered.deliveredForMs(address, chains)),
      onNewest: (listName, { address }, { items, fetchedAt }) =>
        delivered.fetched(
          listName,
          address,
          items.length > 0 ? items.identity(0) : null,
          Date.now() - fetchedAt,
        ),
    },
    delivered,
  };
};

/** What is delivered here, and what that means for pages of transactions. */
export type WatchedTransactions = {
  readonly lists: WatchedLists<TransactionsList>;
  readonly delivered: DeliveredAddresses;
};
