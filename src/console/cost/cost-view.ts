import { openInGraphiQL } from '../api/graphiql.ts';
import { useChains } from '../chains.ts';
import { type Bucket, type Series, TimeBars, TONES } from '../charts.ts';
import { Empty, html, Time } from '../components.ts';
import { counted, formatCount } from '../format.ts';
import { settings } from '../settings.ts';
import { type LedgerEntry, ledger, today, useStore } from '../state.ts';
import { explain } from './prices.ts';

const BARS = 60;
/** The operations that the chart tells apart: those that cost most. */
const TOLD = TONES.length - 1;
const [OTHERS, SAVED] = ['others', 'saved by the cache, about'];

type Chart = { readonly series: readonly Series[]; readonly buckets: readonly Bucket[] };

type Chains = ReturnType<typeof useChains>;

/**
 * The sums up to each part of the visit: what each operation has cost, and above it what pages that were kept have saved.
 * `earlier` is the cost of answers that are no longer in the list.
 */
const chartOf = (entries: readonly LedgerEntry[], earlier: number, chains: Chains): Chart => {
  const spent = new Map<string, number>();
  for (const { name, cost } of entries) spent.set(name, (spent.get(name) ?? 0) + cost.computeUnits);
  const paid = [...spent].filter(([, sum]) => sum > 0).toSorted(([, one], [, other]) => other - one);
  const told = paid.slice(0, TOLD).map(([name]) => name);
  const series: readonly Series[] = [
    ...(paid.length > TOLD || earlier > 0 ? [{ name: OTHERS, tone: 'grey' } as const] : []),
    ...told.map((name, index): Series => ({ name, tone: TONES[index] ?? 'grey' })),
    { name: SAVED, tone: 'shaded' },
  ];
  const parts = entries.flatMap((entry) => [
    { at: entry.at, of: told.includes(entry.name) ? entry.name : OTHERS, value: entry.cost.computeUnits },
    { at: entry.at, of: SAVED, value: explain(entry, chains).saved },
  ]);
  const [first, last] = [entries.at(-1)?.at ?? 0, entries[0]?.at ?? 0];
  const length = Math.max(1000, (last - first + 1) / BARS);
  // No bar is in the future.
  const buckets = Array.from({ length: Math.ceil((last - first + 1) / length) }, (_, index): Bucket => {
    const [start, end] = [first + index * length, first + (index + 1) * length];
    const values = series.map(({ name }) => {
      const own = parts.filter(({ at, of }) => of === name && at < end);
      return own.reduce((sum, { value }) => sum + value, name === OTHERS ? earlier : 0);
    });
    return { start, end, values };
  });
  return { series, buckets };
};

const Entry = ({ entry, chains }: { entry: LedgerEntry; chains: Chains }) => {
  const { name, at, durationMs, cost, failed } = entry;
  return html`<tr>
    <td><${Time} value=${new Date(at).toISOString()} /></td>
    <th scope="row">${name}${failed && html` <span class="tag bad">failed</span>`}</th>
    <td class="number">${cost.computeUnits}</td>
    <td class="number">${cost.requests}</td>
    <td class="number">${cost.cached}${cost.watched ? ` (${cost.watched} watched)` : ''}</td>
    <td class="number">${Math.round(durationMs)} ms</td>
    <td class="reason">${explain(entry, chains).reason}</td>
    <td>${settings.graphiql && html`<button type="button" onClick=${() => openInGraphiQL(entry)}>GraphiQL<span class="visually-hidden"> with ${name}</span></button>`}</td>
  </tr>`;
};

const Sums = () => {
  const { answers, requests, computeUnits, cached } = useStore(ledger);
  const sums = [
    ['compute units (CU)', computeUnits],
    ['requests to the service', requests],
    ['pages from cache', cached],
    ['answers', answers],
  ] as const;
  return html`<dl class="sums grid" style="--column: 9rem">
    ${sums.map(([name, sum]) => html`<div key=${name} class="panel"><dt>${name}</dt><dd>${formatCount(sum)}</dd></div>`)}
  </dl>`;
};

const Today = () => {
  const { computeUnits, requests } = useStore(today);
  return html`<p>Today: <strong>${formatCount(computeUnits)} CU</strong> in ${counted(requests, 'request', 'requests')}, over all visits with this browser. Other clients of the gateway are not counted.</p>`;
};

const Answers = ({ entries }: { entries: readonly LedgerEntry[] }) => {
  const chains = useChains();
  const { computeUnits } = useStore(ledger);
  const kept = entries.reduce((sum, { cost }) => sum + cost.computeUnits, 0);
  const { series, buckets } = chartOf(entries, computeUnits - kept, chains);
  return html`<div class="panel stack">
    <${TimeBars} label="CU since the visit began" buckets=${buckets} series=${series} unit="CU" />
    <div class="table" tabindex="0" role="region" aria-label="Answers">
      <table>
        <thead><tr><th scope="col">Time</th><th scope="col">Operation</th><th scope="col" class="number">CU</th><th scope="col" class="number">Requests</th><th scope="col" class="number">From cache</th><th scope="col" class="number">Took</th><th scope="col">Why</th><th scope="col"><span class="visually-hidden">Open</span></th></tr></thead>
        <tbody>${entries.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} chains=${chains} />`)}</tbody>
      </table>
    </div>
  </div>`;
};

/** What each answer of the visit has cost, newest first, and their sum. */
export const CostView = () => {
  const { entries } = useStore(ledger);
  return html`<section class="stack" aria-labelledby="cost-title">
    <h2 id="cost-title">What this visit has cost</h2>
    <p class="quiet">The service bills compute units for each request, whatever the size of the page. Each answer of the gateway says what it caused: <code>extensions.upstream</code>.</p>
    <${Sums} />
    <${Today} />
    ${
      entries.length === 0
        ? html`<${Empty} title="Nothing has been asked yet">Open a wallet: its cost appears here.<//>`
        : html`<${Answers} entries=${entries} />`
    }
  </section>`;
};
