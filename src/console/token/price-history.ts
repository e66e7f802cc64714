import { type TokenInput, TokenPrices } from '../__generated__/operations.ts';
import { useOperation } from '../api/use-answer.ts';
import { useReading } from '../charts.ts';
import { Empty, html, Placeholder } from '../components.ts';
import { formatChange, formatPrice, toneOf } from '../format.ts';
import { setParams, useParam } from '../route.ts';

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

/** How a price has changed since that many hours ago, from a ratio of the gateway. */
export const ChangeOf = ({ hoursAgo, ratio }: { hoursAgo: number; ratio: string | null }) => {
  const text = ratio === null ? '—' : formatChange(ratio);
  return html`<span class="quiet">${spanOf(hoursAgo)}</span> <strong class=${toneOf(text)}>${text}</strong>`;
};

/** The token's earlier prices. They are asked for when a span is chosen, which says what it costs. */
export const PriceHistory = ({ token }: { token: TokenInput }) => {
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
        ? html`<${Prices} key=${chosen.id} token=${token} every=${chosen.every} title=${chosen.title} />`
        : html`<p class="quiet">The service sells the prices of single hours, three for 2 CU. Each span is ${HOURS} of them; what was asked for in the last half minute is free.</p>`
    }
  </section>`;
};

type PricesProps = { token: TokenInput; every: number; title: string };

const Prices = ({ token, every, title }: PricesProps) => {
  const hours = Array.from({ length: HOURS }, (_, index) => (index + 1) * every);
  const { data, problems, isLoading, retry } = useOperation(TokenPrices, { token, hoursAgo: hours });
  const market = data?.token?.market;
  if (!market)
    return html`<${Placeholder} rows=${2} isLoading=${isLoading} problem=${problems[0]} onRetry=${retry} />`;
  const now = Date.now();
  const points: PricePoint[] = [{ hoursAgo: 0, priceUsd: market.priceUsd }, ...market.priceHistory]
    .flatMap(({ hoursAgo, priceUsd }) =>
      priceUsd === null ? [] : [{ at: now - hoursAgo * HOUR_MS, priceUsd }],
    )
    .toReversed();
  if (points.length < 2)
    return html`<${Empty} title="The service has no prices for this time">The token may be younger. Choose a shorter span.<//>`;
  return html`<${PriceChart} label=${`Price over ${title}`} points=${points} />
    ${points.length <= HOURS && html`<p class="quiet">${HOURS + 1 - points.length} of ${HOURS + 1} prices are missing: the token had none at these hours.</p>`}`;
};

type PricePoint = {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly priceUsd: string;
};

const HEIGHT = 220;
/** Room above the highest and below the lowest price, in pixels. */
const MARGIN = 12;

const local = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

const whenOf = (at: number): string => local.format(new Date(at));

/** A line of prices over time, the oldest first, at equal distances. A pointer or the arrow keys read single ones. */
const PriceChart = ({ label, points }: { label: string; points: readonly PricePoint[] }) => {
  const last = points.length - 1;
  const { chosen, attributes } = useReading(last, (part) => {
    const distances = points.map((point) => Math.abs(xOf(point) - part * 100));
    return distances.indexOf(Math.min(...distances));
  });
  const read = points[chosen ?? last];
  // Only the drawing is rounded: texts are formatted from the gateway's decimals.
  const values = points.map(({ priceUsd }) => Number(priceUsd));
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const span = most - least;
  const [start, end] = [points[0]?.at ?? 0, points[last]?.at ?? 1];
  const xOf = ({ at }: PricePoint): number => ((at - start) / (end - start)) * 100;
  const yOf = (value: number): number =>
    span === 0 ? HEIGHT / 2 : MARGIN + ((most - value) / span) * (HEIGHT - 2 * MARGIN);
  const line = points.map((point, index) => `${xOf(point)},${yOf(values[index] ?? 0)}`).join(' ');
  const [lowest, highest] = [points[values.indexOf(least)], points[values.indexOf(most)]];

  if (!read || !lowest || !highest) return null;
  return html`<figure>
    <figcaption><strong>${formatPrice(read.priceUsd)}</strong> <span class="quiet"><time datetime=${new Date(read.at).toISOString()} title=${new Date(read.at).toUTCString()}>${whenOf(read.at)}</time></span></figcaption>
    <div class="price-plot" aria-label=${label} aria-valuetext=${`${formatPrice(read.priceUsd)}, ${whenOf(read.at)}`} ...${attributes}>
      <svg height=${HEIGHT} viewBox=${`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <polygon points=${`0,${HEIGHT} ${line} 100,${HEIGHT}`} />
        <polyline points=${line} />
        <line class="cursor" x1=${xOf(read)} x2=${xOf(read)} y1="0" y2=${HEIGHT} />
      </svg>
      <svg class="marks" height=${HEIGHT} aria-hidden="true">
        ${points.map((point, index) => html`<circle key=${point.at} class=${point === read ? 'is-read' : ''} cx=${`${xOf(point)}%`} cy=${yOf(values[index] ?? 0)} r=${point === read ? 5 : 2.5} />`)}
      </svg>
    </div>
    <p class="bar quiet" aria-hidden="true"><span>${whenOf(start)}</span><span class="push">${whenOf(end)}</span></p>
    <p class="quiet">Lowest ${formatPrice(lowest.priceUsd)}, ${whenOf(lowest.at)}; highest ${formatPrice(highest.priceUsd)}, ${whenOf(highest.at)}.</p>
  </figure>`;
};
