import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DeliveryFilter } from '../__generated__/operations.ts';
import {
  type Delivery,
  type FeedItem,
  type FeedState,
  type LiveFeed,
  openLiveFeed,
} from '../api/live-feed.ts';
import { BarChart, Empty, ProblemNotice, Skeleton } from '../components.ts';
import { formatCount, formatTime, inWords } from '../format.ts';
import { html } from '../html.ts';
import { hrefOf, route, useStore } from '../state.ts';
import { EventText } from './event-text.ts';
import { filterOf, LiveFilter } from './live-filter.ts';

const minutesAgo = (index: number, count: number): string => {
  const minutes = count - 1 - index;
  return minutes === 0 ? 'this minute' : `${minutes} min. ago`;
};

/** The events of the caller's webhooks as they arrive, newest first. */
export const LiveView = () => {
  const { params } = useStore(route);
  const { feed, retry } = useLiveFeed(filterOf(params));
  const items = feed?.items ?? [];
  const isLoading = items.length === 0 && (feed === null || feed.connection === 'connecting');
  return html`<section class="stack" aria-labelledby="live-title">
    <div class="bar">
      <h2 id="live-title">Live events</h2>
      ${feed && html`<${ConnectionState} connection=${feed.connection} />`}
      <span class="push quiet">${formatCount(feed?.received ?? 0)} arrived while this view is open</span>
    </div>
    <${LiveFilter} params=${params} />
    <div class="panel">
      <${BarChart} label="Events a minute, of the last half hour here" values=${feed?.perMinute ?? []} nameOf=${(index: number) => minutesAgo(index, feed?.perMinute.length ?? 0)} />
    </div>
    ${feed?.problem && html`<${ProblemNotice} problem=${feed.problem} onRetry=${feed.connection === 'ended' ? retry : undefined} />`}
    ${(items.length > 0 || !feed?.problem) && html`<div class="panel">${isLoading ? html`<${Skeleton} rows=${6} />` : html`<${FeedList} items=${items} />`}</div>`}
  </section>`;
};

/** A delivery may have ten thousand events. */
const SHOWN_EVENTS = 5;

const DeliveryRow = ({ delivery, isNew }: { delivery: Delivery; isNew: boolean }) => {
  const { type, receivedAt, events } = delivery;
  const others = events.length - SHOWN_EVENTS;
  return html`<li class=${isNew ? 'delivery is-new' : 'delivery'} data-delivery=${delivery.id}>
    <div class="bar">
      <span class="tag">${type ? inWords(type) : 'unknown type'}</span>
      <time datetime=${receivedAt} class="quiet">${formatTime(receivedAt)}</time>
    </div>
    <ul>
      ${events.slice(0, SHOWN_EVENTS).map((event, index) => html`<li key=${index}><${EventText} event=${event} chainId=${delivery.chainId} /></li>`)}
      ${others > 0 && html`<li class="quiet">and ${others} more events</li>`}
      ${events.length === 0 && html`<li class="quiet">No event that this gateway can read: its payload has the body.</li>`}
    </ul>
  </li>`;
};

/** The newest delivery first, with a line where the log could not be continued. */
const FeedList = ({ items }: { items: readonly FeedItem[] }) =>
  items.length === 0
    ? html`<${Empty} title="No event has arrived yet">Events come from webhooks that point here. <a href=${hrefOf('wallet')}>Watch a wallet</a>, or <a href=${hrefOf('webhooks')}>point a webhook here</a>.<//>`
    : html`<ol class="rows feed">
        ${items.map((item) =>
          item.kind === 'gap'
            ? html`<li key=${`gap ${item.cursor}`} class="gap" role="note">${item.message}</li>`
            : html`<${DeliveryRow} key=${item.cursor} delivery=${item.delivery} isNew=${item.isNew} />`,
        )}
      </ol>`;

const TEXTS: Readonly<Record<FeedState['connection'], readonly [text: string, kind: string]>> = {
  connecting: ['connecting…', ''],
  live: ['live', 'is-good'],
  waiting: ['the connection broke: it resumes where it was', 'is-warn'],
  ended: ['ended', 'is-bad'],
};

/** Whether events arrive at this moment. */
const ConnectionState = ({ connection }: Pick<FeedState, 'connection'>) => {
  const [text, kind] = TEXTS[connection];
  return html`<span class=${`tag ${kind}`} role="status" data-connection=${connection}>${text}</span>`;
};

type Followed = {
  /** Null until the feed is opened. */
  readonly feed: FeedState | null;
  /** Starts again after the feed has ended. */
  readonly retry: () => void;
};

/** Follows the deliveries that match while the component is mounted. Another filter starts anew. */
const useLiveFeed = (filter: DeliveryFilter): Followed => {
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
