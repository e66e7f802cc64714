import htm from 'htm';
import { type ComponentChildren, h, type VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isTransient, type Problem, titleOf } from './api/client.ts';
import { reachable } from './api/reachable.ts';
import type { Paged } from './api/use-connection.ts';
import { useExplorer, useExplorerNames, useMainChainIds } from './chains.ts';
import { counted, formatAge, formatCount, formatTime, formatUtc, shorten, shortHex } from './format.ts';
import { useLabel } from './labels.ts';
import { hrefOf, route, setParams } from './route.ts';
import { useStore } from './state.ts';

/** A template as elements: text stays text, so that no value of the service becomes markup. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

type LongTextProps = {
  text: string;
  label: string;
  said: string;
  most?: number;
};

/** A text of any length: its beginning, and a button that copies all. */
export const LongText = ({ text, label, said, most = 20_000 }: LongTextProps) =>
  html`<div>
    <p class="quiet">${said}${text.length > most && ', of which the beginning is shown'} <${CopyButton} text=${text} label=${label} /></p>
    <pre tabindex="0" role="group" aria-label=${label}>${shorten(text, most)}</pre>
  </div>`;

export const Bytes = ({ value, label }: { value: string; label: string }) => {
  const bytes = Math.max(0, value.length - 2) / 2;
  if (bytes === 0) return html`<p class="quiet">empty</p>`;
  return html`<${LongText} text=${value} label=${label} said=${counted(bytes, 'byte', 'bytes')} most=${4000} />`;
};

const COPIED_MS = 1500;

const copy = async (text: string): Promise<void> => {
  // Without TLS, the clipboard exists only on loopback.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
};

/** A button that copies the text, and says that it did. */
export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const [copied, setCopied] = useState(false);
  const onClick = async () => {
    await copy(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return html`<button type="button" class="plain copy" onClick=${onClick} aria-label=${copied ? `${label} copied` : `Copy ${label}`} title=${copied ? 'Copied' : `Copy ${label}`}>
    <svg class="glyph" aria-hidden="true" viewBox="0 0 16 16"><path d=${copied ? 'M3 8.5 6.5 12 13 4.5' : 'M6 5V2.5h7.5V10H11M2.5 5H10v8.5H2.5Z'} /></svg>
  </button>`;
};

type ExplorerLinkProps = {
  /** Of the explorer's page, such as `tx/0x…`. */
  path: string;
  /** Default: an arrow. */
  children?: ComponentChildren;
};

/** A link to a page of the shown chain's explorer. Nothing where the chain has none, or it is not known where its pages are. */
export const ExplorerLink = ({ path, children }: ExplorerLinkProps) => {
  const { name, url = null } = useExplorer() ?? {};
  if (url === null) return null;
  return html`<a class=${children ? '' : 'plain'} href=${`${url}/${path}`} target="_blank" rel="noopener noreferrer" title=${`In ${name}`}>${
    children ??
    html`<span class="visually-hidden">In ${name}</span><svg class="glyph" aria-hidden="true" viewBox="0 0 16 16"><path d="M6.5 3.5h-3v9h9v-3M9 3.5h3.5V7M12.5 3.5l-5 5" /></svg>`
  }</a>`;
};

/** Says that values in dollars are at the prices of now, where one of the chains has an explorer, which knows no others. */
export const PricesOfNow = ({ chainIds }: { chainIds: readonly (number | null)[] }) => {
  const names = useExplorerNames(chainIds);
  return (
    names.length > 0 && html`<p class="quiet">At today’s price: ${names.join(', ')} has no earlier ones.</p>`
  );
};

/** A hash, shortened, with a button that copies it whole. */
export const Hash = ({ value, label = 'hash' }: { value: string; label?: string }) =>
  html`<span class="hex"><span title=${value}>${shortHex(value)}</span><${CopyButton} text=${value} label=${label} /></span>`;

type TransactionHashProps = {
  value: string;
  /** Null where it is not known: then it leads nowhere. */
  chainId: number | null;
  /** Whose side it is seen from. */
  wallet?: string | null;
};

/** The hash of a transaction, which leads to its page. */
export const TransactionHash = ({ value, chainId, wallet }: TransactionHashProps) =>
  html`<span class="hex">${chainId === null ? html`<span title=${value}>${shortHex(value)}</span>` : html`<a href=${hrefOf('tx', [`${chainId}/${value}`], wallet ? { wallet } : {})} title=${value}>${shortHex(value)}</a>`}<${CopyButton} text=${value} label="transaction hash" /><${ExplorerLink} path=${`tx/${value}`} /></span>`;

/** An address by its name or shortened, which leads to its wallet, with a button that copies it. */
export const Address = ({ value, page = 'address' }: { value: string; page?: 'address' | 'token' }) =>
  html`<span class="hex"><a href=${hrefOf('wallet', [value])} title=${value}>${useLabel(value) ?? shortHex(value)}</a><${CopyButton} text=${value} label="address" /><${ExplorerLink} path=${`${page}/${value}`} /></span>`;

/**
 * A time where the reader is, or how long ago it was if it gets the present time; in UTC on hover. Beside a time of the same
 * day, it is without the date.
 */
export const Time = ({ value, now, beside }: { value: string; now?: number; beside?: string }) => {
  const local = formatTime(value, beside);
  return now === undefined
    ? html`<time datetime=${value} title=${formatUtc(value)}>${local}</time>`
    : html`<time datetime=${value} title=${`${local} here, ${formatUtc(value)}`}>${formatAge(value, now)}</time>`;
};

type Props = { title: string; onClose: () => void; children: ComponentChildren };

/** A modal dialog. The platform keeps the focus in it, and Escape closes it. Afterwards the focus is where it was. */
export const Dialog = ({ title, onClose, children }: Props) => {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const opened = element.current;
    const focused = document.activeElement;
    opened?.showModal();
    return () => {
      opened?.close();
      // It is removed before it is closed, so the platform does not restore the focus.
      if (focused instanceof HTMLElement && focused.isConnected) focused.focus();
    };
  }, []);
  const onCancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  // The browser closes it without asking when Escape is pressed again and again.
  const onClosed = () => {
    if (element.current) onClose();
  };
  return html`<dialog ref=${element} onCancel=${onCancel} onClose=${onClosed} aria-label=${title}>
    <header class="line"><h2>${title}</h2><button type="button" class="plain push" aria-label="Close" onClick=${onClose}>✕</button></header>
    ${children}
  </dialog>`;
};

type Fact = readonly [name: ComponentChildren, value: ComponentChildren];

/** Names with their values. Those without a value are left out. */
export const Facts = ({ facts }: { facts: readonly Fact[] }) =>
  html`<dl class="facts">
    ${facts
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
  </dl>`;

/** How far below the window the next page is asked for. */
const AHEAD = '600px';

/** Calls back when the element that gets this reference comes near the window. */
export const useReached = (isAwaited: boolean, onReached: () => void) => {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isAwaited || end.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) onReached();
      },
      { rootMargin: AHEAD },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isAwaited, onReached]);
  return end;
};

type LoadMoreProps = {
  list: Omit<Paged<unknown>, 'after' | 'change' | 'malformed' | 'reload' | 'items'> & {
    items: readonly unknown[];
  };
  what: string;
  /** What a page costs, in compute units. */
  price?: number;
  /** Whether only a click loads. Default: false. */
  isPaused?: boolean;
};

/** The end of a list: loads the next page when it comes near the window, or on a click. */
export const LoadMore = ({ list, what, price, isPaused = false }: LoadMoreProps) => {
  const { hasMore, isLoading, problem, loadMore, retry, items } = list;
  const follows = hasMore && !isLoading && problem === null && items.length > 0;
  const end = useReached(follows && !isPaused, loadMore);
  return html`<div class="stack tight quiet list-end" ref=${end}>
    ${problem && items.length > 0 && html`<${ProblemNotice} problem=${problem} onRetry=${retry} />`}
    ${follows && html`<button type="button" onClick=${loadMore}>Load more ${what}${price !== undefined && `: ${price} CU`}</button>`}
    ${isLoading && items.length > 0 && html`<span role="status">Loading more ${what}…</span>`}
    ${!hasMore && items.length > 0 && html`<span>${items.length > 1 ? `${items.length} ${what}: all of them.` : 'That is all.'}</span>`}
  </div>`;
};

type NoticeProps = { title: ComponentChildren; kind?: 'error' | 'transient'; children?: ComponentChildren };

/** What has gone wrong, and what helps. */
export const Notice = ({ title, kind = 'error', children }: NoticeProps) =>
  html`<div class=${`notice is-${kind}`} role="alert"><strong>${title}</strong>${children}</div>`;

type ProblemProps = { problem: Problem; onRetry?: (() => void) | undefined };

/** What went wrong, and a button to try again. What the gateway did not answer is asked again once it does. */
export const ProblemNotice = ({ problem, onRetry }: ProblemProps) => {
  const isBack = useStore(reachable) && problem.code === 'OFFLINE';
  useEffect(() => {
    if (isBack) onRetry?.();
  }, [isBack]);
  return html`<${Notice} title=${titleOf(problem)} kind=${isTransient(problem) ? 'transient' : 'error'}>
    <p>${problem.message}</p>
    ${problem.tooDear ? html`<${FewerChains} ...${problem.tooDear} />` : onRetry && html`<button type="button" onClick=${onRetry}>Try again</button>`}
  <//>`;
};

/** Offers as many of the chains as fit into what is allowed: to wait does not help. */
const FewerChains = ({ costs, most }: NonNullable<Problem['tooDear']>) => {
  const main = useMainChainIds();
  const { view, params } = useStore(route);
  const chosen = (params.get('chains') ?? '').split(',').filter(Boolean);
  const asked = chosen.length > 0 ? chosen : main;
  const fitting = view === 'wallet' ? asked.slice(0, Math.floor((asked.length * most) / costs)) : [];
  return html`<p>It may cost ${formatCount(costs)} CU, and at most ${formatCount(most)} are allowed. Waiting does not help: choose fewer chains.</p>
    ${fitting.length > 0 && html`<button type="button" onClick=${() => setParams({ chains: fitting.join() }, true)}>Look at ${counted(fitting.length, 'chain', 'chains')} only</button>`}`;
};

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) =>
  html`<div class="notice"><strong>${title}</strong>${children && html`<p>${children}</p>`}</div>`;

/** Grey lines in place of what is loading, of the same height. After some seconds they say that it is slow. */
export const Skeleton = ({ rows, kind = 'row' }: { rows: number; kind?: 'row' | 'card' }) =>
  html`<div class=${`skeleton ${kind === 'card' ? 'cards' : 'stack tight'}`} role="status" aria-label="Loading">
    <p>This takes longer than usual.</p>
    ${Array.from({ length: rows }, (_, index) => html`<span key=${index} />`)}
  </div>`;

type PlaceholderProps = {
  isLoading: boolean;
  problem: Problem | null | undefined;
  onRetry: () => void;
  rows: number;
  kind?: 'row' | 'card';
  /** What is shown if nothing failed and there is nothing. */
  children?: ComponentChildren;
};

/** Shown instead of content that is still loading, failed to load, or is empty. */
export const Placeholder = ({ isLoading, problem, onRetry, rows, kind, children }: PlaceholderProps) => {
  if (isLoading) return html`<${Skeleton} rows=${rows} kind=${kind} />`;
  return problem ? html`<${ProblemNotice} problem=${problem} onRetry=${onRetry} />` : children;
};

export type Tab = {
  readonly id: string;
  readonly title: string;
  /** What is said on hover. */
  readonly hint?: string | undefined;
};

type TabsProps = { label: string; tabs: readonly Tab[]; selected: string; onSelect: (id: string) => void };

export const tabId = (id: string): string => `${id}-tab`;
export const panelId = (id: string): string => `${id}-panel`;

const STEPS: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowLeft: (index, count) => (index + count - 1) % count,
  ArrowRight: (index, count) => (index + 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** The tabs of panels. The arrow keys choose among them; only the chosen one is a stop of the Tab key. */
export const TabList = ({ label, tabs, selected, onSelect }: TabsProps) => {
  const onKeyDown = (event: KeyboardEvent) => {
    const index = tabs.findIndex(({ id }) => id === selected);
    const next = tabs[STEPS[event.key]?.(index, tabs.length) ?? -1];
    if (!next) return;
    event.preventDefault();
    onSelect(next.id);
    document.getElementById(tabId(next.id))?.focus();
  };
  return html`<div class="bar tabs" role="tablist" aria-label=${label} onKeyDown=${onKeyDown}>
    ${tabs.map(
      ({ id, title, hint }) =>
        html`<button key=${id} type="button" role="tab" title=${hint} id=${tabId(id)} aria-selected=${id === selected} aria-controls=${panelId(id)} tabindex=${id === selected ? 0 : -1} onClick=${() => onSelect(id)}>${title}</button>`,
    )}
  </div>`;
};

const EVERY_MS = 20_000;

/** The present time, to show ages. It is updated every twenty seconds. */
export const useNow = (): number => {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
};
