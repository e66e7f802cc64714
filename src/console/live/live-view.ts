import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { reachable } from '../api/reachable.ts';
import { type Series, TimeBars } from '../charts.ts';
import { html, Notice, ProblemNotice, Skeleton } from '../components.ts';
import { counted, formatCount, formatTime } from '../format.ts';
import { hrefOf, route, useParam } from '../route.ts';
import { useStore } from '../state.ts';
import { ALL_TYPES } from '../webhooks/webhook-words.ts';
import { type Row, rowsOf } from './cards.ts';
import { type Feed, type FeedState, openFeed } from './feed.ts';
import { FeedList } from './feed-list.ts';
import { barsOf, type History, SLOT_MS, slotOf } from './history.ts';
import { askedOf, LiveFilter } from './live-filter.ts';

/** The events of the caller's webhooks as they arrive, one card for each transaction, newest first. */
export const LiveView = () => {
  const { params } = useStore(route);
  const { asked, wrong } = askedOf(params);
  const key = JSON.stringify(asked);
  return html`<section class="stack live" aria-labelledby="live-title">
    ${
      wrong.length > 0
        ? html`<h2 id="live-title">Live events</h2>
            <${Notice} title="This link asks for something that can’t exist">
              ${wrong.map((sentence) => html`<p key=${sentence}>${sentence}</p>`)}
              <p>Correct it in the address bar, or see <a href=${hrefOf('live')}>the events of all wallets</a>.</p>
            <//>`
        : html`<${Followed} key=${key} asked=${key} params=${params} />`
    }
  </section>`;
};

const Followed = ({ asked, params }: { asked: string; params: URLSearchParams }) => {
  const [feed, setFeed] = useState<Feed | null>(null);
  useEffect(() => {
    const opened = openFeed(JSON.parse(asked));
    setFeed(opened);
    return () => opened.close();
  }, [asked]);
  return feed && html`<${Events} feed=${feed} params=${params} />`;
};

const Events = ({ feed, params }: { feed: Feed; params: URLSearchParams }) => {
  const { connection, problem, items, held, received } = useStore(feed.state);
  const before = useRef<readonly Row[]>([]);
  const rows = useMemo(() => rowsOf(items, before.current), [items]);
  before.current = rows;
  /** How many transactions wait while the feed is paused. */
  const waiting = useMemo(() => rowsOf(held).length, [held]);
  const isReachable = useStore(reachable);
  const [text, kind] = TEXTS[connection === 'live' && !isReachable ? 'waiting' : connection];
  const isLoading = items.length === 0 && connection === 'connecting';
  const [isPaused, setPaused] = useState(false);
  const pause = (paused: boolean) => {
    feed.pause(paused);
    setPaused(paused);
  };
  return html`<div class="bar">
      <h2 id="live-title">Live events</h2>
      <span class=${`tag ${kind}`} role="status" data-connection=${connection}>${text}</span>
      <button type="button" aria-pressed=${isPaused} onClick=${() => pause(!isPaused)}>${isPaused ? 'Resume' : 'Pause'}</button>
      <span class="push quiet">${formatCount(received)} arrived since this view was opened</span>
    </div>
    <${LiveFilter} params=${params} />
    <${LiveChart} history=${feed.history} />
    ${problem && html`<${ProblemNotice} problem=${problem} onRetry=${connection === 'ended' ? feed.retry : undefined} />`}
    ${waiting > 0 && html`<div class="held"><button type="button" class="primary" onClick=${() => pause(false)}>${formatCount(waiting)} new</button></div>`}
    ${(items.length > 0 || !problem) && html`<div class="panel">${isLoading ? html`<${Skeleton} rows=${6} />` : html`<${FeedList} feed=${feed} rows=${rows} />`}</div>`}
    <${Announcer} rows=${rows} />`;
};

const TEXTS: Readonly<Record<FeedState['connection'], readonly [text: string, kind: string]>> = {
  connecting: ['connecting…', ''],
  live: ['live', 'good'],
  waiting: ['reconnecting, without missing any', 'warn'],
  ended: ['ended', 'bad'],
};

/** A screen reader hears a summary, and not each of a hundred events a second. */
const ANNOUNCE_EVERY_MS = 5000;

/** Tells a screen reader politely what has arrived, every few seconds at most. */
const Announcer = ({ rows }: { rows: readonly Row[] }) => {
  const [text, setText] = useState('');
  const latest = useRef(rows);
  latest.current = rows;
  useEffect(() => {
    const told = new Set<string>();
    const timer = setInterval(() => {
      const fresh = latest.current.filter((row) => row.kind === 'card' && row.isNew && !told.has(row.key));
      if (fresh.length === 0) return;
      for (const { key } of fresh) told.add(key);
      // The newest card says itself in words what has happened.
      const newest = document.querySelector('.feed .card-events')?.cloneNode(true);
      // A logo may have a letter.
      if (newest instanceof Element) for (const logo of newest.querySelectorAll('svg')) logo.remove();
      const count = counted(fresh.length, 'new transaction', 'new transactions');
      setText(`${count}. The newest: ${newest?.textContent}`);
    }, ANNOUNCE_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return html`<p class="visually-hidden" role="status" data-announcer>${text}</p>`;
};

/** The spans that the chart can show, and their bars, in slots of the history. */
const SPANS = {
  '15m': { name: '15 minutes', bar: '15 seconds', slots: 1, bars: 60 },
  '1h': { name: '1 hour', bar: 'minute', slots: 4, bars: 60 },
  '6h': { name: '6 hours', bar: '5 minutes', slots: 20, bars: 72 },
  '24h': { name: '24 hours', bar: '30 minutes', slots: 120, bars: 48 },
  '7d': { name: '7 days', bar: '3 hours', slots: 720, bars: 56 },
} as const;

/** In the order of `ALL_TYPES`; null is an unknown one. */
const SERIES: readonly Series[] = [
  { name: 'transactions', tone: 'blue' },
  { name: 'activities', tone: 'green' },
  { name: 'balances', tone: 'amber' },
  { name: 'of unknown type', tone: 'grey' },
];

const isSpan = (text: string): text is keyof typeof SPANS => text in SPANS;

const LiveChart = ({ history }: { history: History }) => {
  const state = useStore(history.state);
  const { since, begun, isReading, problem } = state;
  const [chosen, choose] = useParam('span');
  const span = isSpan(chosen) ? chosen : '15m';
  const { slots, bars, bar } = SPANS[span];
  const reach = () => history.reach(Date.now() - slots * bars * SLOT_MS);
  useEffect(reach, [history, span, begun]);
  // Each bar begins at a round time.
  const end = (Math.floor(slotOf(Date.now()) / slots) + 1) * slots;
  const buckets = barsOf(state, { end, slots, bars, keys: [...ALL_TYPES, null] }).map((values, index) => {
    const from = end - (bars - index) * slots;
    return { start: from * SLOT_MS, end: (from + slots) * SLOT_MS, values };
  });
  const known = SERIES.length - (buckets.some(({ values }) => values.at(-1)) ? 0 : 1);
  const start = buckets[0]?.start ?? 0;
  return html`<div class="panel stack">
    <div class="bar spans" role="group" aria-label="Time that the chart shows">
      ${Object.entries(SPANS).map(([id, { name }]) => html`<button key=${id} type="button" class="chip" aria-pressed=${id === span} onClick=${() => choose(id === '15m' ? '' : id)}>${name}</button>`)}
      <span class="push quiet" role="status">${isReading && 'Reading the log…'}</span>
    </div>
    <${TimeBars} label=${`Deliveries, a bar for each ${bar}`} buckets=${buckets} series=${SERIES.slice(0, known)} unit="deliveries" />
    ${problem && html`<${ProblemNotice} problem=${problem} onRetry=${reach} />`}
    ${since !== null && since > start && !isReading && !problem && html`<div class="bar quiet"><span>Deliveries before ${formatTime(new Date(since).toISOString())} are not counted yet.</span><button type="button" onClick=${reach}>Count earlier ones</button></div>`}
  </div>`;
};
