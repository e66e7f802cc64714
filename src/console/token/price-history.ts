import { useCallback } from 'preact/hooks';
import { TokenPrices } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import { useAnswer } from '../api/use-answer.ts';
import { Empty, html, ProblemNotice, Skeleton } from '../components.ts';
import { setParams, useParam } from '../route.ts';
import { PriceChart, type PricePoint } from './price-chart.ts';
import { inputOf, type TokenPlace } from './token-of.ts';

const HOUR_MS = 3_600_000;
/** The service sells prices of single hours. One operation has room for 12 of them. */
const HOURS = 12;
/** Two CU for every three hours. */
const CU = 8;

/** Spans of time, each with the hours between its prices. */
const SPANS = [
  { id: 'day', title: '24 hours', every: 2 },
  { id: 'week', title: '7 days', every: 14 },
  { id: 'month', title: '30 days', every: 60 },
] as const;

const spanOf = (hours: number): string => (hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`);

const percent = new Intl.NumberFormat('en-US', {
  style: 'percent',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  signDisplay: 'exceptZero',
});

/** How a price has changed since that many hours ago, from a ratio of the gateway. */
export const ChangeOf = ({ hoursAgo, ratio }: { hoursAgo: number; ratio: string | null }) => {
  const change = Number(ratio);
  const tone = ratio === null || change === 0 ? 'quiet' : change > 0 ? 'good' : 'bad';
  return html`<span class="quiet">${spanOf(hoursAgo)}</span> <strong class=${tone}>${ratio === null ? '—' : percent.format(change)}</strong>`;
};

/** The token's earlier prices. They are asked for when a span is chosen, which says what it costs. */
export const PriceHistory = ({ place }: { place: TokenPlace }) => {
  const [id] = useParam('span');
  const chosen = SPANS.find((span) => span.id === id);
  return html`<section class="panel stack" aria-labelledby="token-history">
    <div class="bar">
      <h3 id="token-history">Price history</h3>
      <span class="bar push" role="group" aria-label="Span of the price history">
        ${SPANS.map((span) => html`<button key=${span.id} type="button" aria-pressed=${span === chosen} onClick=${() => setParams({ span: span.id })}>${span.title}<span class="price">${CU} CU</span></button>`)}
      </span>
    </div>
    ${
      chosen
        ? html`<${Prices} key=${chosen.id} place=${place} every=${chosen.every} title=${chosen.title} />`
        : html`<p class="quiet">The service sells the prices of single hours, three for 2 CU. Each span is ${HOURS} of them; what was asked for in the last half minute is free.</p>`
    }
  </section>`;
};

type PricesProps = { place: TokenPlace; every: number; title: string };

const Prices = ({ place, every, title }: PricesProps) => {
  const load = useCallback(
    (signal: AbortSignal) => {
      const hoursAgo = Array.from({ length: HOURS }, (_, index) => (index + 1) * every);
      return send(TokenPrices, { token: inputOf(place), hoursAgo }, signal);
    },
    [place, every],
  );
  const { data, problems, isLoading, retry } = useAnswer(load);
  const [problem] = problems;
  const market = data?.token?.market;
  if (isLoading) return html`<${Skeleton} rows=${2} />`;
  if (!market) return problem ? html`<${ProblemNotice} problem=${problem} onRetry=${retry} />` : null;
  const now = Date.now();
  const points: PricePoint[] = [{ hoursAgo: 0, priceUsd: market.priceUsd }, ...market.priceHistory]
    .flatMap(({ hoursAgo, priceUsd }) =>
      priceUsd === null ? [] : [{ at: now - hoursAgo * HOUR_MS, priceUsd }],
    )
    .toReversed();
  if (points.length < 2)
    return html`<${Empty} title="The service has no price of this time">The token may be younger. Choose a shorter span.<//>`;
  return html`<${PriceChart} label=${`Price over ${title}`} points=${points} />
    ${points.length <= HOURS && html`<p class="quiet">${HOURS + 1 - points.length} of ${HOURS + 1} prices are missing: the token had none at these hours.</p>`}`;
};
