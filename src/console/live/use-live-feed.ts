import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DeliveryFilter } from '../__generated__/operations.ts';
import { type FeedState, type LiveFeed, openLiveFeed } from '../api/live-feed.ts';

type Followed = {
  /** Null until the feed is opened. */
  readonly feed: FeedState | null;
  /** Begins again after the feed has ended. */
  readonly retry: () => void;
};

/** Follows the deliveries that match while the component is there. Another filter begins anew. */
export const useLiveFeed = (filter: DeliveryFilter): Followed => {
  const key = JSON.stringify(filter);
  const wanted = useMemo<DeliveryFilter>(() => JSON.parse(key), [key]);
  const [state, setState] = useState<FeedState | null>(null);
  const opened = useRef<LiveFeed | null>(null);
  useEffect(() => {
    const feed = openLiveFeed(wanted);
    opened.current = feed;
    const update = () => setState(feed.state.get());
    update();
    const unsubscribe = feed.state.subscribe(update);
    return () => {
      unsubscribe();
      feed.close();
    };
  }, [wanted]);
  return { feed: state, retry: () => opened.current?.retry() };
};
