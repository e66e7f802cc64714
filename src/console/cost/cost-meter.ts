import { formatCount } from '../format/units.ts';
import { html } from '../html.ts';
import { ledger } from '../state/ledger.ts';
import { hrefOf } from '../state/route.ts';
import { useStore } from '../state/store.ts';

/** What the visit has cost so far, and its last answer. */
export const CostMeter = () => {
  const { computeUnits, requests, entries } = useStore(ledger);
  const last = entries[0];
  return html`<a class="cost-meter" href=${hrefOf('cost')} title="What this visit has cost">
    <strong>${formatCount(computeUnits)} CU</strong>
    <span>${formatCount(requests)} ${requests === 1 ? 'request' : 'requests'}${last && `, last +${last.cost.computeUnits}`}</span>
  </a>`;
};
