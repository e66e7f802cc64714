import { BarChart } from '../components/bar-chart.ts';
import { ProblemNotice, Skeleton } from '../components/notice.ts';
import { formatCount } from '../format/units.ts';
import { html } from '../html.ts';
import { route } from '../state/route.ts';
import { useStore } from '../state/store.ts';
import { ConnectionState } from './connection-state.ts';
import { FeedList } from './feed-list.ts';
import { filterOf, LiveFilter } from './live-filter.ts';
import { useLiveFeed } from './use-live-feed.ts';

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
