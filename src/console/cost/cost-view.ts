import { openInGraphiQL } from '../api/graphiql.ts';
import { useChains } from '../chain-filter.ts';
import { type Bucket, TimeBars } from '../charts.ts';
import { Empty, html, Time } from '../components.ts';
import { formatCount } from '../format.ts';
import { hrefOf } from '../route.ts';
import { settings } from '../settings.ts';
import { type LedgerEntry, ledger, useStore } from '../state.ts';
import { explain } from './prices.ts';

/** What the visit has cost so far, and its last answer. */
export const CostMeter = () => {
  const { computeUnits, requests, entries } = useStore(ledger);
  const last = entries[0];
  return html`<a class="cost-meter" href=${hrefOf('cost')} title="What this visit has cost">
    <strong>${formatCount(computeUnits)} CU</strong>
    <span>${formatCount(requests)} ${requests === 1 ? 'request' : 'requests'}${last && `, last +${last.cost.computeUnits}`}</span>
  </a>`;
};

const BARS = 60;

/** The CU of the answers in each part of the visit, of equal length. */
const bucketsOf = (entries: readonly LedgerEntry[]): readonly Bucket[] => {
  const [first, last] = [entries.at(-1)?.at ?? 0, entries[0]?.at ?? 0];
  const length = Math.max(1000, (last - first + 1) / BARS);
  return Array.from({ length: BARS }, (_, index) => {
    const [start, end] = [first + index * length, first + (index + 1) * length];
    const spent = entries.filter(({ at }) => at >= start && at < end);
    return { start, end, values: [spent.reduce((sum, { cost }) => sum + cost.computeUnits, 0)] };
  });
};

const Entry = ({ entry, chains }: { entry: LedgerEntry; chains: ReturnType<typeof useChains> }) => {
  const { name, at, durationMs, cost, failed } = entry;
  return html`<tr>
    <td><${Time} value=${new Date(at).toISOString()} /></td>
    <th scope="row">${name}${failed && html` <span class="tag is-bad">failed</span>`}</th>
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
  return html`<dl class="sums">
    ${sums.map(([name, sum]) => html`<div key=${name}><dt>${name}</dt><dd>${formatCount(sum)}</dd></div>`)}
  </dl>`;
};

const Answers = ({ entries }: { entries: readonly LedgerEntry[] }) => {
  const chains = useChains();
  return html`<div class="panel stack">
    <${TimeBars} label="CU of the answers of this visit" buckets=${bucketsOf(entries)} series=${[{ name: 'CU', tone: 'blue' }]} unit="CU" />
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
    ${
      entries.length === 0
        ? html`<${Empty} title="Nothing has been asked yet">Open a wallet: its cost appears here.<//>`
        : html`<${Answers} entries=${entries} />`
    }
  </section>`;
};
