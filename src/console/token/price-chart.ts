import { useState } from 'preact/hooks';
import { html } from '../components.ts';
import { formatUsd } from '../format.ts';

export type PricePoint = {
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

const MOVES: Readonly<Record<string, (index: number, last: number) => number>> = {
  ArrowLeft: (index) => Math.max(0, index - 1),
  ArrowRight: (index, last) => Math.min(last, index + 1),
  Home: () => 0,
  End: (_, last) => last,
};

const whenOf = (at: number): string => local.format(new Date(at));

/** A line of prices over time, the oldest first, at equal distances. A pointer or the arrow keys read single ones. */
export const PriceChart = ({ label, points }: { label: string; points: readonly PricePoint[] }) => {
  const last = points.length - 1;
  const [chosen, setChosen] = useState<number | null>(null);
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

  const onPointerMove = ({ clientX, currentTarget }: PointerEvent) => {
    if (!(currentTarget instanceof Element)) return;
    const { left, width } = currentTarget.getBoundingClientRect();
    const x = ((clientX - left) / width) * 100;
    const distances = points.map((point) => Math.abs(xOf(point) - x));
    setChosen(distances.indexOf(Math.min(...distances)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    setChosen(move(chosen ?? last, last));
  };
  if (!read || !lowest || !highest) return null;
  return html`<figure class="price-chart">
    <figcaption><strong>${formatUsd(read.priceUsd)}</strong> <span class="quiet"><time datetime=${new Date(read.at).toISOString()} title=${new Date(read.at).toUTCString()}>${whenOf(read.at)}</time></span></figcaption>
    <div class="price-plot" role="slider" tabindex="0" aria-label=${label} aria-valuemin="0" aria-valuemax=${last} aria-valuenow=${chosen ?? last} aria-valuetext=${`${formatUsd(read.priceUsd)}, ${whenOf(read.at)}`} onPointerMove=${onPointerMove} onPointerLeave=${() => setChosen(null)} onBlur=${() => setChosen(null)} onKeyDown=${onKeyDown}>
      <svg height=${HEIGHT} viewBox=${`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <polygon points=${`0,${HEIGHT} ${line} 100,${HEIGHT}`} />
        <polyline points=${line} />
        <line class="cursor" x1=${xOf(read)} x2=${xOf(read)} y1="0" y2=${HEIGHT} />
      </svg>
      <svg class="marks" height=${HEIGHT} aria-hidden="true">
        ${points.map((point, index) => html`<circle key=${point.at} class=${point === read ? 'is-read' : ''} cx=${`${xOf(point)}%`} cy=${yOf(values[index] ?? 0)} r=${point === read ? 5 : 2.5} />`)}
      </svg>
    </div>
    <p class="price-axis quiet" aria-hidden="true"><span>${whenOf(start)}</span><span>${whenOf(end)}</span></p>
    <p class="quiet">Lowest ${formatUsd(lowest.priceUsd)}, ${whenOf(lowest.at)}; highest ${formatUsd(highest.priceUsd)}, ${whenOf(highest.at)}.</p>
  </figure>`;
};
