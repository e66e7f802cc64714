import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { html } from './components.ts';
import { counted } from './format.ts';

/** Charts as SVG. Widths are percentages, so a chart fits any place without measuring it. */

/** Colours that are easy to distinguish, in the order in which charts use them, and one for what is missing. */
export const TONES = ['blue', 'green', 'amber', 'violet', 'teal', 'rose'] as const;
type Tone = (typeof TONES)[number] | 'grey' | 'shaded';

const inTone = (tone: Tone) => ({ '--tone': `var(--${tone})` });

export type Bucket = {
  /** Milliseconds since the epoch; `end` is excluded. */
  readonly start: number;
  readonly end: number;
  /** One for each series, none below 0. */
  readonly values: readonly number[];
};

export type Series = { readonly name: string; readonly tone: Tone };

type TimeBarsProps = {
  label: string;
  /** One after another, without gaps, the oldest first. */
  buckets: readonly Bucket[];
  /** Stacked from the bottom to the top. */
  series: readonly Series[];
  /** What the values count: `events`. */
  unit: string;
};

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/**
 * Lets a pointer or the arrow keys choose one of a chart's places, from 0 to `last`. `placeAt` finds the one at a part of the
 * width, from 0 to 1. Returns the chosen place, null for none, and the attributes of the element that is read.
 */
export const useReading = (last: number, placeAt: (part: number) => number) => {
  const [chosen, setChosen] = useState<number | null>(null);
  const leave = () => setChosen(null);
  const attributes = {
    role: 'slider',
    tabindex: 0,
    'aria-valuemin': 0,
    'aria-valuemax': last,
    'aria-valuenow': chosen ?? last,
    onPointerMove({ clientX, currentTarget }: PointerEvent) {
      if (!(currentTarget instanceof Element)) return;
      const { left, width } = currentTarget.getBoundingClientRect();
      setChosen(placeAt((clientX - left) / width));
    },
    onPointerLeave: leave,
    onBlur: leave,
    onKeyDown(event: KeyboardEvent) {
      const step = STEPS[event.key];
      if (event.key === 'Escape') leave();
      else if (step !== undefined) setChosen(Math.min(last, Math.max(0, (chosen ?? last) + step)));
      else return;
      event.preventDefault();
    },
  };
  return { chosen, attributes };
};

const HEIGHT = 120;

/** Bars over time, stacked by series, with axes. A pointer or the arrow keys choose a bar, which says what it holds. */
export const TimeBars = ({ label, buckets, series, unit }: TimeBarsProps) => {
  const count = buckets.length;
  const last = Math.max(0, count - 1);
  const { chosen, attributes } = useReading(last, (part) =>
    Math.min(last, Math.max(0, Math.floor(part * count))),
  );
  const present = chosen === null ? undefined : buckets[chosen];
  const ticks = valueTicks(buckets.map(sumOf));
  const top = ticks.at(-1) ?? 1;

  return html`<figure class="chart small">
    <figcaption class="bar quiet"><span>${label}</span><${Legend} series=${series} /></figcaption>
    <div class="plot">
      <ol class="values" aria-hidden="true">${ticks.toReversed().map((value) => html`<li key=${value}>${compact.format(value)}</li>`)}</ol>
      <div class="bars" aria-label=${label} aria-valuetext=${count === 0 ? 'empty' : textOf(present ?? buckets.at(-1), series, unit)} ...${attributes}>
        <svg height=${HEIGHT} aria-hidden="true">
          ${ticks.map((value) => html`<line key=${value} x1="0" x2="100%" y1=${heightOf(top - value, top)} y2=${heightOf(top - value, top)} />`)}
          ${buckets.map((bucket, index) => html`<${Bar} key=${bucket.start} bucket=${bucket} left=${(index / count) * 100} width=${100 / count} series=${series} top=${top} />`)}
          ${present && chosen !== null && html`<rect class="chosen" x=${`${(chosen / count) * 100}%`} width=${`${100 / count}%`} y="0" height=${HEIGHT} />`}
        </svg>
        ${present && chosen !== null && html`<${Tip} bucket=${present} at=${(chosen + 0.5) / count} series=${series} unit=${unit} />`}
      </div>
      <${TimeAxis} buckets=${buckets} />
    </div>
  </figure>`;
};

const sumOf = ({ values }: Bucket): number => values.reduce((sum, value) => sum + value, 0);

const heightOf = (value: number, top: number): number => (value / top) * (HEIGHT - 1) + 0.5;

type BarProps = { bucket: Bucket; left: number; width: number; series: readonly Series[]; top: number };

const Bar = ({ bucket, left, width, series, top }: BarProps) => {
  let below = 0;
  return bucket.values.map((value, index) => {
    if (value <= 0) return null;
    below += value;
    const height = (value / top) * HEIGHT;
    return html`<rect key=${index} class="tone" style=${inTone(series[index]?.tone ?? 'grey')} x=${`${left + width * 0.06}%`} width=${`${width * 0.88}%`} y=${HEIGHT - (below / top) * HEIGHT} height=${height} />`;
  });
};

const Legend = ({ series }: { series: readonly Series[] }) =>
  html`<ul class="bar legend push">${series.map(({ name, tone }) => html`<li key=${name}><${Swatch} tone=${tone} />${name}</li>`)}</ul>`;

const Swatch = ({ tone, colour }: { tone: Tone } & Pick<Part, 'colour'>) =>
  html`<svg class="swatch" aria-hidden="true"><rect class=${colour ? 'of-asset' : 'tone'} style=${colour ?? inTone(tone)} width="100%" height="100%" /></svg>`;

const between = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat('en-US', { notation: 'compact' });

const rangeOf = ({ start, end }: Bucket): string => between.formatRange(start, end);

const textOf = (bucket: Bucket | undefined, series: readonly Series[], unit: string): string => {
  if (bucket === undefined) return '';
  const parts = series.flatMap(({ name }, index) => {
    const value = bucket.values[index] ?? 0;
    return value > 0 ? [`${exact.format(value)} ${name}`] : [];
  });
  const split = parts.length > 0 ? `: ${parts.join(', ')}` : '';
  return `${rangeOf(bucket)}: ${exact.format(sumOf(bucket))} ${unit}${split}`;
};

type TipProps = { bucket: Bucket; at: number; series: readonly Series[]; unit: string };

/** What the chosen bar holds, beside it on the side that has room. */
const Tip = ({ bucket, at, series, unit }: TipProps) => {
  const shown = series
    .map(({ name, tone }, index) => ({ name, tone, value: bucket.values[index] ?? 0 }))
    .filter(({ value }) => value > 0);
  const place = at < 0.5 ? { left: `${at * 100}%` } : { right: `${(1 - at) * 100}%` };
  return html`<div class="popup tip" style=${place} aria-hidden="true">
    <div class="quiet">${rangeOf(bucket)}</div>
    <strong>${exact.format(sumOf(bucket))} ${unit}</strong>
    <ul>${shown.toReversed().map(({ name, tone, value }) => html`<li key=${name}><${Swatch} tone=${tone} />${name}<span class="push">${exact.format(value)}</span></li>`)}</ul>
  </div>`;
};

/** At most five steps from 0 to the highest value or just above it, each 1, 2 or 5 of a power of ten. */
const valueTicks = (values: readonly number[]): number[] => {
  const most = Math.max(0, ...values);
  const rough = Math.max(most, Number.MIN_VALUE) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = ([1, 2, 5].find((step) => step * power >= rough) ?? 10) * power;
  const step = values.every(Number.isInteger) ? Math.max(1, nice) : nice;
  const steps = Math.max(1, Math.ceil(most / step - 1e-9));
  return Array.from({ length: steps + 1 }, (_, index) => index * step);
};

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];

/** Seconds between two marks of the time axis, for spans of at most some weeks. */
const TIME_STEPS: readonly number[] = [
  ...[1, 5, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY],
];

/** As many as a phone has room for. */
const MAX_MARKS = 5;

/** A mark for each round local time of the buckets. */
const TimeAxis = ({ buckets }: { buckets: readonly Bucket[] }) => {
  const [start, end] = [buckets[0]?.start ?? 0, buckets.at(-1)?.end ?? 0];
  if (end <= start) return null;
  const step = TIME_STEPS.find((seconds) => (end - start) / 1000 / seconds <= MAX_MARKS) ?? 14 * DAY;
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(step < DAY ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' }),
    ...(step < MINUTE && { second: '2-digit' }),
  });
  const midnight = new Date(start).setHours(0, 0, 0, 0);
  const times = Array.from({ length: Math.ceil((end - midnight) / 1000 / step) + 1 }, (_, index) =>
    // Seconds beyond the minute are a later time of the clock, also where the clock is changed.
    new Date(midnight).setHours(0, 0, index * step),
  );
  return html`<svg class="times" height="20" aria-hidden="true">
    ${times
      .filter((time) => time >= start && time < end)
      .map((time) => {
        const part = (time - start) / (end - start);
        const x = `${part * 100}%`;
        // A text in the middle of a mark at the edge would leave the chart.
        const anchor = part > 0.95 ? 'end' : part < 0.05 ? 'start' : 'middle';
        return html`<g key=${time}><line x1=${x} x2=${x} y1="0" y2="4" /><text x=${x} y="16" style=${`text-anchor: ${anchor}`}>${format.format(time)}</text></g>`;
      })}
  </svg>`;
};

/** A line of the values in their order, from the lowest to the highest, for a glance. It has no axes. */
export const Sparkline = ({ label, values }: { label: string; values: readonly number[] }) => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const span = most - least || 1;
  const points = values.map(
    (value, index) =>
      `${(index / Math.max(1, values.length - 1)) * 100},${23 - ((value - least) / span) * 22}`,
  );
  const range = values.length === 0 ? 'empty' : `from ${exact.format(least)} to ${exact.format(most)}`;
  return html`<svg class="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label=${`${label}: ${range}`}>
    <polyline points=${points.join(' ')} />
  </svg>`;
};

type Part = {
  readonly name: ComponentChildren;
  /** The colour that it has everywhere. Default: one by its rank. */
  readonly colour?: Readonly<Record<'--hue', number>>;
  /** Its size, in any unit that the parts have in common. */
  readonly share: number;
  /** What the legend says of it: its value. */
  readonly text?: ComponentChildren;
};

const MOST_PARTS = TONES.length;
const GREY: Tone = 'grey';
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** One bar of the parts of a whole, the largest first, with a legend. What is beyond the sixth part are the others. */
export const ShareBar = ({ label, parts }: { label: string; parts: readonly Part[] }) => {
  const sorted = parts.filter(({ share }) => share > 0).toSorted((a, b) => b.share - a.share);
  const whole = sorted.reduce((sum, { share }) => sum + share, 0);
  const others = sorted.slice(MOST_PARTS);
  const rest = others.reduce((sum, { share }) => sum + share, 0);
  const shown: readonly (Part & { tone: Tone })[] = [
    ...sorted.slice(0, MOST_PARTS).map((part, index) => ({ ...part, tone: TONES[index] ?? GREY })),
    ...(others.length > 0
      ? [{ name: counted(others.length, 'other', 'others'), share: rest, tone: GREY }]
      : []),
  ];
  let left = 0;
  return html`<figure class="chart share small">
    <figcaption class="quiet">${label}</figcaption>
    <svg height="12" aria-hidden="true">
      ${shown.map(({ share, tone, colour }) => {
        const x = (left / whole) * 100;
        left += share;
        return html`<rect key=${tone} class=${colour ? 'of-asset' : 'tone'} style=${colour ?? inTone(tone)} x=${`${x}%`} width=${`${(share / whole) * 100}%`} height="12" />`;
      })}
    </svg>
    <ul class="legend">
      ${shown.map(({ name, share, text, tone, colour }) => html`<li key=${tone} class="in-columns"><${Swatch} tone=${tone} colour=${colour} /><span class="name">${name}</span>${text !== undefined && html`<span>${text}</span>`}<span class="quiet">${percent.format(share / whole)}</span></li>`)}
    </ul>
  </figure>`;
};

type MeterProps = { label: string; value: number; most: number; text: string };

/** How much of `most` the value is, with a text beside the bar that says it. */
export const Meter = ({ label, value, most, text }: MeterProps) => {
  const part = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0;
  return html`<div class="meter small" role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax=${most} aria-valuenow=${Math.min(most, Math.max(0, value))} aria-valuetext=${text}>
    <span class="name">${label}</span>
    <svg height="8" aria-hidden="true"><rect class="track" width="100%" height="8" rx="4" /><rect class="tone" style=${inTone('blue')} width=${`${part * 100}%`} height="8" rx="4" /></svg>
    <span>${text}</span>
  </div>`;
};
