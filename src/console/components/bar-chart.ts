import { html } from '../html.ts';

const [WIDTH, HEIGHT, GAP] = [600, 80, 1];

/** One bar for each value, the newest on the right. */
export const BarChart = ({
  label,
  values,
  nameOf,
}: {
  label: string;
  values: readonly number[];
  /** What a bar stands for: `3 minutes ago`. */
  nameOf: (index: number) => string;
}) => {
  const most = Math.max(1, ...values);
  const width = WIDTH / Math.max(1, values.length);
  return html`<figure class="chart">
    <figcaption>${label} <span>most: ${most === 1 && !values.includes(1) ? 0 : most}</span></figcaption>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${`${label}: ${values.filter((value) => value > 0).length} of ${values.length} bars are above 0, the highest is ${Math.max(0, ...values)}`}>
      ${values.map((value, index) => {
        const height = (value / most) * (HEIGHT - 2);
        return html`<rect key=${index} x=${index * width} y=${HEIGHT - height} width=${Math.max(1, width - GAP)} height=${height}><title>${nameOf(index)}: ${value}</title></rect>`;
      })}
      <line x1="0" x2=${WIDTH} y1=${HEIGHT} y2=${HEIGHT} />
    </svg>
  </figure>`;
};
