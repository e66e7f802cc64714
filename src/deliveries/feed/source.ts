import type { EventSource } from '../../streams/event-source.ts';
import type { StoredDelivery } from '../log/log.ts';
import { Feed, type FeedOptions } from './feed.ts';

type Shared = 'log' | 'changeNotifier' | 'tenant' | 'cache' | 'observer' | 'filter' | 'mapError';

type SourceOptions = Pick<FeedOptions<unknown>, Shared> & {
  /** The cursor to resume after; null starts at the head of the log. */
  readonly after: string | null;
};

/** Creates the source of one subscriber's deliveries. Subscribers to one tenant with one filter have equal keys. */
export const createDeliverySource = ({ after, ...options }: SourceOptions): EventSource<StoredDelivery> => ({
  key: JSON.stringify([options.tenant, options.filter]),
  after,
  feed: (rendering) => new Feed({ ...options, ...rendering }),
  // GraphQL accepts only an async iterable from `subscribe`. The gateway reads every source through a feed instead.
  [Symbol.asyncIterator]() {
    throw new TypeError('Expected a delivery source to be read through a feed, got an iteration.');
  },
});
