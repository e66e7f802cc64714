import { html } from '../components.ts';
import { counted, formatCount } from '../format.ts';
import { hrefOf } from '../route.ts';
import { ledger, useStore } from '../state.ts';

export const CostMeter = () => {
  const { computeUnits, requests, entries } = useStore(ledger);
  const last = entries[0];
  return html`<a class="cost-meter" href=${hrefOf('cost')} title="What this visit has cost">
    <strong>${formatCount(computeUnits)} CU</strong>
    <span>${counted(requests, 'request', 'requests')}${last && `, last +${last.cost.computeUnits}`}</span>
  </a>`;
};
