import type { FunctionComponent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { WalletAddress, WalletName } from '../__generated__/operations.ts';
import { useOperation } from '../api/use-answer.ts';
import { Avatar } from '../avatar.ts';
import { ChainFilter, useChainIds } from '../chain-filter.ts';
import { isSupported, OnChain, useChainNames, useChains, useDelivers } from '../chains.ts';
import {
  CopyButton,
  Dialog,
  ExplorerLink,
  html,
  Notice,
  ProblemNotice,
  panelId,
  type Tab,
  TabList,
  tabId,
} from '../components.ts';
import { type Priced, priceOf } from '../cost/prices.ts';
import { counted, formatCount, shorten, shortHex } from '../format.ts';
import { nameOfAddress, useLabel } from '../labels.ts';
import { lazy } from '../lazy.ts';
import {
  hrefOf,
  insteadOfAddress,
  isAddress,
  isMixed,
  MOST_WALLETS,
  navigate,
  replacePart,
  route,
  setParams,
  useParam,
} from '../route.ts';
import { settings } from '../settings.ts';
import { EditLabel } from '../start/own-labels.ts';
import { useStore } from '../state.ts';
import type { PanelProps } from './list.ts';
import { Overview, Together } from './overview.ts';
import { readWatched, WatchButton } from './watched.ts';

const HomeView = lazy(async () => (await import('../start/home-view.ts')).HomeView);
const Activity = lazy(async () => (await import('../activity/activity.ts')).Activity);
const Tokens = lazy(async () => (await import('./tokens.ts')).Tokens);
const Collectibles = lazy(async () => (await import('./collectibles.ts')).Collectibles);
const DefiPositions = lazy(async () => (await import('./defi.ts')).DefiPositions);
const Approvals = lazy(async () => (await import('./approvals.ts')).Approvals);
const Transactions = lazy(async () => (await import('./transactions.ts')).Transactions);

/**
 * The tabs of a wallet. A panel asks for what it shows when its tab is first opened, and stays while the wallet is shown.
 * Its other state belongs into the address bar, where wallets side by side share it.
 */
const TABS = [
  { id: 'overview', title: 'Overview', reads: ['balances'], Panel: Overview },
  { id: 'activity', title: 'Activity', reads: ['activity'], Panel: Activity },
  { id: 'tokens', title: 'Tokens', reads: ['balances'], Panel: Tokens },
  { id: 'collectibles', title: 'Collectibles', reads: ['collectibles'], Panel: Collectibles },
  { id: 'defi', title: 'DeFi', reads: null, Panel: DefiPositions },
  { id: 'approvals', title: 'Approvals', reads: ['approvals', 'balances'], Panel: Approvals },
  { id: 'transactions', title: 'Transactions', reads: ['transactions'], Panel: Transactions },
] as const satisfies readonly (Tab & {
  /** What is read when it is opened; null if nothing is. */
  readonly reads: readonly Priced[] | null;
  readonly Panel: FunctionComponent<PanelProps>;
})[];

/** The wallets in the address bar, or a start page if there are none. */
export const WalletView = () => {
  const { path, addresses } = useStore(route);
  const shown = addresses.slice(0, MOST_WALLETS);
  const hasWallets = shown.length > 0;
  useEffect(() => {
    if (hasWallets) void readWatched();
  }, [hasWallets]);
  const unread = html`<${Unread} parts=${path.filter((part) => !isAddress(part))} more=${addresses.length - shown.length} />
    ${path.filter((part) => isAddress(part) && isMixed(part)).map((part) => html`<${Unchecked} key=${part} part=${part} />`)}`;
  if (!hasWallets) return html`<div class="stack">${unread}<${HomeView} /></div>`;
  return html`<div class="stack wallets">
    ${unread}
    <${Wallets} shown=${shown} />
  </div>`;
};

/** The parts of the link that are not shown, and why. */
const Unread = ({ parts, more }: { parts: readonly string[]; more: number }) => html`
  ${parts.map((part) => html`<${Notice} key=${part} title="This link names a wallet that can’t be one"><p>${expected()}, got ${insteadOfAddress(part)}. Open another one by the search above.</p><//>`)}
  ${more > 0 && html`<div class="notice" role="status"><strong>${counted(more, 'wallet', 'wallets')} of this link ${more === 1 ? 'is' : 'are'} not shown</strong><p>${MOST_WALLETS} are the most side by side. Close one to open another.</p></div>`}`;

/** An address of the link in mixed case, until the gateway has checked it; then why it is refused, with the right one. */
const Unchecked = ({ part }: { part: string }) => {
  const { data, problems, retry } = useOperation(WalletAddress, { address: part });
  const [problem] = problems;
  const right = problem?.code === 'BAD_USER_INPUT' ? problem.message.match(ADDRESSES)?.at(-1) : undefined;
  useEffect(() => {
    if (data) replacePart(part, part.toLowerCase());
  }, [data, part]);
  if (!problem) return null;
  if (right === undefined) return html`<${ProblemNotice} problem=${problem} onRetry=${retry} />`;
  return html`<${Notice} title=${`The checksum of this address is wrong: ${part}`}>
    <p>Its capital and small letters are a checksum, which does not match: a digit may be wrong. If none is, the address is <code>${right}</code>.</p>
    <button type="button" onClick=${() => replacePart(part, right)}>Open ${shortHex(right)}</button>
  <//>`;
};

const ADDRESSES = /0x[\da-f]{40}/gi;

/** Says whether a tab is shown: a service may say that it has no DeFi positions. */
const useOffered = () => {
  const chains = useChains();
  return (id: string): boolean => {
    const isUnknown = chains.length === 0 || chains.some(({ supports }) => supports === null);
    return id !== 'defi' || isUnknown || isSupported(chains, 'DEFI_POSITIONS');
  };
};

/** Says what the first page of a list costs, of each of the wallets. */
const usePrices = (chainIds: readonly number[], wallets: number) => {
  const chains = useChains();
  return (fields: readonly Priced[]): string => {
    const { computeUnits, reason } = priceOf(fields, chainIds, chains);
    const price =
      computeUnits === null
        ? 'Opening it is paid for by chain'
        : `Opening it costs ${formatCount(wallets * computeUnits)} CU`;
    return `${price}: ${wallets > 1 ? `${wallets} wallets × ` : ''}${reason}. It is less if the gateway has some of it already.`;
  };
};

/** The heads of the wallets side by side, and under the tabs that they share a panel for each. */
const Wallets = ({ shown }: { shown: readonly string[] }) => {
  const [chosen] = useParam('tab');
  const isOffered = useOffered();
  const offered = TABS.filter(({ id }) => isOffered(id));
  const tab = offered.find(({ id }) => id === chosen)?.id ?? TABS[0].id;
  const [chainIds, setChainIds] = useChainIds();
  // With other chains or wallets, the panel behind another tab asks only when that is opened.
  const wallets = shown.join();
  const opened = useRef({ chainIds, wallets, tabs: new Set<string>() });
  if (opened.current.chainIds !== chainIds || opened.current.wallets !== wallets)
    opened.current = { chainIds, wallets, tabs: new Set() };
  opened.current.tabs.add(tab);
  const prices = usePrices(chainIds, shown.length);
  const hasApprovals = isSupported(useChains(), 'APPROVALS');
  const tabs = offered.map(({ id, title, reads }) => {
    const isPaid = opened.current.tabs.has(id);
    return {
      id,
      title,
      hint:
        reads === null || isPaid
          ? undefined
          : prices(id === 'approvals' && !hasApprovals ? ['activity', 'balances'] : reads),
    };
  });
  const select = (id: string) => setParams({ tab: id === TABS[0].id ? '' : id, open: '' });
  return html`
    <div class="panels">
      ${shown.map((address) => html`<${Head} key=${address} address=${address} shown=${shown} />`)}
    </div>
    <div class="bar toolbar">
      <${TabList} label="What is shown of the wallet" tabs=${tabs} selected=${tab} onSelect=${select} />
      <div class="bar">
        <${Compare} shown=${shown} />
        <${ChainFilter} selected=${chainIds} onChange=${setChainIds} />
      </div>
    </div>
    ${tab === 'overview' && html`<${Together} addresses=${shown} />`}
    ${offered.map(
      ({
        id,
        Panel,
      }) => html`<div key=${id} role="tabpanel" id=${panelId(id)} aria-labelledby=${tabId(id)} hidden=${id !== tab}>
        ${opened.current.tabs.has(id) && html`<div class="panels">${shown.map((address) => html`<section key=${address} class="panel" aria-label=${nameOfAddress(address)}><${Panel} address=${address} chainIds=${chainIds} /></section>`)}</div>`}
      </div>`,
    )}`;
};

/** Where an address may break into two lines. */
const MIDDLE = 22;

type HeadProps = { address: string; shown: readonly string[] };

const Head = ({ address, shown }: HeadProps) => {
  const title = useLabel(address) ?? shortHex(address);
  const hasNames = isSupported(useChains(), 'NAMES');
  const delivers = useDelivers();
  const others = shown.filter((other) => other !== address);
  const rest = Object.fromEntries(route.get().params);
  return html`<section class="panel wallet-head" aria-labelledby=${`wallet-${address}`}>
    <${Avatar} address=${address} size=${44} />
    <div class="who">
      <div class="bar"><h2 id=${`wallet-${address}`} title=${address}>${title}</h2>${others.length > 0 && html`<a class="button push" href=${hrefOf('wallet', others, rest)} aria-label=${`Close ${title}`} title="Close">✕</a>`}</div>
      <p class="bar quiet">${hasNames && html`<${Name} address=${address} />`}<code class="address">${address.slice(0, MIDDLE)}<wbr />${address.slice(MIDDLE)}</code><${CopyButton} text=${address} label=${`address of ${title}`} /></p>
      <${InExplorers} address=${address} />
    </div>
    <div class="bar">
      ${
        delivers &&
        html`<${WatchButton} address=${address} title=${title} />
          <a class="button" href=${hrefOf('live', [], { address })}>Live events<span class="visually-hidden"> of ${title}</span></a>`
      }
      <${EditLabel} address=${address} />
    </div>
  </section>`;
};

const MOST_EXPLORERS = 6;

/** Links to the explorers' own pages of a wallet, by chain. */
const InExplorers = ({ address }: { address: string }) => {
  const nameOf = useChainNames();
  const explored = useChains().filter(({ explorer }) => (explorer?.url ?? null) !== null);
  if (explored.length === 0) return null;
  return html`<p class="bar quiet">In the explorer: ${explored.slice(0, MOST_EXPLORERS).map(({ chainId }) => html`<${OnChain} key=${chainId} chainId=${chainId}><${ExplorerLink} path=${`address/${address}`}>${nameOf(chainId)}<//><//>`)}</p>`;
};

/** The primary name of a wallet, which whoever owns it chose. */
const Name = ({ address }: { address: string }) => {
  const name = useOperation(WalletName, { address }).data?.wallet.name ?? null;
  return name === null
    ? null
    : html`<bdi class="primary-name strong" title=${name}>${shorten(name, 60)}</bdi>`;
};

/** Opens another wallet beside those that are shown. */
const Compare = ({ shown }: { shown: readonly string[] }) => {
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const [error, setError] = useState('');
  const fail = (why: string) => {
    setError(why);
    input.current?.focus();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const typed = input.current?.value.trim() ?? '';
    const named = settings.wallets.find(({ name }) => name === typed.toLowerCase());
    const address = named?.address ?? typed;
    if (!isAddress(address)) return fail(`${expected()}, got ${insteadOfAddress(typed)}.`);
    if (shown.includes(address.toLowerCase())) return fail('Expected another wallet, got one that is shown.');
    setOpen(false);
    navigate(hrefOf('wallet', [...shown, address], Object.fromEntries(route.get().params)));
  };
  const isFull = shown.length >= MOST_WALLETS;
  const hasNames = settings.wallets.length > 0;
  return html`<button type="button" disabled=${isFull} title=${isFull ? `${MOST_WALLETS} wallets are the most side by side` : undefined} onClick=${() => setOpen(true)}>Compare</button>
    ${
      isOpen &&
      html`<${Dialog} title="Compare with another wallet" onClose=${() => setOpen(false)}>
        <form class="stack" onSubmit=${onSubmit} novalidate>
          <div class="field">
            <label for="wallet-address">Address of the other wallet</label>
            <input ref=${input} id="wallet-address" name="address" list=${hasNames ? 'wallet-names' : undefined} placeholder="0x…" autocomplete="off" autocapitalize="none" spellcheck=${false} aria-invalid=${error !== ''} aria-describedby="wallet-address-hint wallet-address-error" onInput=${() => setError('')} />
            <span class="hint" id="wallet-address-hint">0x and 40 hex digits${hasNames && ', or the name of a wallet of the sandbox'}. What this tab shows of it costs the same again.</span>
            <span class="error" id="wallet-address-error" role="alert">${error}</span>
            ${hasNames && html`<datalist id="wallet-names">${settings.wallets.map(({ name, address, shows }) => html`<option key=${address} value=${name}>${shows}</option>`)}</datalist>`}
          </div>
          <div class="bar"><button type="submit" class="primary">Show beside</button></div>
        </form>
      <//>`
    }`;
};

const expected = (): string => {
  const [first] = settings.wallets;
  return `Expected an address, 0x and 40 hex digits${first ? `, or the name of a wallet of the sandbox such as ${first.name}` : ''}`;
};
