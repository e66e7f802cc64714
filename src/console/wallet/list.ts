import type { ComponentChildren } from 'preact';
import { useCallback, useMemo, useRef } from 'preact/hooks';
import type { Operation } from '../__generated__/operations.ts';
import { send, titleOf } from '../api/client.ts';
import { type Connection, type Paged, type PagedState, useConnection } from '../api/use-connection.ts';
import { useChains } from '../chains.ts';
import { Empty, html, LoadMore, Placeholder, Time, useNow } from '../components.ts';
import { counted, formatCount } from '../format.ts';
import { problemsIn } from '../partial-errors.ts';
import { createMemory, hrefOf, isHash, type Memory, useParam } from '../route.ts';

/** The lists of wallets: how each is read, and what is the same of all that are shown. */

/** What a panel of a wallet shows: the wallet, and its chains; none of them means the main ones. */
export type PanelProps = { readonly address: string; readonly chainIds: readonly number[] };

type Page<Node> = Connection<Node> & { readonly partialErrors: unknown; readonly requestTime: string | null };

/** One of the lists of wallets. `Shown` is what a page says beside its items, too. */
type Source<Variables, Data, Node, Shown extends Page<Node>> = {
  readonly pageSize: number;
  readonly operation: Operation<Data, Variables>;
  /** The page in an answer; null where it could not be read. */
  readonly pageIn: (data: Data) => (Page<Node> & Shown) | null;
  /** What is kept of it for Back. */
  readonly kept: Memory<PagedState<Node, Shown>>;
};

/** Describes one of the lists of wallets, once for all wallets. */
export const walletList = <Variables, Data, Node, Shown extends Page<Node>>(
  pageSize: number,
  operation: Operation<Data, Variables>,
  pageIn: (data: Data) => (Page<Node> & Shown) | null,
): Source<Variables, Data, Node, Shown> => ({ pageSize, operation, pageIn, kept: createMemory() });

/** What is asked for beside the range of a page. */
type Asked<Variables> = Omit<Variables, 'first' | 'after'>;

const keyOf = (asked: unknown): string => JSON.stringify(asked);

/** Whether Back or Forward has led to a list that is kept: then it costs nothing. */
export const isKept = <Variables, Data, Node, Shown extends Page<Node>>(
  { kept }: Source<Variables, Data, Node, Shown>,
  asked: Asked<Variables>,
): boolean => kept.recall(keyOf(asked)) !== null;

export type WalletList<Node, Shown = Page<Node>> = Paged<Node, Shown> & {
  readonly nodes: readonly Node[];
  /** Loads the next page with as many items as are missing up to this number. */
  loadUpTo(count: number): void;
};

/** A list of a wallet. It is kept for Back under what is asked for. */
export const useWalletList = <Variables, Data, Node, Shown extends Page<Node>>(
  { pageSize, operation, pageIn, kept }: Source<Variables, Data, Node, Shown>,
  asked: Asked<Variables>,
): WalletList<Node, Shown> => {
  const name = keyOf(asked);
  const nextSize = useRef(pageSize);
  const load = useCallback(
    async (after: string | null, signal: AbortSignal) => {
      const variables = { ...asked, first: nextSize.current, after } as Variables;
      const { data, problems } = await send(operation, variables, signal);
      const connection = data && pageIn(data);
      // A page that failed is retried with the same size.
      if (connection !== null) nextSize.current = pageSize;
      return { connection, problems };
    },
    [operation, name],
  );
  const list = useConnection<Node, Shown>(load, kept, name);
  const { items, isLoading, loadMore } = list;
  const nodes = useMemo(() => items.map(({ node }) => node), [items]);
  const loadUpTo = (count: number) => {
    if (isLoading || items.length >= count) return;
    nextSize.current = count - items.length;
    loadMore();
  };
  return { ...list, nodes, loadUpTo };
};

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
export const ListBody = ({ list, what, kind, empty, price, isPaused, children }: ListBodyProps) => {
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

const notesOf = ({ items, pages, problem, isReload, malformed }: WalletList<unknown>) =>
  [
    problem !== null &&
      isReload &&
      items.length > 0 &&
      `The list could not be refreshed: ${titleOf(problem)}. What is shown is older.`,
    ...problemsIn(pages.findLast(({ partialErrors }) => partialErrors !== null)?.partialErrors),
    malformed > 0 && `${counted(malformed, 'item', 'items')} could not be read.`,
  ].filter(Boolean);

/** The head of a list: its age, its buttons, and its problems. */
export const ListHead = ({ list, children }: ListHeadProps) => {
  const now = useNow();
  const { isLoading, reload, pages } = list;
  const requestTime = pages[0]?.requestTime;
  const notes = notesOf(list);
  return html`<div class="bar">
      <button type="button" onClick=${reload}>Refresh</button>
      ${children}
      <span class="quiet push">${isLoading ? 'Loading…' : requestTime && html`as of <${Time} value=${requestTime} now=${now} />`}</span>
    </div>
    ${notes.length > 0 && html`<ul class="notes" aria-label="About this list">${notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>`}`;
};

/** Searches what is loaded of a list: the text is in the address bar. */
export const FindField = ({ placeholder }: { placeholder: string }) => {
  const [find, setFind] = useParam('find');
  return html`<label class="field">Search
    <input type="search" value=${find} placeholder=${placeholder} spellcheck=${false} autocomplete="off" onInput=${(event: Event) => setFind((event.currentTarget as HTMLInputElement).value)} />
  </label>`;
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
export const LoadAll = ({ list, what, estimate }: LoadAllProps) => {
  const { items, hasMore, isLoading, loadUpTo } = list;
  if (!hasMore || isLoading || items.length === 0 || items.length >= MOST) return null;
  const { requests, computeUnits } = estimate(items.length, MOST);
  const hint = `${counted(requests, 'request', 'requests')} to the service for the ${what} that are missing. Pages that the gateway has already cost nothing.`;
  return html`<button type="button" title=${hint} onClick=${() => loadUpTo(MOST)}>Load all up to ${formatCount(MOST)}, about ${formatCount(computeUnits)} CU</button>`;
};
