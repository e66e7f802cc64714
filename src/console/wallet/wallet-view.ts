import { useEffect, useRef, useState } from 'preact/hooks';
import { Avatar } from '../avatar.ts';
import { ChainFilter } from '../chain-filter.ts';
import { CopyButton, html, panelId, type Tab, TabList, tabId } from '../components.ts';
import { shorten, shortHex } from '../format.ts';
import { EditLabel } from '../label-editor.ts';
import { useLabel } from '../labels.ts';
import { hrefOf, isAddress, navigate, route } from '../route.ts';
import { settings } from '../settings.ts';
import { HomeView } from '../start/home-view.ts';
import { useStore } from '../state.ts';
import { Collectibles } from './collectibles.ts';
import { Transactions } from './transactions.ts';
import { readWatched, WatchButton } from './watched.ts';

/** The most wallets that are shown side by side. */
const MAX_WALLETS = 4;

/** The wallets in the address bar, or a start page if there are none. */
export const WalletView = () => {
  const addresses = useStore(route).addresses.slice(0, MAX_WALLETS);
  const hasWallets = addresses.length > 0;
  useEffect(() => {
    if (hasWallets) void readWatched();
  }, [hasWallets]);
  if (!hasWallets) return html`<${HomeView} />`;
  return html`<div class="stack wallets">
    <${AddressForm} shown=${addresses} most=${MAX_WALLETS} />
    <div class="panels">
      ${addresses.map((address) => html`<${WalletPanel} key=${address} address=${address} shown=${addresses} />`)}
    </div>
  </div>`;
};

const TABS = [
  { id: 'transactions', title: 'Transactions' },
  { id: 'collectibles', title: 'Collectibles' },
] as const satisfies readonly Tab<string>[];
type TabName = (typeof TABS)[number]['id'];

const LISTS = { transactions: Transactions, collectibles: Collectibles };

type Shown = {
  readonly tab: TabName;
  /** Tabs whose lists are loaded. A list is not asked for before its tab is opened. */
  readonly opened: readonly TabName[];
  readonly chainIds: readonly number[];
};

type Props = { address: string; shown: readonly string[] };

const Head = ({ address, shown }: Props) => {
  const title = useLabel(address) ?? shortHex(address);
  const others = shown.filter((other) => other !== address);
  return html`<header class="bar">
    <${Avatar} address=${address} size=${32} />
    <h2 id=${`wallet-${address}`} title=${address}>${title}</h2>
    <${CopyButton} text=${address} label=${`address of ${title}`} />
    <${EditLabel} address=${address} />
    <${WatchButton} address=${address} title=${title} />
    <a href=${hrefOf('live', [], { address })}>Live events<span class="visually-hidden"> of ${title}</span></a>
    ${others.length > 0 && html`<a class="button push" href=${hrefOf('wallet', others)} aria-label=${`Close ${title}`} title="Close">✕</a>`}
  </header>`;
};

/** One wallet: what can be done with it, and its lists. */
const WalletPanel = ({ address, shown }: Props) => {
  const [{ tab, opened, chainIds }, setShown] = useState<Shown>({
    tab: 'transactions',
    opened: ['transactions'],
    chainIds: [],
  });
  const select = (next: TabName) =>
    setShown((before) => ({ ...before, tab: next, opened: [...new Set([...before.opened, next])] }));
  // The list behind the other tab is requested again only when that is opened.
  const filter = (ids: readonly number[]) => setShown({ tab, opened: [tab], chainIds: ids });
  return html`<section class="panel stack wallet" aria-labelledby=${`wallet-${address}`}>
    <${Head} address=${address} shown=${shown} />
    <div class="bar">
      <${TabList} name=${address} label="Lists of the wallet" tabs=${TABS} selected=${tab} onSelect=${select} />
      <${ChainFilter} selected=${chainIds} onChange=${filter} />
    </div>
    ${TABS.map(
      ({
        id,
      }) => html`<div key=${id} role="tabpanel" id=${panelId(address, id)} aria-labelledby=${tabId(address, id)} hidden=${id !== tab}>
        ${opened.includes(id) && html`<${LISTS[id]} address=${address} chainIds=${chainIds} />`}
      </div>`,
    )}
  </section>`;
};

type AddressFormProps = { shown: readonly string[]; most: number };

/** Opens a wallet, alone or beside those that are shown. */
const AddressForm = ({ shown, most }: AddressFormProps) => {
  const input = useRef<HTMLInputElement>(null);
  const [error, setError] = useState('');

  const open = (beside: readonly string[]) => {
    const entered = readAddress(input.current?.value ?? '');
    if ('error' in entered) setError(entered.error);
    else if (beside.includes(entered.address))
      setError('Expected another wallet, got one that is shown below.');
    else {
      navigate(hrefOf('wallet', [...beside, entered.address]));
      setError('');
      if (input.current) input.current.value = '';
      return;
    }
    input.current?.focus();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    open([]);
  };
  const isFull = shown.length >= most;
  const hasNames = settings.wallets.length > 0;

  return html`<form class="panel address-form" onSubmit=${onSubmit} novalidate>
    <div class="field">
      <label for="wallet-address">Address of a wallet</label>
      <input ref=${input} id="wallet-address" name="address" list=${hasNames ? 'wallet-names' : undefined} placeholder="0x…" autocomplete="off" autocapitalize="none" spellcheck=${false} aria-invalid=${error !== ''} aria-describedby="wallet-address-hint wallet-address-error" onInput=${() => setError('')} />
      <span class="hint" id="wallet-address-hint">0x and 40 hex digits${hasNames && ', or the name of a wallet of the sandbox'}</span>
      <span class="error" id="wallet-address-error" role="alert">${error}</span>
      ${hasNames && html`<datalist id="wallet-names">${settings.wallets.map(({ name, address, shows }) => html`<option key=${address} value=${name}>${shows}</option>`)}</datalist>`}
    </div>
    <div class="bar">
      <button type="submit" class="primary">Open</button>
      ${shown.length > 0 && html`<button type="button" disabled=${isFull} onClick=${() => open(shown)}>Add beside</button>`}
      ${isFull && html`<span class="quiet">${most} wallets are the most side by side.</span>`}
    </div>
  </form>`;
};

type Entered = { readonly address: string } | { readonly error: string };

const expected = (): string => {
  const [first] = settings.wallets;
  return `Expected an address, 0x and 40 hex digits${first ? `, or the name of a wallet of the sandbox such as ${first.name}` : ''}`;
};

const got = (text: string): string => {
  if (text === '') return 'nothing';
  const digits = /^0x([\da-f]*)$/i.exec(text)?.[1];
  if (digits !== undefined) return `0x and ${digits.length} hex digits`;
  return JSON.stringify(shorten(text, 50));
};

/** Reads what was typed or pasted: an address in any case, or the name of one of the sandbox's wallets. */
const readAddress = (typed: string): Entered => {
  const text = typed.trim();
  const named = settings.wallets.find(({ name }) => name === text.toLowerCase());
  if (named) return { address: named.address.toLowerCase() };
  return isAddress(text) ? { address: text.toLowerCase() } : { error: `${expected()}, got ${got(text)}.` };
};
