import type { ComponentChildren } from 'preact';
import { titleOf } from '../api/client.ts';
import { useChains } from '../chains.ts';
import { Empty, html, LoadMore, Placeholder, Time, useNow } from '../components.ts';
import { counted, formatCount } from '../format.ts';
import { problemsIn } from '../partial-errors.ts';
import { hrefOf, isHash } from '../route.ts';
import type { PanelProps, WalletList } from './use-wallet-list.ts';

type ListBodyProps = {
  list: WalletList<unknown>;
  what: string;
  kind: 'row' | 'card';
  /** What an empty list says: on which chains is added. */
  empty: string;
  /** What a page costs, in compute units, where that is known before. */
  price?: number;
  /** Whether only a click loads the next page, since rows are missing at its end for another reason. Default: false. */
  isPaused?: boolean;
  children: ComponentChildren;
};

const SKELETON_ROWS = 6;

/** A list in any state: its items, or what is shown instead. */
export const ListBody = ({ list: { list }, what, kind, empty, price, isPaused, children }: ListBodyProps) => {
  const { items, isLoading, problem, hasMore, retry, loadMore } = list;
  const isOne = useChains().length === 1;
  if (items.length > 0)
    return html`${children}<${LoadMore} list=${list} what=${what} price=${price} isPaused=${isPaused} />`;
  return html`<${Placeholder} rows=${SKELETON_ROWS} kind=${kind} isLoading=${isLoading} problem=${problem} onRetry=${retry}>
    ${
      hasMore
        ? html`<${Empty} title="Nothing on this page can be shown"><button type="button" onClick=${loadMore}>Load the next page</button><//>`
        : html`<${Empty} title=${`${empty} on ${isOne ? 'this chain' : 'these chains'}`}>${!isOne && 'Other chains may have some: choose them above.'}<//>`
    }
  <//>`;
};

type ListHeadProps = { list: WalletList<unknown>; children?: ComponentChildren };

const notesOf = ({ partialErrors, reloadProblem, list }: WalletList<unknown>) =>
  [
    reloadProblem &&
      list.items.length > 0 &&
      `The list could not be refreshed: ${titleOf(reloadProblem)}. What is shown is older.`,
    ...problemsIn(partialErrors),
    list.malformed > 0 && `${counted(list.malformed, 'item', 'items')} could not be read.`,
  ].filter(Boolean);

/** The head of a list: its age, its buttons, and its problems. */
export const ListHead = ({ list, children }: ListHeadProps) => {
  const now = useNow();
  const requestTime = list.newest?.requestTime;
  const { isLoading, reload } = list.list;
  const notes = notesOf(list);
  return html`<div class="bar">
      <button type="button" onClick=${reload}>Refresh</button>
      ${children}
      <span class="quiet push">${isLoading ? 'Loading…' : requestTime && html`as of <${Time} value=${requestTime} now=${now} />`}</span>
    </div>
    ${notes.length > 0 && html`<ul class="notes" aria-label="About this list">${notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>`}`;
};

type NotLoadedProps = PanelProps & { open: string };

/** Where a link opens a transaction that is not, or no longer, among the loaded ones: it has an address of its own. */
export const NotLoaded = ({ open, address, chainIds }: NotLoadedProps) => {
  if (!isHash(open)) return null;
  const [chainId] = chainIds;
  const place = chainIds.length === 1 ? `${chainId}/${open}` : open;
  return html`<p class="notes">The transaction that the link opens, <code>${open}</code>, is not among the loaded ones: load older ones, or <a href=${hrefOf('tx', [place], { wallet: address })}>open its own page</a>.</p>`;
};

const MOST = 1000;

/** The highest cost of loading further items. */
export type Estimate = { readonly requests: number; readonly computeUnits: number };

type LoadAllProps = {
  list: WalletList<unknown>;
  what: string;
  estimate: (shown: number, wanted: number) => Estimate;
};

/** Loads the rest of a list at once: the button says what that may cost. */
export const LoadAll = ({ list: { list, loadUpTo }, what, estimate }: LoadAllProps) => {
  const { items, hasMore, isLoading } = list;
  if (!hasMore || isLoading || items.length === 0 || items.length >= MOST) return null;
  const { requests, computeUnits } = estimate(items.length, MOST);
  const hint = `${counted(requests, 'request', 'requests')} to the service for the ${what} that are missing. Pages that the gateway has already cost nothing.`;
  return html`<button type="button" title=${hint} onClick=${() => loadUpTo(MOST)}>Load all up to ${formatCount(MOST)}, about ${formatCount(computeUnits)} CU</button>`;
};
