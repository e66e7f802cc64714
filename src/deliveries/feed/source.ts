import type { EventSource } from '../../streams/event-source.ts';
import type { DeliveryFilter, DeliveryLog, StoredDelivery } from '../log/log.ts';
import type { ReaderObserver } from '../log/observer.ts';
import type { FeedCache } from './cache.ts';
import type { ChangeNotifier } from './change-notifier.ts';
import { Feed } from './feed.ts';
import { iterate } from './iterate.ts';

type SourceOptions = {
  readonly log: DeliveryLog;
  /** Of the same log. */
  readonly changeNotifier: ChangeNotifier;
  readonly tenant: string;
  readonly cache: FeedCache;
  readonly observer?: ReaderObserver | undefined;
  /** Null: from now on. */
  readonly after: string | null;
  readonly filter: DeliveryFilter;
  /** What readers are told of an error that ends them. Default: the error. */
  readonly mapError?: ((error: unknown) => unknown) | undefined;
};

export const createDeliverySource = ({ after, ...options }: SourceOptions): EventSource<StoredDelivery> => ({
  key: JSON.stringify([options.tenant, options.filter]),
  after,
  feed: (rendering) => new Feed({ ...options, ...rendering }),
  [Symbol.asyncIterator]() {
    const sizeOf = ({ body }: StoredDelivery) => body.byteLength;
    const feed = new Feed({ ...options, render: (delivery) => delivery, sizeOf });
    return iterate((wake) => feed.read(after, wake));
  },
});
