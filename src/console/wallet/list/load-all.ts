import { useState } from 'preact/hooks';
import { Dialog } from '../../components/dialog.ts';
import { formatCount } from '../../format/units.ts';
import { html } from '../../html.ts';
import type { WalletList } from './use-wallet-list.ts';

const MOST = 1000;

/** What loading so many more items takes at most. */
export type Estimate = { readonly requests: number; readonly computeUnits: number };

type Props = {
  list: WalletList<unknown>;
  what: string;
  estimate: (shown: number, wanted: number) => Estimate;
};

const counted = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** Loads the rest of a list at once, once it has said what that may cost. */
export const LoadAll = ({ list, what, estimate }: Props) => {
  const [isAsking, setAsking] = useState(false);
  const { items, hasMore, isLoading } = list.list;
  if (!isAsking && (!hasMore || isLoading || items.length === 0 || items.length >= MOST)) return null;
  const { requests, computeUnits } = estimate(items.length, MOST);
  const close = () => setAsking(false);
  const load = () => {
    close();
    list.loadUpTo(MOST);
  };
  return html`<button type="button" onClick=${() => setAsking(true)}>Load all up to ${formatCount(MOST)}</button>
    ${
      isAsking &&
      html`<${Dialog} title=${`Load up to ${formatCount(MOST)} ${what}?`} onClose=${close}>
        <div class="stack">
          <p>${formatCount(items.length)} are here. For the others the gateway may ask the service about ${counted(requests, 'time', 'times')}, which costs about ${formatCount(computeUnits)} CU. Pages that it has already cost nothing.</p>
          <div class="bar"><button type="button" class="primary" onClick=${load}>Load them</button><button type="button" onClick=${close}>Cancel</button></div>
        </div>
      <//>`
    }`;
};
