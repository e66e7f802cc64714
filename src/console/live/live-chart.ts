import { useEffect } from 'preact/hooks';
import { type Series, TimeBars } from '../charts.ts';
import { html, ProblemNotice } from '../components.ts';
import { formatTime } from '../format.ts';
import { setParams } from '../route.ts';
import { useStore } from '../state.ts';
import { bucketsOf, type History, lengthOf, SPANS, type Span } from './history.ts';

/** In the order of the counts of a bucket. */
const SERIES: readonly Series[] = [
  { name: 'transactions', tone: 'blue' },
  { name: 'activities', tone: 'green' },
  { name: 'balances', tone: 'amber' },
  { name: 'of no known type', tone: 'grey' },
];

const isSpan = (text: string | null): text is Span => text !== null && text in SPANS;

export const spanIn = (params: URLSearchParams): Span => {
  const span = params.get('span');
  return isSpan(span) ? span : '15m';
};

/** The deliveries in the log over the chosen span, by type. */
export const LiveChart = ({ history, span }: { history: History; span: Span }) => {
  const state = useStore(history.state);
  const { since, begun, isReading, problem } = state;
  const reach = () => history.reach(Date.now() - lengthOf(span));
  useEffect(reach, [history, span, begun]);
  const buckets = bucketsOf(state, span, Date.now());
  const known = SERIES.length - (buckets.some(({ values }) => values.at(-1)) ? 0 : 1);
  const start = buckets[0]?.start ?? 0;
  return html`<div class="panel stack">
    <div class="bar spans" role="group" aria-label="Time that the chart shows">
      ${Object.entries(SPANS).map(([id, { name }]) => html`<button key=${id} type="button" class="chip" aria-pressed=${id === span} onClick=${() => setParams({ span: id === '15m' ? '' : id })}>${name}</button>`)}
      <span class="push quiet" role="status">${isReading && 'Reading the log…'}</span>
    </div>
    <${TimeBars} label=${`Deliveries, a bar for each ${SPANS[span].bar}`} buckets=${buckets} series=${SERIES.slice(0, known)} unit="deliveries" />
    ${problem && html`<${ProblemNotice} problem=${problem} onRetry=${reach} />`}
    ${since !== null && since > start && !isReading && !problem && html`<div class="bar quiet"><span>Earlier ones than ${formatTime(new Date(since).toISOString())} are not counted yet.</span><button type="button" onClick=${reach}>Count earlier ones</button></div>`}
  </div>`;
};
