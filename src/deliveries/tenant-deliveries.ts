import type { EventSource } from '../streams/event-source.ts';
import { BodyReader } from './events/body-reader.ts';
import type { ReadEvent } from './events/payload.ts';
import type { FeedCache } from './feed/cache.ts';
import type { ChangeNotifier } from './feed/change-notifier.ts';
import type { ReaderObserver } from './feed/feed.ts';
import { createDeliverySource } from './feed/source.ts';
import type { DeliveryUrls } from './ingress/delivery-url.ts';
import { ByteBudget, limitReads } from './log/byte-budget.ts';
import type { DeliveryFilter, DeliveryLog, DeliveryPage, DeliveryRange, StoredDelivery } from './log/log.ts';
import { createOperationReads, type SearchLimiter } from './log/search-limits.ts';

/** What one tenant sees of the deliveries. */
export type TenantDeliveries = {
  /**
   * Where the service must post events. `webhookId` goes into the url, for a service that does not name the webhook in
   * its headers; null leaves it out.
   */
  url(webhookId: string | null): string;
  /**
   * The bodies of a page come to about a third of what an answer may weigh, and those of all pages that one operation
   * reads to about 32 MB: a page ends early rather than bring more. Once all is spent, this and what follows reject with
   * BudgetSpentError. For what a filter may look at, see `createOperationReads`.
   */
  read(range: DeliveryRange): Promise<DeliveryPage>;
  /** Null when the log does not hold it (any more). */
  get(cursor: string): Promise<StoredDelivery | null>;
  /** Its body, which each further time counts as read again; rejects with BudgetSpentError. */
  payload(delivery: StoredDelivery): Promise<unknown>;
  /** What happened, by its body: to `address`, or all when it is null; as `payload`. */
  events(delivery: StoredDelivery, address: string | null): Promise<readonly ReadEvent[]>;
  /**
   * What is stored after `after`, or from now on when that is null, and all that follows. `mapError` makes what a reader
   * is told of an error that ends it.
   */
  subscribe(
    after: string | null,
    filter: DeliveryFilter,
    mapError?: (error: unknown) => unknown,
  ): EventSource<StoredDelivery>;
};

/** Bodies may be megabytes, and an operation may ask for many pages. */
const MAX_BYTES = 32 * 1024 * 1024;

type Parts = {
  readonly log: DeliveryLog;
  readonly changeNotifier: ChangeNotifier;
  readonly feedCache: FeedCache;
  readonly readers: ReaderObserver;
  readonly addresses: DeliveryUrls;
  readonly publicUrl: string;
  readonly tenant: string;
  /** Of the bodies of one page: an answer has room for both payload and events of each. */
  readonly maxPageBytes: number;
  readonly searchLimiter: SearchLimiter;
  /** The client that sent the operation. */
  readonly client: string;
  /** Aborts when no client waits for the operation any more. */
  readonly clientSignal: AbortSignal | null;
};

export const createTenantDeliveries = ({
  log,
  changeNotifier,
  feedCache: cache,
  readers: observer,
  addresses,
  publicUrl,
  tenant,
  maxPageBytes,
  searchLimiter,
  client,
  clientSignal,
}: Parts): TenantDeliveries => {
  const budget = new ByteBudget(MAX_BYTES);
  const bodyReader = new BodyReader(budget);
  const reads = createOperationReads({ log, tenant, client, clientSignal, searchLimiter });
  const { read, get } = limitReads(reads, budget, maxPageBytes);
  return {
    url: (webhookId) => addresses.deliveryUrl(publicUrl, tenant, webhookId),
    read,
    get,
    payload: (delivery) => bodyReader.payload(delivery),
    events: (delivery, address) => bodyReader.events(delivery, address),
    subscribe: (after, filter, mapError) =>
      createDeliverySource({ log, changeNotifier, tenant, cache, observer, after, filter, mapError }),
  };
};
