import { useEffect, useMemo, useState } from 'preact/hooks';
import type { DeliveryFilter } from '../__generated__/operations.ts';
import { type FeedState, type LiveFeed, openLiveFeed } from '../api/live-feed.ts';

/** Follows the deliveries that match while the component is there. Another filter begins anew. Null until it is opened. */
export const useLiveFeed = (filter: DeliveryFilter): FeedState | null => {
  const key = JSON.stringify(filter);
  const wanted = useMemo<DeliveryFilter>(() => JSON.parse(key), [key]);
  const [state, setState] = useState<FeedState | null>(null);
  useEffect(() => {
    const feed: LiveFeed = openLiveFeed(wanted);
    const update = () => setState(feed.state.get());
    update();
    const unsubscribe = feed.state.subscribe(update);
    return () => {
      unsubscribe();
      feed.close();
    };
  }, [wanted]);
  return state;
};
