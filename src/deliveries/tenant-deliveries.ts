import type { EventSource } from '../lib/event-source.ts';
import { BodyReader } from './events/body.ts';
import type { ReadEvent } from './events/events.ts';
import type { FeedCache } from './feed/cache.ts';
import type { ChangeNotifier } from './feed/change-notifier.ts';
import { createDeliverySource } from './feed/feed.ts';
import type { MergedReads } from './feed/merged-reads.ts';
import type { DeliveryUrls } from './ingress/delivery-url.ts';
import type { RefusedDeliveries, RefusedDelivery } from './ingress/refused.ts';
import type {
  DeliveryFilter,
  DeliveryPage,
  DeliveryRange,
  DeliveryReads,
  StoredDelivery,
} from './log/log.ts';
import { ByteBudget, createOperationReads, limitReads, type SearchLimiter } from './log/read-limits.ts';
import type { Replayer } from './replay.ts';

/** One tenant's deliveries, for one operation. */
export type TenantDeliveries = {
  /**
   * Returns the URL to which upstream must post events. `webhookId` is added to the URL, for a deployment that does not
   * name the webhook in its headers; null leaves it out.
   */
  url(webhookId: string | null): string;
  /** Returns all such URLs that are accepted, the current one first: see `DeliveryUrls`. */
  urls(webhookId: string | null): readonly string[];
  /** Whether the URL is a delivery URL of this gateway, but another tenant's. */
  isOthers(webhookId: string, url: string): boolean;
  /** The newest requests in the webhook's name that this process refused, the newest first. */
  refused(webhookId: string): readonly RefusedDelivery[];
  /**
   * Reads a page. Its bodies come to about a third of the largest answer, and those of all pages of one operation to about
   * 32 MB: a page ends early at either limit. Once the 32 MB are used up, this and the following methods reject with
   * BudgetExceededError. `createOperationReads` limits what a filter may scan.
   */
  read(range: DeliveryRange): Promise<DeliveryPage>;
  /** Reads one delivery; null when the log never had it or has trimmed it. */
  get(cursor: string): Promise<StoredDelivery | null>;
  readonly replay: Replayer['replay'];
  /** Parses the body. Each call after the first counts as reading it again. Rejects with BudgetExceededError. */
  payload(delivery: StoredDelivery): Promise<unknown>;
  /** The names of what the body's event lacks, as it would have been too large. Counts and rejects like `payload`. */
  omitted(delivery: StoredDelivery): Promise<readonly string[]>;
  /** The events of the body that concern `address`, or all when it is null. Counts and rejects like `payload`. */
  events(delivery: StoredDelivery, address: string | null): Promise<readonly ReadEvent[]>;
  /**
   * The deliveries after the cursor `after` (null: after the head) and all that follow. `mapError` maps an error that ends
   * a reader to the error for the client.
   */
  subscribe(
    after: string | null,
    filter: DeliveryFilter,
    mapError?: (error: unknown) => unknown,
  ): EventSource<StoredDelivery>;
};

/** The bodies that one operation may read: a body may have megabytes, and an operation may ask for many pages. */
const MAX_BYTES = 32 * 1024 * 1024;

type Parts = {
  readonly log: DeliveryReads;
  readonly changeNotifier: ChangeNotifier;
  readonly feedReads: MergedReads;
  readonly feedCache: FeedCache;
  readonly deliveryUrls: DeliveryUrls;
  readonly refused: RefusedDeliveries;
  readonly replayer: Replayer;
  readonly publicUrl: string;
  readonly tenant: string;
  /** The limit of one page's bodies: an answer has memory for both payload and events of each. */
  readonly maxPageBytes: number;
  readonly searchLimiter: SearchLimiter;
  /** The client that sent the operation. */
  readonly client: string;
  /** Aborts when no client waits for the operation any longer. */
  readonly clientSignal: AbortSignal | null;
};

export const createTenantDeliveries = ({
  log,
  changeNotifier,
  feedReads,
  feedCache: cache,
  deliveryUrls,
  refused,
  replayer,
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
    url: (webhookId) => deliveryUrls.urlOf(publicUrl, tenant, webhookId),
    urls: (webhookId) => deliveryUrls.urlsOf(publicUrl, tenant, webhookId),
    isOthers: (webhookId, url) =>
      deliveryUrls.isUrlFor(publicUrl, webhookId, url) &&
      ![
        ...deliveryUrls.urlsOf(publicUrl, tenant, webhookId),
        ...deliveryUrls.urlsOf(publicUrl, tenant),
      ].includes(new URL(url).href),
    replay: replayer.replay,
    refused: (webhookId) => refused.of(tenant, webhookId),
    read,
    get,
    payload: (delivery) => bodyReader.payload(delivery),
    omitted: (delivery) => bodyReader.omitted(delivery),
    events: (delivery, address) => bodyReader.events(delivery, address),
    subscribe: (after, filter, mapError) =>
      createDeliverySource({
        ...{ log, reads: feedReads, changeNotifier, tenant, cache, after, filter, mapError },
      }),
  };
};
