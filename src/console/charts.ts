import { html } from './components.ts';

const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

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
