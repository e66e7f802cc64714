import type { DeliveryAddresses } from './address.ts';
import type { FeedCache } from './feed-cache.ts';
import type { DeliveryFilter, DeliveryLog, DeliveryPage, DeliveryRange, StoredDelivery } from './log.ts';
import type { ReaderObserver } from './observer.ts';
import { createDeliverySource, type DeliverySource } from './source.ts';

/** What one tenant sees of the deliveries. */
export type TenantDeliveries = {
  /** Where the service must post a webhook's events; null when its headers name the webhook. */
  url(webhookId: string | null): string;
  read(range: DeliveryRange): Promise<DeliveryPage>;
  /** Null when the log does not hold it (any more). */
  get(cursor: string): Promise<StoredDelivery | null>;
  head(): Promise<string>;
  /**
   * What is stored after `after`, or from now on when that is null, and all that follows. `explain` makes what a reader
   * is told of an error that ends it.
   */
  subscribe(
    after: string | null,
    filter: DeliveryFilter,
    explain?: (error: unknown) => unknown,
  ): DeliverySource;
};

type Parts = {
  readonly log: DeliveryLog;
  readonly feedCache: FeedCache;
  readonly readers: ReaderObserver;
  readonly addresses: DeliveryAddresses;
  readonly publicUrl: string;
  readonly tenant: string;
};

export const createTenantDeliveries = ({
  log,
  feedCache: cache,
  readers: observer,
  addresses,
  publicUrl,
  tenant,
}: Parts): TenantDeliveries => ({
  url: (webhookId) => addresses.deliveryUrl(publicUrl, tenant, webhookId),
  read: (range) => log.read(tenant, range),
  get: (cursor) => log.get(tenant, cursor),
  head: () => log.head(tenant),
  subscribe: (after, filter, explain) =>
    createDeliverySource({ log, tenant, cache, observer, after, filter, explain }),
});
