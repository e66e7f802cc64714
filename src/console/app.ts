import { render } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { openInGraphiQL } from './api/graphiql.ts';
import { reachable } from './api/reachable.ts';
import { useChainNames, useChains, useOfferedViews } from './chains.ts';
import { Dialog, Empty, html } from './components.ts';
import { counted, formatCount, shorten, shortHex } from './format.ts';
import { labelOf } from './labels.ts';
import { lazy } from './lazy.ts';
import { hrefOfLast } from './recent-wallets.ts';
import { hrefOf, type Route, returnTo, route, type View } from './route.ts';
import { settings } from './settings.ts';
import { credentials, isSignedIn, ledger, signOut, useStore } from './state.ts';
import { WalletView } from './wallet/wallet-view.ts';

const TITLES: Readonly<Record<View, string>> = {
  home: 'Start',
  wallet: 'Wallet',
  tx: 'Transaction',
  token: 'Token',
  live: 'Live',
  webhooks: 'Webhooks',
  cost: 'Cost',
};

const COMPONENTS = {
  home: lazy(async () => (await import('./start/home-view.ts')).HomeView),
  wallet: WalletView,
  tx: lazy(async () => (await import('./wallet/tx-view.ts')).TransactionView),
  token: lazy(async () => (await import('./token/token-view.ts')).TokenView),
  live: lazy(async () => (await import('./live/live-view.ts')).LiveView),
  webhooks: lazy(async () => (await import('./webhooks/webhooks-view.ts')).WebhooksView),
  cost: lazy(async () => (await import('./cost/cost-view.ts')).CostView),
};

const SignIn = lazy(async () => (await import('./sign-in.ts')).SignIn);

const loadSearch = async () => (await import('./start/search.ts')).Search;
const Search = lazy(loadSearch);

const isMac = navigator.userAgent.includes('Mac');

/** Whether the event is ⌘K on a Mac and Ctrl+K elsewhere. */
const isShortcut = ({ key, metaKey, ctrlKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  key.toLowerCase() === 'k' && (isMac ? metaKey : ctrlKey) && !shiftKey && !altKey;

/** A button, and a key, that open one field for wallets, labels, tokens and views from anywhere. */
const Palette = () => {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (['Control', 'Meta'].includes(event.key)) void loadSearch().catch(() => {});
      if (!isShortcut(event)) return;
      event.preventDefault();
      // Another dialog keeps what is being done in it.
      setOpen((before) => !before && document.querySelector('dialog[open]') === null);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const close = () => setOpen(false);
  return html`<button type="button" class="open-palette" aria-keyshortcuts=${isMac ? 'Meta+K' : 'Control+K'} onClick=${() => setOpen(true)}>Search <kbd>${isMac ? '⌘K' : 'Ctrl K'}</kbd></button>
    ${isOpen && html`<${Dialog} title="Go to" onClose=${close}><${Search} name="palette" label="A wallet, a label, a token, a transaction or a view" onDone=${close} /><//>`}`;
};

const CostMeter = () => {
  const { computeUnits, requests, entries } = useStore(ledger);
  const last = entries[0];
  return html`<a class="cost-meter" href=${hrefOf('cost')} title="What this visit has cost">
    <strong>${formatCount(computeUnits)} CU</strong>
    <span>${counted(requests, 'request', 'requests')}${last && `, last +${last.cost.computeUnits}`}</span>
  </a>`;
};

/** Opens GraphiQL on the operation that the page has sent last. */
const onApi = (event: Event) => {
  const [last] = ledger.get().entries;
  if (last === undefined) return;
  event.preventDefault();
  openInGraphiQL(last);
};

const Navigation = ({ current }: { current: View }) => {
  const views = useOfferedViews().filter((view) => !['home', 'token', 'tx'].includes(view));
  return html`<nav aria-label="Views">
    ${views.map((view) => html`<a key=${view} href=${hrefOfLast(view)} aria-current=${view === current ? 'page' : undefined}>${TITLES[view]}</a>`)}
    ${settings.graphiql && html`<a href="/graphql" target="_blank" rel="noopener" onClick=${onApi}>API</a>`}
  </nav>`;
};

/** Explorers whose licence asks for their names beside their data, with where the names lead. */
const HOMES: ReadonlyMap<string, string> = new Map([['Blockscout', 'https://www.blockscout.com']]);

const PoweredBy = () => {
  const chains = useChains();
  const nameOf = useChainNames();
  const named = chains.flatMap(({ chainId, explorer }) => (explorer ? [{ chainId, ...explorer }] : []));
  if (named.length === 0) return null;
  return html`<footer class="quiet small">${[...Map.groupBy(named, ({ name }) => name)].map(
    ([name, of]) =>
      html`<p key=${name}>Powered by ${HOMES.has(name) ? html`<a href=${HOMES.get(name)} target="_blank" rel="noopener noreferrer">${name}</a>` : shorten(name)}${of.length < chains.length && `: ${of.map(({ chainId }) => nameOf(chainId)).join(', ')}`}</p>`,
  )}</footer>`;
};

/** Those that show data of chains. */
const SHOWS_CHAINS: ReadonlySet<View> = new Set(['home', 'wallet', 'tx', 'token']);

const NoEvents = () =>
  html`<${Empty} title="No events arrive">The service reads its chains from explorers, which deliver none.<//>`;

const titleOf = ({ view, addresses }: Route): string =>
  view === 'wallet' && addresses.length > 0
    ? addresses.map((address) => labelOf(address) ?? shortHex(address)).join(', ')
    : TITLES[view];

/** The views below their header. Without the credentials that the gateway asks for, it asks for them first. */
const App = () => {
  const shown = useStore(route);
  const { view, addresses, place } = shown;
  const page = `${view} ${addresses}`;
  const title = titleOf(shown);
  const signedIn = isSignedIn(useStore(credentials));
  const isReachable = useStore(reachable);
  const isOffered = useOfferedViews().includes(view);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} · EVM gateway`;
  }, [title]);
  useLayoutEffect(() => {
    // A screen reader continues in the chosen view.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    if (!isFirst.current && place === null) scrollTo(0, 0);
    isFirst.current = false;
  }, [page]);
  useLayoutEffect(() => {
    if (place !== null) returnTo(place);
  }, [shown]);
  return html`
    <header class="bar">
      <h1><a href=${hrefOf('home')}>EVM gateway</a></h1>
      <${Navigation} current=${view} />
      ${!isReachable && html`<span class="tag bad" role="status" title="What is shown stays. What failed is asked again once the gateway answers.">Disconnected: trying again</span>`}
      ${signedIn && html`<${Palette} />`}
      <${CostMeter} />
      ${settings.auth !== 'open' && signedIn && html`<button type="button" onClick=${() => signOut()}>Sign out</button>`}
    </header>
    <main ref=${main} tabindex="-1">
      ${signedIn ? html`<${isOffered ? COMPONENTS[view] : NoEvents} />` : html`<${SignIn} />`}
    </main>
    ${signedIn && SHOWS_CHAINS.has(view) && html`<${PoweredBy} />`}`;
};

const root = document.querySelector('#app');
if (root) {
  root.replaceChildren();
  render(html`<${App} />`, root);
}
